// What "the whole map" means: all points, but for the few that lie far from all others.

import { STEPS } from "./scene.js";

const LEFT_OUT = 0.001; // of the points, at each side
const MUCH_LARGER = 1.3; // all points are shown if that takes less than so many times the room
const HOME_MARGIN = 0.03; // of the side, beyond the points that are not left out
const GROWN = 0.03; // of the side; a home that changes less than this stays, so that nothing trembles during a run
const SHRUNK = 0.75;

/**
 * @param {import("./scene.js").Scene} scene
 * @returns {import("./camera.js").Box}
 */
export function boxOfMost(scene) {
  const [across, down] = [0, 1].map((axis) => ends(scene, axis));
  const isWhole = [across, down].every(({ all, most }) => all[1] - all[0] <= MUCH_LARGER * (most[1] - most[0]));
  const [[left, right], [top, bottom]] = [across, down].map(({ all, most }, axis) => {
    const room = HOME_MARGIN * (most[1] - most[0]);
    const [low, high] = isWhole ? all : [Math.max(all[0], most[0] - room), Math.min(all[1], most[1] + room)];
    return [(low * scene.resolution[axis]) / STEPS, (high * scene.resolution[axis]) / STEPS];
  });
  return [left, top, right, bottom];
}

/**
 * The first and last step with points along an axis: of all of them, and of all but a few.
 * @param {import("./scene.js").Scene} scene
 * @param {number} axis
 */
function ends({ to, n }, axis) {
  const counts = new Uint32Array(STEPS);
  for (let index = axis; index < to.length; index += 2) counts[to[index]]++;
  const few = Math.floor(LEFT_OUT * n);
  const [begin, end] = [0, STEPS - 1];
  return {
    all: [walkPast(counts, begin, 1, 0), walkPast(counts, end, -1, 0)],
    most: [walkPast(counts, begin, 1, few), walkPast(counts, end, -1, few)],
  };
}

/**
 * The step at which a walk from one end has met more than `few` points.
 * @param {Uint32Array} counts
 * @param {number} begin
 * @param {1 | -1} direction
 * @param {number} few
 */
function walkPast(counts, begin, direction, few) {
  let [step, met] = [begin, counts[begin]];
  while (met <= few && step + direction in counts) {
    step += direction;
    met += counts[step];
  }
  return step;
}

/**
 * Whether a home has become too small for a box, or much too large.
 * @param {import("./camera.js").Box} home
 * @param {import("./camera.js").Box} box
 */
export function isOutgrown(home, box) {
  const sides = [home[2] - home[0], home[3] - home[1]];
  const isBeyond = [0, 1].some((axis) => {
    const most = GROWN * sides[axis];
    return box[axis] < home[axis] - most || box[axis + 2] > home[axis + 2] + most;
  });
  const shares = [(box[2] - box[0]) / sides[0], (box[3] - box[1]) / sides[1]];
  return isBeyond || Math.max(...shares) < SHRUNK;
}
