// Labels: the names of categories, each where its points are densest, without overlaps.

import { toCss } from "./colors.js";
import { QUANTIZATION_LEVELS } from "./scene.js";

const GRID_SIDE = 64; // cells; the densest cell of a category is searched in this grid
const GRID_CELLS = GRID_SIDE ** 2;
const CELL_WIDTH = QUANTIZATION_LEVELS / GRID_SIDE; // in quantized coordinates
const BLUR_RADIUS = 3; // cells to each side over which counts are summed
const MEAN_SHIFT_RADII = [4, 8, 8]; // half-width of the window in each iteration of mean shift, in cells
const MAX_LABELS = 30;
const MAX_TIME_FRACTION = 0.1; // of the time, spent on computing labels while points move
const SMOOTHING_TIME = 150; // milliseconds in which a label moves most of the way to its new position
const LABEL_MARGIN = 4; // CSS pixels between a label and the edge of the visible area

/** @typedef {{name: string, color: string, x: number, y: number, count: number}} Label x and y are quantized */

/** The labels of a scene. They are recomputed when points or colors change, and move smoothly. */
export class Labels {
  /** @param {import("./scene.js").Scene} scene */
  constructor(scene) {
    this.scene = scene;
    /** @type {Label[]} at their final positions */
    this.targets = [];
    /** @type {Label[]} at the positions where they are drawn */
    this.drawn = [];
    this._positionsVersion = -1;
    this._colorsKey = "";
    this._cost = 0; // milliseconds of the last computation
    this._computedAt = 0;
    this._drawnAt = 0;
  }

  /**
   * @param {import("./color_scale.js").ColorScale} colorScale
   * @param {Set<number>} hidden entries
   * @param {number} progress of the transition; below 1 while points move
   * @returns {Label[]}
   */
  update(colorScale, hidden, progress) {
    const now = performance.now();
    const colorsKey = `${this.scene.colorsVersion} ${colorScale.name}`;
    const isDue = progress === 1 || this._cost < MAX_TIME_FRACTION * (now - this._computedAt);
    const hasNewColors = colorsKey !== this._colorsKey;
    if (hasNewColors || (this._positionsVersion !== this.scene.positionsVersion && isDue)) {
      const names = new Set(colorScale.entries.filter((_, index) => hidden.has(index)).map((entry) => entry.name));
      this.targets = computeLabels(this.scene, colorScale).filter((label) => !names.has(label.name));
      [this._colorsKey, this._positionsVersion, this._computedAt] = [colorsKey, this.scene.positionsVersion, now];
      this._cost = performance.now() - now;
    }
    const fraction = hasNewColors || progress === 1 ? 1 : 1 - Math.exp((this._drawnAt - now) / SMOOTHING_TIME);
    this.drawn = this.targets.map((label) => interpolateLabels(this.drawn.find(({ name }) => name === label.name) ?? label, label, fraction));
    this._drawnAt = now;
    return this.drawn;
  }
}

/**
 * @param {Label} from
 * @param {Label} to
 * @param {number} fraction
 * @returns {Label}
 */
function interpolateLabels(from, to, fraction) {
  return { ...to, x: from.x + (to.x - from.x) * fraction, y: from.y + (to.y - from.y) * fraction };
}

/**
 * Place the label of each entry at the mean of the points around its densest cell.
 * @param {import("./scene.js").Scene} scene
 * @param {import("./color_scale.js").ColorScale} colorScale
 * @returns {Label[]} largest categories first
 */
function computeLabels(scene, { entries, entryIndices }) {
  if (entryIndices === null) return [];
  const { positions } = scene;
  const counts = new Uint32Array(entries.length * GRID_CELLS);
  const cellOf = (/** @type {number} */ row) =>
    ((positions[2 * row + 1] * GRID_SIDE) >> 16) * GRID_SIDE + ((positions[2 * row] * GRID_SIDE) >> 16);
  for (let row = 0; row < scene.n; row++) counts[entryIndices[row] * GRID_CELLS + cellOf(row)]++;
  const densestCells = entries.map((_, index) => findDensestCell(counts.subarray(index * GRID_CELLS, (index + 1) * GRID_CELLS)));
  const centers = densestCells.map((cell) => [((cell % GRID_SIDE) + 0.5) * CELL_WIDTH, (Math.floor(cell / GRID_SIDE) + 0.5) * CELL_WIDTH]);
  for (const radius of MEAN_SHIFT_RADII) shiftToMeans(scene, entryIndices, centers, radius * CELL_WIDTH);
  return entries
    .map((entry, index) => ({ name: entry.name, color: toCss(entry.color), x: centers[index][0], y: centers[index][1], entry }))
    .filter(({ entry }) => !entry.isRest && entry.count > 0)
    .map(({ entry, ...label }) => ({ ...label, count: entry.count }))
    .sort((first, second) => second.count - first.count)
    .slice(0, MAX_LABELS);
}

/**
 * Move each center to the mean of the points of its entry in the window around it.
 * @param {import("./scene.js").Scene} scene
 * @param {Uint8Array} entryIndices
 * @param {number[][]} centers quantized; changed in place
 * @param {number} radius half-width of the window, quantized
 */
function shiftToMeans({ positions, n }, entryIndices, centers, radius) {
  const sums = centers.map(() => [0, 0, 0]);
  for (let row = 0; row < n; row++) {
    const [x, y] = [positions[2 * row], positions[2 * row + 1]];
    const [centerX, centerY] = centers[entryIndices[row]];
    if (Math.abs(x - centerX) > radius || Math.abs(y - centerY) > radius) continue;
    const sum = sums[entryIndices[row]];
    sum[0] += x;
    sum[1] += y;
    sum[2]++;
  }
  sums.forEach(([x, y, count], index) => {
    if (count > 0) centers[index] = [x / count, y / count];
  });
}

/**
 * The cell with the most points around it.
 * @param {Uint32Array} counts
 */
function findDensestCell(counts) {
  const rowSums = new Uint32Array(GRID_CELLS); // counts summed along each grid row; the second loop sums these along columns
  for (let cell = 0; cell < counts.length; cell++) {
    if (counts[cell] === 0) continue;
    const column = cell % GRID_SIDE;
    const last = Math.min(GRID_SIDE - 1, column + BLUR_RADIUS);
    for (let near = Math.max(0, column - BLUR_RADIUS); near <= last; near++) rowSums[cell - column + near] += counts[cell];
  }
  let [best, most] = [0, 0];
  for (let cell = 0; cell < rowSums.length; cell++) {
    let sum = 0;
    for (let step = -BLUR_RADIUS; step <= BLUR_RADIUS; step++) sum += rowSums[cell + step * GRID_SIDE] ?? 0;
    if (sum > most) [best, most] = [cell, sum];
  }
  return best;
}

/**
 * Draw the labels in order; skip those that would overlap an earlier one.
 * @param {CanvasRenderingContext2D} context
 * @param {Label[]} labels
 * @param {import("./scene.js").Scene} scene
 * @param {import("./camera.js").Camera} camera
 */
export function drawLabels(context, labels, scene, camera) {
  const size = Math.min(22, Math.max(13, 20 / camera.zoom ** 0.25));
  context.font = `600 ${size}px system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  const area = camera.visibleArea;
  const [scaleX, scaleY] = scene.resolution.map((side) => side / QUANTIZATION_LEVELS); // from quantized coordinates to pixels of the map
  /** @type {[number, number, number, number][]} */
  const occupied = [];
  for (const label of labels) {
    const [pointX, pointY] = camera.toScreen(label.x * scaleX, label.y * scaleY);
    const text = label.name.length > 40 ? `${label.name.slice(0, 39)}…` : label.name;
    const half = context.measureText(text).width / 2 + 4;
    if (pointX < area.left || pointX > area.right || pointY < area.top || pointY > area.bottom) continue;
    const x = clamp(pointX, area.left + half + LABEL_MARGIN, area.right - half - LABEL_MARGIN);
    const y = clamp(pointY, area.top + size / 2 + LABEL_MARGIN, area.bottom - size / 2 - LABEL_MARGIN);
    const overlaps = occupied.some(([left, top, right, bottom]) => x + half > left && x - half < right && y + size / 2 > top && y - size / 2 < bottom);
    if (overlaps) continue;
    occupied.push([x - half, y - size / 2, x + half, y + size / 2]);
    context.lineWidth = 4;
    context.strokeStyle = scene.dark ? "rgba(18, 18, 23, 0.85)" : "rgba(255, 255, 255, 0.85)";
    context.strokeText(text, x, y);
    context.fillStyle = scene.dark ? "#f2f2f2" : "#1d1d22";
    context.fillText(text, x, y);
  }
}

/**
 * @param {number} value
 * @param {number} low
 * @param {number} high if it is below `low`, there is no space, and the mean of both is returned
 */
function clamp(value, low, high) {
  return low > high ? (low + high) / 2 : Math.min(Math.max(value, low), high);
}
