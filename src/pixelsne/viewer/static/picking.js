// Picking: finds the point under the pointer, with a grid of cells into which the points are sorted.

import { QUANTIZATION_LEVELS, screenPosition, VISIBLE } from "./scene.js";

const CELL_BITS = 7; // a cell spans 128 quantized coordinates, so that a side has 512 cells
const PICKING_GRID_SIDE = QUANTIZATION_LEVELS >> CELL_BITS;

export class PointGrid {
  /** @param {import("./scene.js").Scene} scene */
  constructor(scene) {
    this.scene = scene;
    this.version = -1; // of the positions
    this.offsets = new Uint32Array(PICKING_GRID_SIDE * PICKING_GRID_SIDE + 1); // of each cell in `rows`
    this.rows = new Uint32Array(scene.n);
    this._timer = 0;
  }

  /**
   * Build the grid when positions have not changed for a while: before it is needed, but not for every position update of a
   * run.
   * @param {number} milliseconds
   */
  scheduleBuild(milliseconds) {
    clearTimeout(this._timer);
    this._timer = window.setTimeout(() => this.build(), milliseconds);
  }

  /** Build the grid if positions have changed, by a counting sort. */
  build() {
    const { scene, offsets, rows } = this;
    const { positions } = scene;
    if (this.version === scene.positionsVersion) return;
    const cellOf = (/** @type {number} */ row) => (positions[2 * row + 1] >> CELL_BITS) * PICKING_GRID_SIDE + (positions[2 * row] >> CELL_BITS);
    offsets.fill(0);
    for (let row = 0; row < scene.n; row++) offsets[cellOf(row) + 1]++;
    for (let cell = 1; cell < offsets.length; cell++) offsets[cell] += offsets[cell - 1];
    const next = offsets.slice(0, -1);
    for (let row = 0; row < scene.n; row++) rows[next[cellOf(row)]++] = row;
    this.version = scene.positionsVersion;
  }

  /**
   * Call a function with every row in the cells that a rectangle touches. Its sides are quantized.
   * @param {number} left
   * @param {number} top
   * @param {number} right
   * @param {number} bottom
   * @param {(row: number) => void} callback
   */
  forEachRow(left, top, right, bottom, callback) {
    this.build();
    const cellAt = (/** @type {number} */ value) => Math.min(PICKING_GRID_SIDE - 1, Math.max(0, Math.floor(value) >> CELL_BITS));
    for (let gridRow = cellAt(top); gridRow <= cellAt(bottom); gridRow++) {
      const first = this.offsets[gridRow * PICKING_GRID_SIDE + cellAt(left)];
      const end = this.offsets[gridRow * PICKING_GRID_SIDE + cellAt(right) + 1];
      for (let index = first; index < end; index++) callback(this.rows[index]);
    }
  }

  /**
   * The row of the nearest visible point, -1 if there is none within the radius. Hidden and dimmed points are ignored.
   * @param {import("./camera.js").Camera} camera
   * @param {number} x CSS pixels
   * @param {number} y
   * @param {number} radius CSS pixels
   */
  findNearest(camera, x, y, radius) {
    const { scene } = this;
    const [mapWidth, mapHeight] = scene.resolution;
    const quantize = (/** @type {[number, number]} */ [mapX, mapY]) =>
      [(mapX * QUANTIZATION_LEVELS) / mapWidth, (mapY * QUANTIZATION_LEVELS) / mapHeight];
    const [left, top] = quantize(camera.toMap(x - radius, y - radius));
    const [right, bottom] = quantize(camera.toMap(x + radius, y + radius));
    let best = -1;
    let smallest = radius * radius;
    this.forEachRow(left, top, right, bottom, (row) => {
      if (scene.colors[4 * row + 3] !== VISIBLE) return;
      const [screenX, screenY] = screenPosition(scene, camera, row);
      const distance = (screenX - x) ** 2 + (screenY - y) ** 2;
      if (distance <= smallest) [smallest, best] = [distance, row];
    });
    return best;
  }
}
