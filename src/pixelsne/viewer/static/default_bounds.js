// The bounds of the default view: all points except the few that lie far from all others.

import { QUANTIZATION_LEVELS } from "./scene.js";

const OUTLIERS = 0.001; // share of the points that may be outside, at each side
const MUCH_LARGER = 1.3; // if the bounds of all points are not so many times larger, all points are inside
const BOUNDS_MARGIN = 0.03; // of the side, around the points that are not outliers
const GROWN = 0.03; // of the side; smaller changes keep the bounds, so that the view does not jitter during a run
const SHRUNK = 0.75;

/**
 * @param {import("./scene.js").Scene} scene
 * @returns {import("./camera.js").Bounds}
 */
export function defaultBoundsOf(scene) {
  const [across, down] = [0, 1].map((axis) => rangesOf(scene, axis));
  const includesAll = [across, down].every(({ all, most }) => all[1] - all[0] <= MUCH_LARGER * (most[1] - most[0]));
  const [[left, right], [top, bottom]] = [across, down].map(({ all, most }, axis) => {
    const margin = BOUNDS_MARGIN * (most[1] - most[0]);
    const [low, high] = includesAll ? all : [Math.max(all[0], most[0] - margin), Math.min(all[1], most[1] + margin)];
    return [(low * scene.resolution[axis]) / QUANTIZATION_LEVELS, (high * scene.resolution[axis]) / QUANTIZATION_LEVELS];
  });
  return [left, top, right, bottom];
}

/**
 * The ranges of all points and of all but the outliers along an axis, quantized.
 * @param {import("./scene.js").Scene} scene
 * @param {number} axis
 */
function rangesOf({ positions, n }, axis) {
  const counts = new Uint32Array(QUANTIZATION_LEVELS);
  for (let index = axis; index < positions.length; index += 2) counts[positions[index]]++;
  const few = Math.floor(OUTLIERS * n);
  const last = QUANTIZATION_LEVELS - 1;
  return {
    all: [stepBeyond(counts, 0, 1, 0), stepBeyond(counts, last, -1, 0)],
    most: [stepBeyond(counts, 0, 1, few), stepBeyond(counts, last, -1, few)],
  };
}

/**
 * The first step from one end at which more than `few` points have been counted.
 * @param {Uint32Array} counts
 * @param {number} begin
 * @param {1 | -1} direction
 * @param {number} few
 */
function stepBeyond(counts, begin, direction, few) {
  let [step, passed] = [begin, counts[begin]];
  while (passed <= few && step + direction in counts) {
    step += direction;
    passed += counts[step];
  }
  return step;
}

/**
 * Whether bounds have become too small for new ones, or much too large.
 * @param {import("./camera.js").Bounds} old
 * @param {import("./camera.js").Bounds} bounds
 */
export function isOutdated(old, bounds) {
  const sides = [old[2] - old[0], old[3] - old[1]];
  const isOutside = [0, 1].some((axis) => {
    const tolerance = GROWN * sides[axis];
    return bounds[axis] < old[axis] - tolerance || bounds[axis + 2] > old[axis + 2] + tolerance;
  });
  const shares = [(bounds[2] - bounds[0]) / sides[0], (bounds[3] - bounds[1]) / sides[1]];
  return isOutside || Math.max(...shares) < SHRUNK;
}
