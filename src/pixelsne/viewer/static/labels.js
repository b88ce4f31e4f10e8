// Names of categories where most of their points are, giving way to each other.

import { css } from "./colors.js";
import { STEPS } from "./scene.js";

const CELLS = 64; // a side, of the grid in which the densest spot is looked for
const STEP = STEPS / CELLS;
const AROUND = 3; // cells to each side that belong to a spot
const REACHES = [4, 8, 8]; // cells to each side whose middle a label moves to, one after the other
const MOST = 30;
const SHARE_OF_TIME = 10; // while points move, labels are looked for during a tenth of the time
const FOLLOWING = 150; // milliseconds in which a label goes most of the way to its new place
const EDGE_OF_ROOM = 4; // CSS pixels

/** @typedef {{name: string, color: string, x: number, y: number, count: number}} Label x and y in steps */

/** The labels of a scene, found anew when points or colors have changed, and gliding to their new places. */
export class Labels {
  /** @param {import("./scene.js").Scene} scene */
  constructor(scene) {
    this.scene = scene;
    /** @type {Label[]} where they belong */
    this.found = [];
    /** @type {Label[]} where they are drawn */
    this.shown = [];
    this._placesVersion = -1;
    this._look = "";
    this._cost = 0; // milliseconds that finding took
    this._foundAt = 0;
    this._shownAt = 0;
  }

  /**
   * @param {import("./colors.js").Coloring} coloring
   * @param {Set<number>} hidden entries
   * @param {number} glided less than 1 while points move
   */
  of(coloring, hidden, glided) {
    const now = performance.now();
    const look = `${this.scene.colorsVersion} ${coloring.name}`;
    const isDue = glided === 1 || now - this._foundAt > SHARE_OF_TIME * this._cost;
    const isNew = look !== this._look;
    if (isNew || (this._placesVersion !== this.scene.placesVersion && isDue)) {
      const names = new Set(coloring.entries.filter((_, index) => hidden.has(index)).map((entry) => entry.name));
      this.found = findLabels(this.scene, coloring).filter((label) => !names.has(label.name));
      [this._look, this._placesVersion, this._foundAt] = [look, this.scene.placesVersion, now];
      this._cost = performance.now() - now;
    }
    const share = isNew || glided === 1 ? 1 : 1 - Math.exp((this._shownAt - now) / FOLLOWING);
    this.shown = this.found.map((label) => betweenLabels(this.shown.find(({ name }) => name === label.name) ?? label, label, share));
    this._shownAt = now;
    return this.shown;
  }
}

/**
 * @param {Label} from
 * @param {Label} to
 * @param {number} share
 * @returns {Label}
 */
function betweenLabels(from, to, share) {
  return { ...to, x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
}

/**
 * For each entry, the middle of its densest neighborhood.
 * @param {import("./scene.js").Scene} scene
 * @param {import("./colors.js").Coloring} coloring
 * @returns {Label[]}
 */
function findLabels(scene, coloring) {
  const { group } = coloring;
  if (coloring.scale !== "names" || group === null) return [];
  const number = coloring.entries.length;
  const counts = new Uint32Array(number * CELLS * CELLS);
  const cellOf = (/** @type {number} */ row) => ((scene.to[2 * row + 1] * CELLS) >> 16) * CELLS + ((scene.to[2 * row] * CELLS) >> 16);
  for (let row = 0; row < scene.n; row++) counts[group[row] * CELLS * CELLS + cellOf(row)]++;
  const peaks = Array.from({ length: number }, (_, entry) => peakOf(counts.subarray(entry * CELLS * CELLS, (entry + 1) * CELLS * CELLS)));
  const centers = peaks.map((cell) => [((cell % CELLS) + 0.5) * STEP, (Math.floor(cell / CELLS) + 0.5) * STEP]);
  for (const reach of REACHES) moveToMeans(scene, group, centers, reach * STEP);
  return coloring.entries
    .map((entry, place) => ({ name: entry.name, color: css(entry.color), x: centers[place][0], y: centers[place][1], entry }))
    .filter(({ entry }) => !entry.isRest && entry.count > 0)
    .map(({ entry, ...label }) => ({ ...label, count: entry.count }))
    .sort((first, second) => second.count - first.count)
    .slice(0, MOST);
}

/**
 * From the densest spot to the middle of what lies around it.
 * @param {import("./scene.js").Scene} scene
 * @param {Uint8Array | Uint16Array} group
 * @param {number[][]} centers moved, in steps
 * @param {number} reach
 */
function moveToMeans(scene, group, centers, reach) {
  const sums = centers.map(() => [0, 0, 0]);
  for (let row = 0; row < scene.n; row++) {
    const [x, y] = [scene.to[2 * row], scene.to[2 * row + 1]];
    const [centerX, centerY] = centers[group[row]];
    if (Math.abs(x - centerX) > reach || Math.abs(y - centerY) > reach) continue;
    const sum = sums[group[row]];
    sum[0] += x;
    sum[1] += y;
    sum[2]++;
  }
  sums.forEach(([x, y, count], place) => {
    if (count > 0) centers[place] = [x / count, y / count];
  });
}

/**
 * The cell with the most points around it.
 * @param {Uint32Array} counts
 */
function peakOf(counts) {
  const sums = new Uint32Array(CELLS * CELLS); // along rows, then along columns
  for (let cell = 0; cell < counts.length; cell++) {
    if (counts[cell] === 0) continue;
    const column = cell % CELLS;
    for (let near = Math.max(0, column - AROUND); near <= Math.min(CELLS - 1, column + AROUND); near++) sums[cell - column + near] += counts[cell];
  }
  let [best, most] = [0, 0];
  for (let cell = 0; cell < sums.length; cell++) {
    let sum = 0;
    for (let step = -AROUND; step <= AROUND; step++) sum += sums[cell + step * CELLS] ?? 0;
    if (sum > most) [best, most] = [cell, sum];
  }
  return best;
}

/**
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
  const { room } = camera;
  /** @type {[number, number, number, number][]} */
  const taken = [];
  for (const label of labels) {
    const [pointX, pointY] = camera.toScreen((label.x * scene.resolution[0]) / STEPS, (label.y * scene.resolution[1]) / STEPS);
    const words = label.name.length > 40 ? `${label.name.slice(0, 39)}…` : label.name;
    const half = context.measureText(words).width / 2 + 4;
    if (pointX < room.left || pointX > room.right || pointY < room.top || pointY > room.bottom) continue;
    const x = within(pointX, room.left + half + EDGE_OF_ROOM, room.right - half - EDGE_OF_ROOM);
    const y = within(pointY, room.top + size / 2 + EDGE_OF_ROOM, room.bottom - size / 2 - EDGE_OF_ROOM);
    const isTaken = taken.some(([left, top, right, bottom]) => x + half > left && x - half < right && y + size / 2 > top && y - size / 2 < bottom);
    if (isTaken) continue;
    taken.push([x - half, y - size / 2, x + half, y + size / 2]);
    context.lineWidth = 4;
    context.strokeStyle = scene.dark ? "rgba(18, 18, 23, 0.85)" : "rgba(255, 255, 255, 0.85)";
    context.strokeText(words, x, y);
    context.fillStyle = scene.dark ? "#f2f2f2" : "#1d1d22";
    context.fillText(words, x, y);
  }
}

/**
 * @param {number} value
 * @param {number} low
 * @param {number} high
 */
function within(value, low, high) {
  return low > high ? (low + high) / 2 : Math.min(Math.max(value, low), high);
}
