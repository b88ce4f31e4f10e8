// The labels of categories: the name of each category on each of its islands.

import { QUANTIZATION_LEVELS } from "./scene.js";

const LABEL_GRID_SIDE = 64; // cells; islands are found in this grid
const LABEL_GRID_CELLS = LABEL_GRID_SIDE ** 2;
const LABEL_CELL_WIDTH = QUANTIZATION_LEVELS / LABEL_GRID_SIDE; // in quantized coordinates
const MAX_SAMPLE = 300_000; // points; of larger maps a fair sample is looked at
const ISLAND_LEVEL = 0.12; // of a category's highest density; islands are separated where it is lower
const MIN_ISLAND_FRACTION = 0.05; // of a category's points, in an island with a label
const MAX_ISLANDS = 5; // of a category
const MAX_CATEGORIES = 30;
const MIN_ISLAND_DIAMETER = 50; // CSS pixels, of an island that is not its category's largest, when its label appears
const MEAN_SHIFT_RADII = [4, 6, 6]; // half-width of the window in each iteration of mean shift, in cells

/**
 * @typedef {{entry: number, x: number, y: number, count: number, cells: number[]}} Island
 *   entry: index of the category's entry; x, y: quantized
 */

/**
 * @param {import("./scene.js").Scene} scene
 * @param {import("./color_scale.js").ColorScale} colorScale
 * @param {Set<number>} hidden entries
 * @returns {import("./labels.js").Label[]}
 */
export function computeCategoryLabels(scene, { entries, entryIndices }, hidden) {
  if (entryIndices === null) return [];
  const sampled = Math.min(scene.n, MAX_SAMPLE);
  const counts = countCells(scene, entryIndices, entries.length, sampled);
  const named = [...entries.keys()].filter((index) => !hidden.has(index) && !entries[index].isRest && entries[index].count > 0);
  const largest = named.sort((one, other) => entries[other].count - entries[one].count).slice(0, MAX_CATEGORIES);
  const islands = largest.flatMap((entry) => findIslands(counts.subarray(entry * LABEL_GRID_CELLS, (entry + 1) * LABEL_GRID_CELLS), entry));
  for (const radius of MEAN_SHIFT_RADII) shiftToMeans(scene, entryIndices, islands, radius * LABEL_CELL_WIDTH, sampled);
  return islands.map(({ entry, x, y, count }, index) => ({
    id: "",
    text: entries[entry].name,
    x,
    y,
    count: (count * scene.n) / sampled,
    level: 0,
    color: entries[entry].color,
    minDiameter: islands.findIndex((other) => other.entry === entry) === index ? 0 : MIN_ISLAND_DIAMETER,
    hasNamedParts: false,
  }));
}

/**
 * Count the points of each entry in each cell.
 * @param {import("./scene.js").Scene} scene
 * @param {Uint8Array} entryIndices
 * @param {number} number of entries
 * @param {number} sampled points
 */
function countCells({ positions, order }, entryIndices, number, sampled) {
  const counts = new Uint32Array(number * LABEL_GRID_CELLS);
  for (let index = 0; index < sampled; index++) {
    const row = order[index];
    const cell = ((positions[2 * row + 1] * LABEL_GRID_SIDE) >> 16) * LABEL_GRID_SIDE + ((positions[2 * row] * LABEL_GRID_SIDE) >> 16);
    counts[entryIndices[row] * LABEL_GRID_CELLS + cell]++;
  }
  return counts;
}

/**
 * The islands of a category: connected cells with many points around them.
 * @param {Uint32Array} counts of the category's points in each cell
 * @param {number} entry
 * @returns {Island[]} the largest first
 */
function findIslands(counts, entry) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const density = sumAround(counts, Math.min(3, Math.max(1, Math.round(24 / Math.sqrt(Math.max(1, total))))));
  const threshold = Math.max(1, ISLAND_LEVEL * density.reduce((max, value) => Math.max(max, value), 0));
  const seen = new Uint8Array(LABEL_GRID_CELLS);
  /** @type {Island[]} */
  const islands = [];
  for (let cell = 0; cell < LABEL_GRID_CELLS; cell++) {
    if (seen[cell] || density[cell] < threshold) continue;
    const cells = collectCells(density, threshold, cell, seen);
    const densest = cells.reduce((best, one) => (density[one] > density[best] ? one : best), cells[0]);
    const count = cells.reduce((sum, one) => sum + counts[one], 0);
    const [x, y] = [densest % LABEL_GRID_SIDE, Math.floor(densest / LABEL_GRID_SIDE)].map((part) => (part + 0.5) * LABEL_CELL_WIDTH);
    islands.push({ entry, x, y, count, cells });
  }
  islands.sort((one, other) => other.count - one.count);
  return islands.filter(({ count }, index) => index === 0 || count >= MIN_ISLAND_FRACTION * total).slice(0, MAX_ISLANDS);
}

/**
 * @param {Uint32Array} counts
 * @param {number} reach cells to each side
 */
function sumAround(counts, reach) {
  const sums = new Uint32Array(LABEL_GRID_CELLS);
  const range = (/** @type {number} */ center) => [Math.max(0, center - reach), Math.min(LABEL_GRID_SIDE - 1, center + reach)];
  for (let cell = 0; cell < LABEL_GRID_CELLS; cell++) {
    if (counts[cell] === 0) continue;
    const [left, right] = range(cell % LABEL_GRID_SIDE);
    const [top, bottom] = range(Math.floor(cell / LABEL_GRID_SIDE));
    for (let row = top; row <= bottom; row++) {
      for (let column = left; column <= right; column++) sums[row * LABEL_GRID_SIDE + column] += counts[cell];
    }
  }
  return sums;
}

/**
 * The cells above the threshold that are connected with one cell.
 * @param {Uint32Array} density
 * @param {number} threshold
 * @param {number} first
 * @param {Uint8Array} seen 1 for cells that were collected
 */
function collectCells(density, threshold, first, seen) {
  const cells = [first];
  seen[first] = 1;
  for (let index = 0; index < cells.length; index++) {
    const column = cells[index] % LABEL_GRID_SIDE;
    for (const step of [-LABEL_GRID_SIDE - 1, -LABEL_GRID_SIDE, -LABEL_GRID_SIDE + 1, -1, 1, LABEL_GRID_SIDE - 1, LABEL_GRID_SIDE, LABEL_GRID_SIDE + 1]) {
      const next = cells[index] + step;
      const isNeighbor = next >= 0 && next < LABEL_GRID_CELLS && Math.abs((next % LABEL_GRID_SIDE) - column) <= 1;
      if (!isNeighbor || seen[next] || density[next] < threshold) continue;
      seen[next] = 1;
      cells.push(next);
    }
  }
  return cells;
}

/**
 * Move each island's position to the mean of the category's points in the window around it.
 * @param {import("./scene.js").Scene} scene
 * @param {Uint8Array} entryIndices
 * @param {Island[]} islands changed in place
 * @param {number} radius half-width of the window, quantized
 * @param {number} sampled points
 */
function shiftToMeans({ positions, order }, entryIndices, islands, radius, sampled) {
  const sums = islands.map(() => [0, 0, 0]);
  /** @type {number[][]} */
  const islandsOf = Array.from({ length: 256 }, () => []);
  islands.forEach(({ entry }, index) => islandsOf[entry].push(index));
  for (let at = 0; at < sampled; at++) {
    const row = order[at];
    const [x, y] = [positions[2 * row], positions[2 * row + 1]];
    for (const index of islandsOf[entryIndices[row]]) {
      if (Math.abs(x - islands[index].x) > radius || Math.abs(y - islands[index].y) > radius) continue;
      sums[index][0] += x;
      sums[index][1] += y;
      sums[index][2]++;
    }
  }
  sums.forEach(([x, y, count], index) => {
    if (count > 0) [islands[index].x, islands[index].y] = [x / count, y / count];
  });
}
