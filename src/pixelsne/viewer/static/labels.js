// Labels: the names of regions and categories, and the texts of example rows. None overlaps another.

import { computeCategoryLabels } from "./category_labels.js";
import { toCss } from "./colors.js";
import { readableColor } from "./contrast.js";
import { boxInside, fadeTowards, overlaps } from "./label_boxes.js";
import { placeLabels, zoomStep } from "./label_placement.js";
import { drawBlock, limitImageTime } from "./label_text.js";
import { computeRegionLabels } from "./region_labels.js";
import { QUANTIZATION_LEVELS } from "./scene.js";

const MAX_TIME_FRACTION = 0.1; // of the time, spent on computing labels while points move
const SMOOTHING_TIME = 150; // milliseconds in which a label moves most of the way to its new position
const FADE_IN_TIME = 220; // milliseconds
const FADE_OUT_TIME = 120;
const MAX_IMAGE_TIME = 3; // milliseconds of a frame for texts that are drawn for the first time
const MAX_STEP_TIME = 60; // milliseconds of fading in one frame
const MAX_ID_DISTANCE = QUANTIZATION_LEVELS / 5; // that a category's island moves between two position updates
const INK = { light: "#26262c", dark: "#f2f2f4" };

/**
 * @typedef {{id: string, text: string, x: number, y: number, count: number, level: number,
 *   color: import("./colors.js").Rgb | null, minDiameter: number, hasNamedParts: boolean}} Label
 *   x and y are quantized; count: of points; level: 0 for a category, 1 for the coarsest regions; color: null for that of text;
 *   minDiameter: CSS pixels, of the region when its label appears
 * @typedef {{label: Label, block: import("./label_text.js").TextBlock, box: import("./label_boxes.js").Box, alpha: number, isShown: boolean}} DrawnLabel
 * @typedef {{colorScale: import("./color_scale.js").ColorScale, hidden: Set<number>, progress: number, isFinal: boolean,
 *   hasInk: boolean}} LabelView
 *   progress: of the transition, below 1 while points move; isFinal: no label may be half visible, as in a saved image; hasInk: names have
 *   the color of text, since their own would not be readable
 */

export class Labels {
  /**
   * @param {import("./scene.js").Scene} scene
   * @param {import("./camera.js").Camera} camera
   * @param {import("./point_style.js").PointCounter} counter
   * @param {import("./example_labels.js").ExampleLabels} examples
   */
  constructor(scene, camera, counter, examples) {
    this.scene = scene;
    this.camera = camera;
    this.counter = counter;
    this.examples = examples;
    /** @type {import("./regions.js").Region[]} */
    this.regions = [];
    this.isFading = false; // whether another frame is needed
    /** @type {Label[]} */
    this._labels = [];
    /** @type {import("./label_placement.js").PlacedLabel[]} */
    this._placed = [];
    /** @type {Map<string, DrawnLabel>} */
    this._drawn = new Map();
    this._labelsKey = "";
    this._placementKey = "";
    this._positionsVersion = -1;
    this._cost = 0; // milliseconds of the last computation
    this._computedAt = 0;
    this._drawnAt = 0;
    this._lastId = 0;
  }

  /**
   * Draw all labels on the overlay.
   * @param {CanvasRenderingContext2D} context
   * @param {LabelView} view
   * @returns {boolean} whether labels are still appearing or disappearing
   */
  draw(context, view) {
    const began = performance.now();
    this._updateLabels(view);
    this._updatePlacement();
    const passed = view.isFinal || matchMedia("(prefers-reduced-motion: reduce)").matches ? Infinity : Math.min(MAX_STEP_TIME, began - this._drawnAt);
    this._moveNames(view.progress === 1 ? 1 : 1 - Math.exp(-passed / SMOOTHING_TIME));
    const names = [...this._drawn.values()];
    const areExamplesFading = this.examples.update(names.filter(({ isShown }) => isShown).map(({ box }) => box), passed, FADE_IN_TIME, FADE_OUT_TIME);
    const areNamesFading = this._fade(passed);
    limitImageTime(view.isFinal ? Infinity : MAX_IMAGE_TIME);
    const areAllDrawn = [this._drawNames(context, view.hasInk), this.examples.draw(context)].every(Boolean);
    this.isFading = areNamesFading || areExamplesFading || !areAllDrawn;
    this._drawnAt = began;
    this._expose(performance.now() - began);
    return this.isFading;
  }

  /**
   * Compute the labels if points, colors or filters have changed.
   * @param {LabelView} view
   */
  _updateLabels({ colorScale, hidden, progress }) {
    const { scene } = this;
    const key = [scene.colorsVersion, colorScale.name, this.regions.length].join(" ");
    const now = performance.now();
    const isDue = progress === 1 || this._cost < MAX_TIME_FRACTION * (now - this._computedAt);
    if (key === this._labelsKey && (this._positionsVersion === scene.positionsVersion || !isDue)) return;
    const categories = colorScale.namesPlaces ? computeCategoryLabels(scene, colorScale, hidden) : [];
    this._labels = [...this._keepIds(categories), ...computeRegionLabels(this.regions, colorScale, hidden)];
    [this._labelsKey, this._positionsVersion, this._computedAt] = [key, scene.positionsVersion, now];
    this._placementKey = "";
    this._cost = performance.now() - now;
  }

  /**
   * Give each category's label the id of the nearest former one with the same text, so that it moves instead of jumping.
   * @param {Label[]} labels
   */
  _keepIds(labels) {
    const former = this._labels.filter(({ level }) => level === 0);
    return labels.map((label) => {
      const distance = (/** @type {Label} */ other) => Math.hypot(other.x - label.x, other.y - label.y);
      const same = former.filter(({ text }) => text === label.text).sort((one, other) => distance(one) - distance(other));
      const nearest = same.length > 0 && distance(same[0]) < MAX_ID_DISTANCE ? same[0] : null;
      if (nearest !== null) former.splice(former.indexOf(nearest), 1);
      return { ...label, id: nearest?.id ?? `category ${++this._lastId}` };
    });
  }

  /** Choose the labels of this zoom, once for each step. */
  _updatePlacement() {
    const { camera, scene } = this;
    const { left, top, right, bottom } = camera.visibleArea;
    const key = [zoomStep(camera.scale), right - left, bottom - top].join(" ");
    if (key === this._placementKey) return;
    this._placementKey = key;
    const view = { scale: camera.scale, mapArea: this.counter.filledArea(), n: Math.max(1, scene.n), width: right - left, height: bottom - top };
    this._placed = placeLabels(this._labels, scene, view);
  }

  /**
   * Compute where names are on the screen. Near the edges they are moved inward; of two that would then overlap, the less
   * important one gives way.
   * @param {number} fraction of the way that names go in this frame to new positions of their points
   */
  _moveNames(fraction) {
    const { camera, scene, _drawn: drawn } = this;
    const [scaleX, scaleY] = scene.resolution.map((side) => side / QUANTIZATION_LEVELS);
    const area = camera.visibleArea;
    for (const name of drawn.values()) name.isShown = false;
    /** @type {import("./label_boxes.js").Box[]} */
    const occupied = [];
    for (const { label, block } of this._placed) {
      const before = drawn.get(label.id);
      const x = before === undefined ? label.x : before.label.x + (label.x - before.label.x) * fraction;
      const y = before === undefined ? label.y : before.label.y + (label.y - before.label.y) * fraction;
      const [anchorX, anchorY] = camera.toScreen(x * scaleX, y * scaleY);
      const isInside = anchorX >= area.left && anchorX <= area.right && anchorY >= area.top && anchorY <= area.bottom;
      if (!isInside && before === undefined) continue;
      const box = boxInside(area, anchorX, anchorY, block);
      const isShown = isInside && !occupied.some((other) => overlaps(box, other));
      if (isShown) occupied.push(box);
      if (isShown || before !== undefined) drawn.set(label.id, { label: { ...label, x, y }, block, box, alpha: before?.alpha ?? 0, isShown });
    }
    for (const name of drawn.values()) {
      if (!name.isShown) name.box = boxInside(area, ...camera.toScreen(name.label.x * scaleX, name.label.y * scaleY), name.block);
    }
  }

  /**
   * @param {number} passed milliseconds
   * @returns {boolean} whether labels are still appearing or disappearing
   */
  _fade(passed) {
    let isFading = false;
    for (const [id, name] of this._drawn) {
      name.alpha = fadeTowards(name.alpha, name.isShown, passed / FADE_IN_TIME, passed / FADE_OUT_TIME);
      if (name.alpha === 0 && !name.isShown) this._drawn.delete(id);
      else if (name.alpha !== Number(name.isShown)) isFading = true;
    }
    return isFading;
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {boolean} hasInk whether all names have the color of text
   * @returns {boolean} whether there was time for all
   */
  _drawNames(context, hasInk) {
    const { dark } = this.scene;
    let areAllDrawn = true;
    for (const { label, block, box, alpha } of [...this._drawn.values()].reverse()) {
      const color = this._colorOf(label, hasInk);
      context.globalAlpha = alpha;
      areAllDrawn = drawBlock(context, block, box.left, box.top, color, dark) && areAllDrawn;
    }
    context.globalAlpha = 1;
    return areAllDrawn;
  }

  /**
   * @param {Label} label
   * @param {boolean} hasInk
   */
  _colorOf({ color }, hasInk) {
    const { dark } = this.scene;
    return hasInk || color === null ? (dark ? INK.dark : INK.light) : toCss(readableColor(color, dark));
  }

  /**
   * Write what is drawn to the page for tests, and the time for benchmarks.
   * @param {number} spent milliseconds
   */
  _expose(spent) {
    const { dataset } = document.documentElement;
    dataset.labelTime = String(spent);
    if (this.isFading || this.camera.isMoving) return;
    const names = [...this._drawn.values()].map(({ label, box }) => ({
      text: label.text, level: label.level, x: label.x, y: label.y, box, color: this._colorOf(label, false),
    }));
    dataset.labels = JSON.stringify({ names, examples: this.examples.describe() });
  }

  /**
   * Forget what was drawn; labels are switched off.
   * @returns {boolean} whether labels are still disappearing: no
   */
  clear() {
    this._drawn.clear();
    this.examples.clear();
    this.isFading = false;
    document.documentElement.dataset.labels = JSON.stringify({ names: [], examples: [] });
    return false;
  }
}
