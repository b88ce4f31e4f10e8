// The view in the address, so that a reload or a link brings it back.

/**
 * @typedef {{x?: number, y?: number, zoom?: number, color?: string, view?: string, dark?: boolean, search?: string, draw?: string}} View
 */

/** @returns {View} */
export function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const number = (/** @type {string} */ name) => {
    const value = Number(given.get(name) ?? NaN);
    return Number.isFinite(value) ? value : undefined;
  };
  return {
    x: number("x"),
    y: number("y"),
    zoom: number("zoom"),
    color: given.get("color") ?? undefined,
    view: given.get("view") ?? undefined,
    dark: given.has("dark") ? given.get("dark") === "1" : undefined,
    search: given.get("search") ?? undefined,
    draw: given.get("draw") ?? undefined, // "webgl" or "canvas", for those who compare
  };
}

let pending = 0;

/** @param {View} view */
export function writeAddress(view) {
  clearTimeout(pending);
  if (location.protocol === "about:") return; // a frame in a notebook has no address
  pending = window.setTimeout(() => {
    const pairs = Object.entries(view).filter(([, value]) => value !== undefined && value !== "");
    const words = pairs.map(([name, value]) => [name, typeof value === "boolean" ? (value ? "1" : "0") : String(value)]);
    history.replaceState(null, "", `#${new URLSearchParams(words)}`);
  }, 250);
}
