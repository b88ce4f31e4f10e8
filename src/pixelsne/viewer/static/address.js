// The view in the address, so that a reload or a link brings it back.

/**
 * @typedef {{only?: string[], hide?: string[], from?: number, to?: number}} Filter names of entries; ends of numbers
 * @typedef {Filter & {x?: number, y?: number, zoom?: number, color?: string, colors?: number, view?: string,
 *   labels?: boolean, size?: number, opacity?: number, dark?: boolean, search?: string, draw?: string}} View
 */

/** @returns {View} */
export function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const number = (/** @type {string} */ name) => {
    const value = Number(given.get(name) ?? NaN);
    return Number.isFinite(value) ? value : undefined;
  };
  const truth = (/** @type {string} */ name) => (given.has(name) ? given.get(name) === "1" : undefined);
  const words = (/** @type {string} */ name) => given.get(name) ?? undefined;
  return {
    x: number("x"),
    y: number("y"),
    zoom: number("zoom"),
    color: words("color"),
    colors: number("colors"),
    only: given.getAll("only"),
    hide: given.getAll("hide"),
    from: number("from"),
    to: number("to"),
    view: words("view"),
    labels: truth("labels"),
    size: number("size"),
    opacity: number("opacity"),
    dark: truth("dark"),
    search: words("search"),
    draw: words("draw"), // "webgl" or "canvas", for those who compare
  };
}

/**
 * What the legend shows, by the shorter list of names.
 * @param {import("./colors.js").Coloring} coloring
 * @param {import("./legend.js").Shown} shown
 * @returns {Filter}
 */
export function filterOf({ entries }, { hidden, range }) {
  const [from, to] = (range ?? []).map((end) => (Number.isFinite(end) ? end : undefined));
  const names = (/** @type {boolean} */ areHidden) =>
    entries.flatMap(({ name }, index) => (hidden.has(index) === areHidden ? [name] : []));
  const isMostlyHidden = hidden.size > entries.length / 2 && hidden.size < entries.length;
  return {
    only: hidden.size > 0 && isMostlyHidden ? names(false) : undefined,
    hide: hidden.size > 0 && !isMostlyHidden ? names(true) : undefined,
    from,
    to,
  };
}

let pending = 0;

/** @param {View} view */
export function writeAddress(view) {
  clearTimeout(pending);
  if (location.protocol === "about:") return; // a frame in a notebook has no address
  pending = window.setTimeout(() => {
    const words = new URLSearchParams();
    for (const [name, value] of Object.entries(view)) {
      for (const one of Array.isArray(value) ? value : [value]) {
        if (one !== undefined && (one !== "" || Array.isArray(value))) words.append(name, typeof one === "boolean" ? (one ? "1" : "0") : String(one));
      }
    }
    history.replaceState(null, "", `#${words}`);
  }, 250);
}
