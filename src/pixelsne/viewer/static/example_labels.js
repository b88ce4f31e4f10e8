// Texts of example rows next to their points, where there is space between points.

import { layOutLine, drawBlock, shortenText } from "./label_text.js";
import { fadeTowards, overlaps } from "./label_boxes.js";
import { QUANTIZATION_LEVELS, screenPosition, VISIBLE } from "./scene.js";

const MIN_SPACING = 34; // CSS pixels between neighboring points on average
const AREA_PER_EXAMPLE = 22_000; // CSS pixels
const MAX_ROWS = 4_000; // in view; with more there are no examples
const MAX_TRIES = 400; // rows for which space is searched at a time
const MAX_EXAMPLE_CHARACTERS = 44;
const EXAMPLE_SIZE = 12; // CSS pixels, of the font
const EXAMPLE_PADDING = 6; // CSS pixels between texts
const REFRESH_TIME_WHILE_MOVING = 120; // milliseconds
const EXAMPLE_INK = { light: "#4a4a54", dark: "#c9c9d2" };

/** @typedef {import("./label_boxes.js").Box} Box */
/** @typedef {{row: number, block: import("./label_text.js").TextBlock, box: Box, alpha: number, isShown: boolean}} Example */

export class ExampleLabels {
  /**
   * @param {import("./scene.js").Scene} scene
   * @param {import("./camera.js").Camera} camera
   * @param {import("./picking.js").PointGrid} grid
   * @param {import("./point_style.js").PointCounter} counter
   * @param {() => void} onLoad called when the texts have arrived
   */
  constructor(scene, camera, grid, counter, onLoad) {
    this.scene = scene;
    this.camera = camera;
    this.grid = grid;
    this.counter = counter;
    this.onLoad = onLoad;
    /** @type {import("./data.js").Column | null} */
    this.column = null; // with the texts
    /** @type {Map<number, Example>} */
    this._examples = new Map();
    this._isLoading = false;
    this._key = "";
    this._chosenAt = 0;
  }

  /**
   * Choose examples, and move those there are with their points.
   * @param {Box[]} names boxes that must stay free
   * @param {number} passed milliseconds since the last frame
   * @param {number} fadeInTime milliseconds
   * @param {number} fadeOutTime
   * @returns {boolean} whether texts are still appearing or disappearing
   */
  update(names, passed, fadeInTime, fadeOutTime) {
    const { camera, scene } = this;
    const key = [camera.scale, ...camera.center, ...Object.values(camera.visibleArea), scene.positionsVersion, scene.colorsVersion, names.length].join(" ");
    const now = performance.now();
    const isDue = !camera.isMoving || now - this._chosenAt > REFRESH_TIME_WHILE_MOVING;
    for (const example of this._examples.values()) example.box = this._boxOf(example);
    if (key !== this._key && isDue) {
      this._key = key;
      this._chosenAt = now;
      this._choose(names);
    }
    let isFading = false;
    for (const [row, example] of this._examples) {
      if (names.some((name) => overlaps(name, example.box))) example.isShown = false;
      example.alpha = fadeTowards(example.alpha, example.isShown, passed / fadeInTime, passed / fadeOutTime);
      if (example.alpha === 0 && !example.isShown) this._examples.delete(row);
      else if (example.alpha !== Number(example.isShown)) isFading = true;
    }
    return isFading;
  }

  /** @param {Box[]} names */
  _choose(names) {
    const rows = this._candidates();
    for (const example of this._examples.values()) example.isShown = false;
    if (rows.length === 0 || this.column === null) return;
    const { left, top, right, bottom } = this.camera.visibleArea;
    const limit = Math.max(3, ((right - left) * (bottom - top)) / AREA_PER_EXAMPLE);
    const occupied = [...names];
    let shown = 0;
    for (const row of rows.slice(0, MAX_TRIES)) {
      const known = this._examples.get(row);
      const block = known?.block ?? this._layOut(this.column, row);
      if (block === null) continue;
      const box = this._boxOf({ row, block });
      if (box.left < left || box.top < top || box.right > right || box.bottom > bottom) continue;
      if (occupied.some((other) => overlaps(padded(box), other))) continue;
      occupied.push(box);
      this._examples.set(row, { row, block, box, alpha: known?.alpha ?? 0, isShown: true });
      if (++shown >= limit) return;
    }
  }

  /** The visible rows in view, those with a text first, then in a fixed shuffled order; none if there are too many. */
  _candidates() {
    const { camera, scene, counter } = this;
    if (this.column === null || counter.countInView() > MAX_ROWS || counter.spacing() < MIN_SPACING) return [];
    if (!this.column.isLoaded) {
      this._load(this.column);
      return [];
    }
    const { left, top, right, bottom } = camera.visibleArea;
    const [mapWidth, mapHeight] = scene.resolution;
    const quantize = (/** @type {[number, number]} */ [x, y]) => [(x * QUANTIZATION_LEVELS) / mapWidth, (y * QUANTIZATION_LEVELS) / mapHeight];
    const [x1, y1] = quantize(camera.toMap(left, top));
    const [x2, y2] = quantize(camera.toMap(right, bottom));
    /** @type {number[]} */
    const rows = [];
    this.grid.forEachRow(x1, y1, x2, y2, (row) => {
      const [x, y] = [scene.positions[2 * row], scene.positions[2 * row + 1]];
      if (rows.length <= MAX_ROWS && scene.colors[4 * row + 3] === VISIBLE && x >= x1 && x <= x2 && y >= y1 && y <= y2) rows.push(row);
    });
    if (rows.length > MAX_ROWS) return []; // a dense clump, which the counts of points in view do not resolve
    const rank = (/** @type {number} */ row) => (this._examples.has(row) ? -1 : Math.imul(row + 1, 0x9e3779b1) >>> 0);
    return rows.map((row) => [rank(row), row]).sort((one, other) => one[0] - other[0]).map(([, row]) => row);
  }

  /** @param {import("./data.js").Column} column */
  _load(column) {
    if (this._isLoading) return;
    this._isLoading = true;
    column.load().then(() => {
      this._key = "";
      this.onLoad();
    }, () => {}).finally(() => { this._isLoading = false; }); // without texts there are no examples
  }

  /**
   * @param {import("./data.js").Column} column
   * @param {number} row
   */
  _layOut(column, row) {
    const text = shortenText(column.formatStart(row, 8 * MAX_EXAMPLE_CHARACTERS).replace(/\s+/g, " ").trim(), MAX_EXAMPLE_CHARACTERS);
    return text === "" ? null : layOutLine(text, EXAMPLE_SIZE);
  }

  /**
   * @param {{row: number, block: import("./label_text.js").TextBlock}} example
   * @returns {Box} right of its point, or left of it at the right edge
   */
  _boxOf({ row, block: { width, height } }) {
    const [x, y] = screenPosition(this.scene, this.camera, row);
    const distance = this.scene.style.diameter / 2 + 4;
    const left = x + distance + width > this.camera.visibleArea.right ? x - distance - width : x + distance;
    return { left, top: y - height / 2, right: left + width, bottom: y + height / 2 };
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @returns {boolean} whether there was time for all
   */
  draw(context) {
    const { dark } = this.scene;
    let areAllDrawn = true;
    for (const { block, box, alpha } of this._examples.values()) {
      context.globalAlpha = alpha;
      areAllDrawn = drawBlock(context, block, box.left, box.top, dark ? EXAMPLE_INK.dark : EXAMPLE_INK.light, dark) && areAllDrawn;
    }
    context.globalAlpha = 1;
    return areAllDrawn;
  }

  /** What is drawn, for tests. */
  describe() {
    return [...this._examples.values()].map(({ row, block, box }) => ({ row, text: block.lines[0], box }));
  }

  clear() {
    this._examples.clear();
    this._key = "";
  }
}

/** @param {Box} box */
function padded({ left, top, right, bottom }) {
  return { left: left - EXAMPLE_PADDING, top: top - EXAMPLE_PADDING, right: right + EXAMPLE_PADDING, bottom: bottom + EXAMPLE_PADDING };
}
