// The data that a renderer draws.

/**
 * @typedef {{
 *   n: number,
 *   resolution: [number, number],
 *   previousPositions: Uint16Array, // (n, 2) quantized, where a transition starts
 *   positions: Uint16Array,         // (n, 2) quantized: position · QUANTIZATION_LEVELS / resolution
 *   colors: Uint8Array,             // (n, 4) red, green, blue, alpha; alpha is 0 (hidden), DIMMED or VISIBLE
 *   order: Uint32Array,             // shuffled rows: no category hides another, and the first m are a fair sample
 *   size: number | null,            // diameter of points that the user set, CSS pixels; null: it follows the view
 *   opacity: number | null,         // likewise, 0 to 1
 *   style: import("./point_style.js").Style, // of the points as they are drawn
 *   dark: boolean,
 *   positionsVersion: number,       // counts changes, so that renderers know what to upload
 *   colorsVersion: number,
 * }} Scene
 */

export const QUANTIZATION_LEVELS = 65536; // of a coordinate: 16 bits for the width or height of the map
export const DIMMED = 26; // alpha of points that a search or a selection excludes
export const VISIBLE = 255;

/**
 * Create a scene without positions.
 * @param {number} n
 * @param {[number, number]} resolution
 * @param {boolean} dark
 * @returns {Scene}
 */
export function createScene(n, resolution, dark) {
  return {
    n,
    resolution,
    previousPositions: new Uint16Array(2 * n),
    positions: new Uint16Array(2 * n),
    colors: new Uint8Array(4 * n),
    order: shuffleRows(n),
    size: null,
    opacity: null,
    style: { diameter: 3, opacity: 1 },
    dark,
    positionsVersion: 0,
    colorsVersion: 0,
  };
}

/**
 * Rows in a pseudo-random order that is always the same.
 * @param {number} n
 */
function shuffleRows(n) {
  const order = new Uint32Array(n);
  for (let row = 0; row < n; row++) order[row] = row;
  let state = 0x9e3779b9;
  for (let index = n - 1; index > 0; index--) {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5) >>> 0;
    const other = Math.floor(((state ^ (state >>> 13)) >>> 0) / 4294967296 * (index + 1));
    const row = order[index];
    order[index] = order[other];
    order[other] = row;
  }
  return order;
}

/**
 * The position of a row's point on the screen.
 * @param {Scene} scene
 * @param {import("./camera.js").Camera} camera
 * @param {number} row
 * @returns {[number, number]} CSS pixels
 */
export function screenPosition({ positions, resolution }, camera, row) {
  return camera.toScreen((positions[2 * row] * resolution[0]) / QUANTIZATION_LEVELS, (positions[2 * row + 1] * resolution[1]) / QUANTIZATION_LEVELS);
}

/**
 * The bounds of the points of some rows.
 * @param {Scene} scene
 * @param {(row: number) => boolean} isIncluded
 * @returns {import("./camera.js").Bounds | null} null without rows
 */
export function computeBounds({ positions, n, resolution }, isIncluded) {
  let [left, top, right, bottom] = [QUANTIZATION_LEVELS, QUANTIZATION_LEVELS, -1, -1];
  for (let row = 0; row < n; row++) {
    if (!isIncluded(row)) continue;
    left = Math.min(left, positions[2 * row]);
    right = Math.max(right, positions[2 * row]);
    top = Math.min(top, positions[2 * row + 1]);
    bottom = Math.max(bottom, positions[2 * row + 1]);
  }
  if (right < 0) return null;
  const [scaleX, scaleY] = resolution.map((side) => side / QUANTIZATION_LEVELS);
  return [left * scaleX, top * scaleY, right * scaleX, bottom * scaleY];
}
