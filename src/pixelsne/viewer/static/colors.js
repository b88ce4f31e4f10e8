// Palette and color maps, the same as those of `pixelsne plot`.

export const PALETTE = [
  "#3764de", "#bc640b", "#379b6f", "#bc2137", "#a659b1", "#e9b12c", "#90bcff", "#9bbc64", "#d3b1c8", "#6f596f",
  "#f47a43", "#2c5985", "#59e9b1", "#e97ad3", "#854e00", "#6443a6", "#4e6f43", "#ff597a", "#b185ff", "#7a859b",
];
export const GRAY = "#9e9e9e"; // missing values, and categories without a color of their own

// Sixteen colors of viridis and magma each; the others are interpolated.
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
export function parseHex(hex) {
  const value = parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/**
 * @param {string[]} stops
 * @param {number} fraction 0 to 1
 * @returns {Rgb}
 */
function interpolate(stops, fraction) {
  const position = Math.min(Math.max(fraction, 0), 1) * (stops.length - 1);
  const low = Math.min(Math.floor(position), stops.length - 2);
  const [first, second] = [parseHex(stops[low]), parseHex(stops[low + 1])];
  const weight = position - low;
  const mix = (/** @type {0 | 1 | 2} */ channel) => Math.round(first[channel] + weight * (second[channel] - first[channel]));
  return [mix(0), mix(1), mix(2)];
}

/** @param {number} fraction 0 to 1 */
export const viridis = (fraction) => interpolate(VIRIDIS, fraction);
/** @param {number} fraction 0 to 1 */
export const magma = (fraction) => interpolate(MAGMA, fraction);

/** @param {Rgb} color */
export const toCss = (color) => `rgb(${color[0]}, ${color[1]}, ${color[2]})`;

/**
 * An opaque color as a pixel of ImageData, little-endian.
 * @param {Rgb} color
 */
export const toPixel = ([red, green, blue]) => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
