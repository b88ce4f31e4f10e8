// The number of points per area, counted on a grid and blurred.

import { QUANTIZATION_LEVELS, VISIBLE } from "./scene.js";

const SPACINGS = 1.1; // width of the blur, in mean distances between neighboring points
const MIN_BLUR = 5; // CSS pixels, standard deviation
const MAX_BLUR = 30;
const CELLS_PER_BLUR = 2.5; // grid cells in a standard deviation
const BLUR_REACH = 3; // standard deviations
const MAX_MOVING_POINTS = 200_000; // counted while the map moves

/**
 * @typedef {{
 *   columns: number, rows: number,
 *   left: number, top: number, // of the grid, CSS pixels; cells stay in place on the map while it is panned
 *   cell: number,              // side, CSS pixels
 *   blur: number,              // standard deviation, cells
 * }} Grid
 */

/**
 * A grid that covers the screen and so much around it as the blur reaches.
 * @param {import("./camera.js").Camera} camera
 * @param {number} spacing mean distance between neighboring points, CSS pixels
 * @returns {Grid}
 */
export function createGrid(camera, spacing) {
  const blur = Math.min(MAX_BLUR, Math.max(MIN_BLUR, SPACINGS * spacing));
  const cell = blur / CELLS_PER_BLUR;
  const margin = Math.ceil(BLUR_REACH * CELLS_PER_BLUR);
  const [left, top] = camera.toScreen(0, 0).map((corner) => corner - (Math.ceil(corner / cell) + margin) * cell);
  return { left, top, cell, blur: CELLS_PER_BLUR, columns: Math.ceil((camera.width - left) / cell) + margin, rows: Math.ceil((camera.height - top) / cell) + margin };
}

/**
 * Count points, each spread over the four cells around it.
 * @param {import("./scene.js").Scene} scene
 * @param {import("./camera.js").Camera} camera
 * @param {Grid} grid
 * @param {boolean} isMoving whether a sample is enough
 * @param {Uint8Array | null} groups (n) index of each point's field; null for one field
 * @param {number} number of fields of visible points
 * @returns {Float32Array[]} the fields, and one more of dimmed points
 */
export function countOnGrid(scene, camera, grid, isMoving, groups, number) {
  const { positions, colors, order, n } = scene;
  const { columns, rows, cell } = grid;
  const fields = Array.from({ length: number + 1 }, () => new Float32Array(columns * rows));
  const [cornerX, cornerY] = camera.toScreen(0, 0);
  const scaleX = (scene.resolution[0] * camera.scale) / QUANTIZATION_LEVELS / cell;
  const scaleY = (scene.resolution[1] * camera.scale) / QUANTIZATION_LEVELS / cell;
  const shiftX = (cornerX - grid.left) / cell - 0.5;
  const shiftY = (cornerY - grid.top) / cell - 0.5;
  const counted = isMoving ? Math.min(n, MAX_MOVING_POINTS) : n;
  for (let index = 0; index < counted; index++) {
    const row = order[index];
    const alpha = colors[4 * row + 3];
    if (alpha === 0) continue;
    const x = positions[2 * row] * scaleX + shiftX;
    const y = positions[2 * row + 1] * scaleY + shiftY;
    if (!(x >= 0 && y >= 0 && x < columns - 1 && y < rows - 1)) continue;
    const [left, top] = [Math.floor(x), Math.floor(y)];
    const [across, down] = [x - left, y - top];
    const field = fields[alpha !== VISIBLE ? number : groups === null ? 0 : groups[row]];
    const at = top * columns + left;
    field[at] += (1 - across) * (1 - down);
    field[at + 1] += across * (1 - down);
    field[at + columns] += (1 - across) * down;
    field[at + columns + 1] += across * down;
  }
  const factor = n / Math.max(1, counted);
  if (factor > 1) for (const field of fields) for (let at = 0; at < field.length; at++) field[at] *= factor;
  return fields;
}

/**
 * Blur a field with a Gaussian, along rows and then along columns.
 * @param {Float32Array} field changed in place
 * @param {Grid} grid
 */
export function blurField(field, { columns, rows, blur }) {
  const reach = Math.ceil(BLUR_REACH * blur);
  const weights = Float32Array.from({ length: 2 * reach + 1 }, (_, index) => Math.exp(-((index - reach) ** 2) / (2 * blur * blur)));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  weights.forEach((weight, index) => { weights[index] = weight / sum; });
  const across = new Float32Array(field.length);
  for (let at = 0; at < field.length; at++) {
    if (field[at] !== 0) addScaled(across, at - (at % columns), at % columns, 1, columns, field[at], weights, reach);
  }
  field.fill(0);
  for (let row = 0; row < rows; row++) {
    for (let from = Math.max(0, row - reach); from <= Math.min(rows - 1, row + reach); from++) {
      const weight = weights[from - row + reach];
      const [begin, source] = [row * columns, from * columns];
      for (let column = 0; column < columns; column++) field[begin + column] += weight * across[source + column];
    }
  }
}

/**
 * Add a value to the cells around one cell of a line.
 * @param {Float32Array} target
 * @param {number} begin of the line
 * @param {number} center cell of the line
 * @param {number} step between cells
 * @param {number} count cells of the line
 * @param {number} value
 * @param {Float32Array} weights
 * @param {number} reach
 */
function addScaled(target, begin, center, step, count, value, weights, reach) {
  const last = Math.min(count - 1, center + reach);
  for (let cell = Math.max(0, center - reach); cell <= last; cell++) target[begin + cell * step] += value * weights[cell - center + reach];
}
