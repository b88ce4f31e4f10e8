// The state of the page in the URL's fragment, so that a reload or a link restores it.

/**
 * @typedef {{only?: string[], hide?: string[], from?: number, to?: number}} FilterState the names of the legend's entries
 *   that are shown or hidden; the range of numbers
 * @typedef {FilterState & {x?: number, y?: number, zoom?: number, color?: string, colors?: number, view?: string,
 *   classes?: boolean, labels?: boolean, size?: number, opacity?: number, dark?: boolean, search?: string, renderer?: string}} UrlState
 */

/** @returns {UrlState} */
export function readUrlState() {
  const parameters = new URLSearchParams(location.hash.slice(1));
  const number = (/** @type {string} */ name) => {
    const value = Number(parameters.get(name) ?? NaN);
    return Number.isFinite(value) ? value : undefined;
  };
  const boolean = (/** @type {string} */ name) => (parameters.has(name) ? parameters.get(name) === "1" : undefined);
  const string = (/** @type {string} */ name) => parameters.get(name) ?? undefined;
  return {
    x: number("x"),
    y: number("y"),
    zoom: number("zoom"),
    color: string("color"), // "" for no column
    colors: number("colors"),
    only: parameters.getAll("only"),
    hide: parameters.getAll("hide"),
    from: number("from"),
    to: number("to"),
    view: string("view"),
    classes: boolean("classes"),
    labels: boolean("labels"),
    size: number("size"),
    opacity: number("opacity"),
    dark: boolean("dark"),
    search: string("search"),
    renderer: string("renderer"), // "webgl" or "canvas", for comparisons
  };
}

/**
 * The legend's filter, with the shorter of the two lists of names.
 * @param {import("./color_scale.js").ColorScale} colorScale
 * @param {import("./legend.js").LegendFilter} filter
 * @returns {FilterState}
 */
export function filterState({ entries }, { hidden, range }) {
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

let pendingWrite = 0;

/**
 * Replace the URL's fragment, after a short delay since browsers limit how often it may change.
 * @param {UrlState} state
 */
export function writeUrlState(state) {
  clearTimeout(pendingWrite);
  if (location.protocol === "about:") return; // a frame in a notebook has no URL
  pendingWrite = window.setTimeout(() => {
    const parameters = new URLSearchParams();
    for (const [name, values] of Object.entries(state)) {
      for (const value of Array.isArray(values) ? values : [values]) {
        if (value !== undefined) parameters.append(name, typeof value === "boolean" ? String(Number(value)) : String(value));
      }
    }
    history.replaceState(null, "", `#${parameters}`);
  }, 250);
}
