// The bounds of the default view: all points except the few that lie far from all others.

import { QUANTIZATION_LEVELS } from "./scene.js";

const MAX_OUTLIER_FRACTION = 0.001; // of the points, at each side, that may be outside of the bounds
const MAX_EXTENT_RATIO = 1.3; // bounds of all points, relative to those without outliers; up to this ratio all points are inside
const BOUNDS_MARGIN = 0.03; // fraction of the side, around the points that are not outliers
const GROWTH_TOLERANCE = 0.03; // fraction of the side by which points may leave the bounds; so the view does not jitter during a run
const MIN_SIZE_RATIO = 0.75; // bounds are replaced if new ones are smaller than this, relative to them

/**
 * @param {import("./scene.js").Scene} scene
 * @returns {import("./camera.js").Bounds}
 */
export function computeDefaultBounds(scene) {
  const ranges = [0, 1].map((axis) => computeRanges(scene, axis));
  const includesAll = ranges.every(({ all, inliers }) => all[1] - all[0] <= MAX_EXTENT_RATIO * (inliers[1] - inliers[0]));
  const [[left, right], [top, bottom]] = ranges.map(({ all, inliers }, axis) => {
    const margin = BOUNDS_MARGIN * (inliers[1] - inliers[0]);
    const [low, high] = includesAll ? all : [Math.max(all[0], inliers[0] - margin), Math.min(all[1], inliers[1] + margin)];
    return [(low * scene.resolution[axis]) / QUANTIZATION_LEVELS, (high * scene.resolution[axis]) / QUANTIZATION_LEVELS];
  });
  return [left, top, right, bottom];
}

/**
 * Compute the range of all points along an axis, and that of all points but the outliers, quantized.
 * @param {import("./scene.js").Scene} scene
 * @param {number} axis
 */
function computeRanges({ positions, n }, axis) {
  const counts = new Uint32Array(QUANTIZATION_LEVELS);
  for (let index = axis; index < positions.length; index += 2) counts[positions[index]]++;
  const maxOutliers = Math.floor(MAX_OUTLIER_FRACTION * n);
  const last = QUANTIZATION_LEVELS - 1;
  return {
    all: [coordinateAfter(counts, 0, 1, 0), coordinateAfter(counts, last, -1, 0)],
    inliers: [coordinateAfter(counts, 0, 1, maxOutliers), coordinateAfter(counts, last, -1, maxOutliers)],
  };
}

/**
 * Count points from one end. Return the first coordinate at which there are more than `skipped`.
 * @param {Uint32Array} counts
 * @param {number} begin
 * @param {1 | -1} direction
 * @param {number} skipped
 */
function coordinateAfter(counts, begin, direction, skipped) {
  let [coordinate, counted] = [begin, counts[begin]];
  while (counted <= skipped && coordinate + direction in counts) {
    coordinate += direction;
    counted += counts[coordinate];
  }
  return coordinate;
}

/**
 * Return whether the current bounds are too small for the new ones, or much too large.
 * @param {import("./camera.js").Bounds} current
 * @param {import("./camera.js").Bounds} bounds
 */
export function isOutdated(current, bounds) {
  const sides = [current[2] - current[0], current[3] - current[1]];
  const isOutside = [0, 1].some((axis) => {
    const tolerance = GROWTH_TOLERANCE * sides[axis];
    return bounds[axis] < current[axis] - tolerance || bounds[axis + 2] > current[axis + 2] + tolerance;
  });
  const ratios = [(bounds[2] - bounds[0]) / sides[0], (bounds[3] - bounds[1]) / sides[1]];
  return isOutside || Math.max(...ratios) < MIN_SIZE_RATIO;
}
