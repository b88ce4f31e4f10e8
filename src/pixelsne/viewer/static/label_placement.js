// Which labels are shown at which zoom. This does not depend on the part of the map that is on the screen, so that no label
// appears or disappears while the map is panned.

import { QUANTIZATION_LEVELS } from "./scene.js";
import { layOutName } from "./label_text.js";

const STEPS_PER_OCTAVE = 4; // of zoom; the labels are the same within a step
const MIN_NAME_SIZE = 12.5; // CSS pixels, of the font
const MAX_NAME_SIZE = 27;
const SIZE_PER_SHARE = 26; // CSS pixels by which the name of all points would be larger than the smallest
const SMALL_SCREEN = 600; // CSS pixels; on narrower ones names are smaller
const SMALL_SCREEN_FACTOR = 0.78;
const SMALL_SCREEN_PHRASES = 2; // of a name that are shown there
const SHORT_NAME = 3; // characters; such names are larger, since they would be lost among points
const SHORT_NAME_FACTOR = 1.3;
const PADDING = 5; // CSS pixels between labels
const REPEAT_DISTANCE = 190; // CSS pixels between two labels with the same text
const GIVE_WAY = 1.1; // a region with named parts loses its label when its diameter is so many times the height of the view

/**
 * @typedef {{label: import("./labels.js").Label, block: import("./label_text.js").TextBlock}} PlacedLabel
 * @typedef {{scale: number, mapArea: number, n: number, width: number, height: number}} PlacementView
 *   scale: CSS pixels per pixel of the map; mapArea: that points fill, pixels of the map; width, height: of the visible area
 */

/**
 * The zoom step of a scale.
 * @param {number} scale
 */
export function zoomStep(scale) {
  return Math.floor(Math.log2(scale) * STEPS_PER_OCTAVE);
}

/**
 * Choose labels that do not overlap anywhere on the map, the most important first.
 * @param {import("./labels.js").Label[]} labels the most important first
 * @param {import("./scene.js").Scene} scene
 * @param {PlacementView} view its scale may be anything within the zoom step
 * @returns {PlacedLabel[]}
 */
export function placeLabels(labels, scene, view) {
  const scale = 2 ** (zoomStep(view.scale) / STEPS_PER_OCTAVE); // the smallest of the step, where labels are closest
  const [scaleX, scaleY] = scene.resolution.map((side) => (side * scale) / QUANTIZATION_LEVELS);
  const screenFactor = Math.min(view.width, view.height) < SMALL_SCREEN ? SMALL_SCREEN_FACTOR : 1;
  /** @type {(PlacedLabel & {x: number, y: number})[]} */
  const placed = [];
  for (const label of labels) {
    if (!isEligible(label, { ...view, scale })) continue;
    const share = Math.sqrt(label.count / view.n);
    const shortFactor = label.text.length <= SHORT_NAME ? SHORT_NAME_FACTOR : 1;
    const size = Math.max(MIN_NAME_SIZE, shortFactor * screenFactor * Math.min(MAX_NAME_SIZE, MIN_NAME_SIZE + SIZE_PER_SHARE * share));
    const text = screenFactor < 1 ? label.text.split(" · ").slice(0, SMALL_SCREEN_PHRASES).join(" · ") : label.text;
    const block = layOutName(text, Math.round(2 * size) / 2, label.level <= 1 ? 700 : 600);
    const [x, y] = [label.x * scaleX, label.y * scaleY];
    const isFree = placed.every((other) => {
      const [dx, dy] = [Math.abs(other.x - x), Math.abs(other.y - y)];
      if (other.label.text === label.text && Math.hypot(dx, dy) < REPEAT_DISTANCE) return false;
      return dx >= (other.block.width + block.width) / 2 + PADDING || dy >= (other.block.height + block.height) / 2 + PADDING;
    });
    if (isFree && block.lines.length > 0) placed.push({ label, block, x, y });
  }
  return placed.map(({ label, block }) => ({ label, block }));
}

/**
 * Whether a label's region is large enough on the screen, and not so large that its parts tell more.
 * @param {import("./labels.js").Label} label
 * @param {PlacementView} view
 */
function isEligible(label, { scale, mapArea, n, width, height }) {
  const diameter = 2 * Math.sqrt(((label.count / n) * mapArea) / Math.PI) * scale;
  return diameter >= label.minDiameter && (!label.hasNamedParts || diameter < GIVE_WAY * Math.min(width, height));
}
