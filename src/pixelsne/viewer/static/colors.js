// Which color a point has, and what it means. The palette is that of the pictures.

export const PALETTE = [
  "#3764de", "#bc640b", "#379b6f", "#bc2137", "#a659b1", "#e9b12c", "#90bcff", "#9bbc64", "#d3b1c8", "#6f596f",
  "#f47a43", "#2c5985", "#59e9b1", "#e97ad3", "#854e00", "#6443a6", "#4e6f43", "#ff597a", "#b185ff", "#7a859b",
];
export const GRAY = "#9e9e9e";

// Every sixteenth of viridis and magma, between which colors are mixed.
const VIRIDIS = [
  "#440154", "#481a6c", "#472f7d", "#414487", "#39568c", "#31688e", "#2a788e", "#23888e", "#1f988b", "#22a884",
  "#35b779", "#54c568", "#7ad151", "#a5db36", "#d2e21b", "#fde725",
];
const MAGMA = [
  "#000004", "#0b0924", "#20114b", "#3b0f70", "#57157e", "#721f81", "#8c2981", "#a8327d", "#c43c75", "#de4968",
  "#f1605d", "#fa7f5e", "#fe9f6d", "#febf84", "#fddea0", "#fcfdbf",
];

/** @typedef {[number, number, number]} Rgb */

/**
 * @param {string} hex
 * @returns {Rgb}
 */
export function rgb(hex) {
  const value = parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/**
 * @param {string[]} stops
 * @param {number} share 0 to 1
 * @returns {Rgb}
 */
function between(stops, share) {
  const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const low = Math.min(Math.floor(at), stops.length - 2);
  const [first, second] = [rgb(stops[low]), rgb(stops[low + 1])];
  const part = at - low;
  const mixed = (/** @type {0 | 1 | 2} */ channel) => Math.round(first[channel] + part * (second[channel] - first[channel]));
  return [mixed(0), mixed(1), mixed(2)];
}

/** @param {number} share */
export const viridis = (share) => between(VIRIDIS, share);
/** @param {number} share */
export const magma = (share) => between(MAGMA, share);

/** @param {Rgb} color */
export const css = (color) => `rgb(${color[0]}, ${color[1]}, ${color[2]})`;

/**
 * How a column colors the map.
 * @typedef {{name: string, scale: "names" | "numbers" | null, entries: Entry[], low: number, high: number,
 *   group: Uint8Array | null, missing: number, isDate: boolean,
 *   ticks: (fits: import("./ticks.js").Fits) => import("./ticks.js").Tick[]}} Coloring
 * @typedef {{name: string, color: Rgb, count: number, codes: Set<number>, isRest: boolean}} Entry
 */

const NOTHING = /** @type {Coloring} */ ({
  name: "", scale: null, entries: [], low: 0, high: 0, group: null, missing: 0, isDate: false, ticks: () => [],
});

/**
 * @param {import("./data.js").Column | null} column
 * @param {number} shown how many categories have colors of their own
 * @returns {Coloring}
 */
export function coloringOf(column, shown = PALETTE.length) {
  if (column === null || column.kind.scale === null) return NOTHING;
  return column.kind.scale === "numbers" ? numbersColoring(column) : categoriesColoring(column, shown);
}

/**
 * @param {import("./data.js").Column} column
 * @param {number} shown
 * @returns {Coloring}
 */
function categoriesColoring(column, shown) {
  const names = column.about.names;
  const counts = new Uint32Array(names.length + 1);
  for (const code of column.codes) counts[code]++;
  const ranked = [...names.keys()].sort((first, second) => counts[second] - counts[first] || first - second);
  const colored = names.length > shown ? ranked.slice(0, shown - 1).sort((first, second) => first - second) : [...names.keys()];
  const entries = colored.map((code, place) => /** @type {Entry} */ ({
    name: names[code], color: rgb(PALETTE[place % PALETTE.length]), count: counts[code], codes: new Set([code]), isRest: false,
  }));
  const rest = ranked.slice(colored.length);
  if (rest.length > 0) {
    const count = rest.reduce((sum, code) => sum + counts[code], 0);
    entries.push({ name: `${rest.length.toLocaleString("en")} others`, color: rgb(GRAY), count, codes: new Set(rest), isRest: true });
  }
  if (counts[names.length] > 0) {
    entries.push({ name: "no value", color: rgb(GRAY), count: counts[names.length], codes: new Set([names.length]), isRest: true });
  }
  return { ...NOTHING, name: column.about.name, scale: "names", entries, group: groupsOf(column, entries) };
}

/**
 * For each point, its place among the entries.
 * @param {import("./data.js").Column} column
 * @param {Entry[]} entries
 */
function groupsOf(column, entries) {
  const places = new Uint8Array(column.about.names.length + 1);
  entries.forEach((entry, place) => entry.codes.forEach((code) => { places[code] = place; }));
  const groups = new Uint8Array(column.codes.length);
  for (let row = 0; row < groups.length; row++) groups[row] = places[column.codes[row]];
  return groups;
}

/**
 * The scale reaches from the first to the ninety-ninth percentile: one outlier does not take all colors.
 * @param {import("./data.js").Column} column
 * @returns {Coloring}
 */
function numbersColoring(column) {
  const known = column.numbers.filter((number) => Number.isFinite(number)).sort();
  const at = (/** @type {number} */ share) => known[Math.min(known.length - 1, Math.floor(share * known.length))] ?? 0;
  let [low, high] = [at(0.01), at(0.99)];
  if (low === high) [low, high] = [at(0), at(1)];
  if (low === high) high = low + column.kind.leastSpan;
  return {
    ...NOTHING,
    name: column.about.name,
    scale: "numbers",
    low,
    high,
    missing: column.numbers.length - known.length,
    isDate: column.about.kind === "date",
    ticks: (fits) => column.kind.ticks(low, high, fits),
  };
}

/**
 * Fills the colors of all points.
 * @param {Uint8Array} into (n, 4)
 * @param {Coloring} coloring
 * @param {import("./data.js").Column | null} column
 * @param {Rgb} plain for maps without colors
 */
export function paintPoints(into, coloring, column, plain) {
  const words = new Uint32Array(into.buffer, into.byteOffset, into.length / 4);
  const word = (/** @type {Rgb} */ [red, green, blue]) => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  if (coloring.scale === "names" && coloring.group !== null) {
    const colors = coloring.entries.map((entry) => word(entry.color));
    const group = coloring.group;
    for (let row = 0; row < words.length; row++) words[row] = colors[group[row]];
  } else if (coloring.scale === "numbers" && column !== null) {
    const steps = Uint32Array.from({ length: 256 }, (_, place) => word(viridis(place / 255)));
    const gray = word(rgb(GRAY));
    const factor = 255 / (coloring.high - coloring.low);
    for (let row = 0; row < words.length; row++) {
      const number = column.numbers[row];
      words[row] = Number.isFinite(number) ? steps[Math.max(0, Math.min(255, Math.round((number - coloring.low) * factor)))] : gray;
    }
  } else {
    words.fill(word(plain));
  }
}
