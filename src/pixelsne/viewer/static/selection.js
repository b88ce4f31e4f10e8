// The selected rows, and the tools that select them: box and lasso.

import { QUANTIZATION_LEVELS } from "./scene.js";

const MIN_DISTANCE = 3; // CSS pixels between two corners of a lasso

/**
 * @typedef {"replace" | "add" | "subtract"} SelectionMode
 * @typedef {"pan" | "box" | "lasso"} Tool what the pointer does
 */

export class Selection {
  /**
   * @param {number} n
   * @param {() => void} onChange
   */
  constructor(n, onChange) {
    this.mask = new Uint8Array(n); // 1 for each selected row
    this.count = 0;
    this.onChange = onChange;
  }

  /**
   * @param {Iterable<number>} rows
   * @param {SelectionMode} mode
   */
  update(rows, mode) {
    if (mode === "replace") this.mask.fill(0);
    for (const row of rows) this.mask[row] = mode === "subtract" ? 0 : 1;
    this.count = this.mask.reduce((sum, one) => sum + one, 0);
    this.onChange();
  }

  clear() {
    this.update([], "replace");
  }

  /** @returns {Uint32Array<ArrayBuffer>} ascending */
  rows() {
    const rows = new Uint32Array(this.count);
    let index = 0;
    for (let row = 0; row < this.mask.length; row++) if (this.mask[row]) rows[index++] = row;
    return rows;
  }
}

/**
 * The rows within a polygon on the screen, except those that are hidden or that a search excludes.
 * @param {import("./picking.js").PointGrid} grid
 * @param {import("./camera.js").Camera} camera
 * @param {[number, number][]} corners CSS pixels
 * @param {Uint8Array | null} matches 1 for each row that was found; null without a search
 */
export function findRowsWithin(grid, camera, corners, matches) {
  const { scene } = grid;
  const xs = new Float64Array(corners.length);
  const ys = new Float64Array(corners.length);
  corners.forEach(([x, y], index) => {
    const [mapX, mapY] = camera.toMap(x, y);
    xs[index] = (mapX * QUANTIZATION_LEVELS) / scene.resolution[0];
    ys[index] = (mapY * QUANTIZATION_LEVELS) / scene.resolution[1];
  });
  /** @type {number[]} */
  const rows = [];
  grid.forEachRow(Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys), (row) => {
    if (scene.colors[4 * row + 3] === 0 || matches?.[row] === 0) return;
    if (isInPolygon(xs, ys, scene.positions[2 * row], scene.positions[2 * row + 1])) rows.push(row);
  });
  return rows;
}

/**
 * Count how often a ray to the right crosses the polygon's edges: an odd number means inside.
 * @param {Float64Array} xs of the corners
 * @param {Float64Array} ys
 * @param {number} x
 * @param {number} y
 */
function isInPolygon(xs, ys, x, y) {
  let isInside = false;
  for (let index = 0, last = xs.length - 1; index < xs.length; last = index++) {
    const crossesLine = ys[index] > y !== ys[last] > y;
    if (crossesLine && x < ((xs[last] - xs[index]) * (y - ys[index])) / (ys[last] - ys[index]) + xs[index]) isInside = !isInside;
  }
  return isInside;
}

/**
 * Draw a box or a lasso with the pointer.
 * @param {HTMLElement} surface
 * @param {() => Tool} getTool
 * @param {(corners: [number, number][]) => void} onDraw called while the pointer moves; with no corners at the end
 * @param {(corners: [number, number][], mode: SelectionMode) => void} onFinish
 * @returns {(event: PointerEvent) => boolean} whether a press of the pointer starts a selection
 */
export function bindSelectionTools(surface, getTool, onDraw, onFinish) {
  /** @type {[number, number][]} */
  let corners = [];
  /** @type {"box" | "lasso"} */
  let shape = "lasso";
  let pointerId = -1;

  const startsSelection = (/** @type {PointerEvent} */ event) => getTool() !== "pan" || (event.shiftKey && event.pointerType !== "touch");
  surface.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || pointerId !== -1 || !startsSelection(event)) return;
    pointerId = event.pointerId;
    surface.setPointerCapture(pointerId);
    shape = getTool() === "lasso" ? "lasso" : "box";
    corners = [[event.offsetX, event.offsetY]];
  });
  surface.addEventListener("pointermove", (event) => {
    if (event.pointerId !== pointerId) return;
    const [x, y] = [event.offsetX, event.offsetY];
    const [lastX, lastY] = corners[corners.length - 1];
    if (shape === "lasso" && Math.hypot(x - lastX, y - lastY) < MIN_DISTANCE) return;
    if (shape === "lasso") corners.push([x, y]);
    else corners = [corners[0], [x, corners[0][1]], [x, y], [corners[0][0], y]];
    onDraw(corners);
  });
  surface.addEventListener("pointerup", (event) => {
    if (event.pointerId !== pointerId) return;
    pointerId = -1;
    onDraw([]);
    const mode = event.altKey ? "subtract" : event.ctrlKey || event.metaKey ? "add" : "replace";
    if (corners.length > 2) onFinish(corners, mode);
  });
  surface.addEventListener("pointercancel", (event) => {
    if (event.pointerId !== pointerId) return;
    pointerId = -1;
    onDraw([]);
  });
  return startsSelection;
}
