// Which rows are chosen: by a box, a lasso, or words.

import { STEPS } from "./scene.js";

const FINEST = 3; // CSS pixels between two corners of a lasso

/**
 * @typedef {"new" | "add" | "subtract"} How
 * @typedef {"pan" | "box" | "lasso"} Tool what a pointer does
 */

export class Selection {
  /**
   * @param {number} n
   * @param {() => void} changed
   */
  constructor(n, changed) {
    this.chosen = new Uint8Array(n);
    this.count = 0;
    this.changed = changed;
  }

  /**
   * @param {Iterable<number>} rows
   * @param {How} how
   */
  take(rows, how) {
    if (how === "new") this.chosen.fill(0);
    for (const row of rows) this.chosen[row] = how === "subtract" ? 0 : 1;
    this.count = this.chosen.reduce((sum, one) => sum + one, 0);
    this.changed();
  }

  clear() {
    this.take([], "new");
  }

  /** @returns {Uint32Array<ArrayBuffer>} ascending */
  rows() {
    const rows = new Uint32Array(this.count);
    let place = 0;
    for (let row = 0; row < this.chosen.length; row++) if (this.chosen[row]) rows[place++] = row;
    return rows;
  }
}

/**
 * Rows within a closed line on the screen that are not hidden, and were found if something is searched for.
 * @param {import("./picking.js").Grid} grid
 * @param {import("./camera.js").Camera} camera
 * @param {[number, number][]} line CSS pixels
 * @param {Uint8Array | null} matches 1 for each row that was found; null without a search
 */
export function rowsWithin(grid, camera, line, matches) {
  const { scene } = grid;
  const xs = new Float64Array(line.length);
  const ys = new Float64Array(line.length);
  line.forEach(([x, y], place) => {
    const [mapX, mapY] = camera.toMap(x, y);
    xs[place] = (mapX * STEPS) / scene.resolution[0];
    ys[place] = (mapY * STEPS) / scene.resolution[1];
  });
  /** @type {number[]} */
  const rows = [];
  grid.visit(Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys), (row) => {
    if (scene.colors[4 * row + 3] === 0 || matches?.[row] === 0) return;
    if (isWithin(xs, ys, scene.to[2 * row], scene.to[2 * row + 1])) rows.push(row);
  });
  return rows;
}

/**
 * By how often a ray to the right crosses the line.
 * @param {Float64Array} xs of the corners
 * @param {Float64Array} ys
 * @param {number} x
 * @param {number} y
 */
function isWithin(xs, ys, x, y) {
  let inside = false;
  for (let place = 0, last = xs.length - 1; place < xs.length; last = place++) {
    const isCrossed = ys[place] > y !== ys[last] > y;
    if (isCrossed && x < ((xs[last] - xs[place]) * (y - ys[place])) / (ys[last] - ys[place]) + xs[place]) inside = !inside;
  }
  return inside;
}

/**
 * Box and lasso, drawn with a pointer.
 * @param {HTMLElement} surface
 * @param {() => Tool} tool
 * @param {(line: [number, number][]) => void} drawn while it is drawn; empty when that is over
 * @param {(line: [number, number][], how: How) => void} done
 * @returns {(event: PointerEvent) => boolean} whether a pointer that goes down belongs here
 */
export function holdLasso(surface, tool, drawn, done) {
  /** @type {[number, number][]} */
  let line = [];
  /** @type {"box" | "lasso"} */
  let shape = "lasso";
  let pointer = -1;

  const isOurs = (/** @type {PointerEvent} */ event) => event.pointerType !== "touch" ? tool() !== "pan" || event.shiftKey : tool() !== "pan";
  surface.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || pointer !== -1 || !isOurs(event)) return;
    pointer = event.pointerId;
    surface.setPointerCapture(pointer);
    shape = tool() === "lasso" ? "lasso" : "box";
    line = [[event.offsetX, event.offsetY]];
  });
  surface.addEventListener("pointermove", (event) => {
    if (event.pointerId !== pointer) return;
    const [x, y] = [event.offsetX, event.offsetY];
    const [lastX, lastY] = line[line.length - 1];
    if (shape === "lasso" && Math.hypot(x - lastX, y - lastY) < FINEST) return;
    if (shape === "lasso") line.push([x, y]);
    else line = [line[0], [x, line[0][1]], [x, y], [line[0][0], y]];
    drawn(line);
  });
  const finish = (/** @type {PointerEvent} */ event) => {
    if (event.pointerId !== pointer) return;
    pointer = -1;
    drawn([]);
    const how = event.altKey ? "subtract" : event.ctrlKey || event.metaKey ? "add" : "new";
    if (line.length > 2) done(line, how);
  };
  surface.addEventListener("pointerup", finish);
  surface.addEventListener("pointercancel", (event) => {
    if (event.pointerId !== pointer) return;
    pointer = -1;
    drawn([]);
  });
  return isOurs;
}
