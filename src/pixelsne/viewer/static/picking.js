// Which point is under the pointer: a grid over the map, sorted by counting.

import { SHOWN, STEPS } from "./scene.js";

export class Grid {
  /** @param {import("./scene.js").Scene} scene */
  constructor(scene) {
    this.scene = scene;
    this.version = -1;
    this.shift = 7; // 512 cells a side
    this.side = STEPS >> this.shift;
    this.begins = new Uint32Array(this.side * this.side + 1);
    this.rows = new Uint32Array(scene.n);
    this._waiting = 0;
  }

  /**
   * Builds when points have rested for a while: before somebody points, but not for every frame of a run.
   * @param {number} milliseconds
   */
  buildAfter(milliseconds) {
    clearTimeout(this._waiting);
    this._waiting = window.setTimeout(() => this.build(), milliseconds);
  }

  /** Brings the grid up to date with where points are. */
  build() {
    const { scene, begins, rows, shift, side } = this;
    if (this.version === scene.placesVersion) return;
    const cell = (/** @type {number} */ row) => (scene.to[2 * row + 1] >> shift) * side + (scene.to[2 * row] >> shift);
    begins.fill(0);
    for (let row = 0; row < scene.n; row++) begins[cell(row) + 1]++;
    for (let place = 1; place < begins.length; place++) begins[place] += begins[place - 1];
    const next = begins.slice(0, -1);
    for (let row = 0; row < scene.n; row++) rows[next[cell(row)]++] = row;
    this.version = scene.placesVersion;
  }

  /**
   * Calls back with every row that may lie in a box of steps.
   * @param {number} left
   * @param {number} top
   * @param {number} right
   * @param {number} bottom
   * @param {(row: number) => void} visit
   */
  visit(left, top, right, bottom, visit) {
    this.build();
    const inside = (/** @type {number} */ value) => Math.min(this.side - 1, Math.max(0, Math.floor(value) >> this.shift));
    for (let line = inside(top); line <= inside(bottom); line++) {
      const first = this.begins[line * this.side + inside(left)];
      const end = this.begins[line * this.side + inside(right) + 1];
      for (let place = first; place < end; place++) visit(this.rows[place]);
    }
  }

  /**
   * The nearest point to a place on the screen, -1 if none is within reach. Those that are hidden or put back have no say.
   * @param {import("./camera.js").Camera} camera
   * @param {number} x CSS pixels
   * @param {number} y
   * @param {number} reach CSS pixels
   */
  nearest(camera, x, y, reach) {
    const { scene } = this;
    const [across, down] = scene.resolution;
    const toSteps = (/** @type {[number, number]} */ [mapX, mapY]) => [(mapX * STEPS) / across, (mapY * STEPS) / down];
    const [left, top] = toSteps(camera.toMap(x - reach, y - reach));
    const [right, bottom] = toSteps(camera.toMap(x + reach, y + reach));
    let best = -1;
    let smallest = reach * reach;
    this.visit(left, top, right, bottom, (row) => {
      if (scene.colors[4 * row + 3] !== SHOWN) return;
      const [screenX, screenY] = camera.toScreen((scene.to[2 * row] * across) / STEPS, (scene.to[2 * row + 1] * down) / STEPS);
      const distance = (screenX - x) ** 2 + (screenY - y) ** 2;
      if (distance <= smallest) [smallest, best] = [distance, row];
    });
    return best;
  }
}
