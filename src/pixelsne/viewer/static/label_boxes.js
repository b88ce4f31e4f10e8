// Where labels are on the screen, and how visible they are.

const LABEL_MARGIN = 6; // CSS pixels between a label and the edge of the visible area

/** @typedef {{left: number, top: number, right: number, bottom: number}} Box CSS pixels */

/**
 * @param {number} alpha
 * @param {boolean} isShown
 * @param {number} appears part of the whole way, in this frame
 * @param {number} disappears
 */
export function fadeTowards(alpha, isShown, appears, disappears) {
  return isShown ? Math.min(1, alpha + appears) : Math.max(0, alpha - disappears);
}

/**
 * @param {Box} one
 * @param {Box} other
 */
export function overlaps(one, other) {
  return one.left < other.right && one.right > other.left && one.top < other.bottom && one.bottom > other.top;
}

/**
 * The box of a block around a position, moved into the area.
 * @param {import("./camera.js").Area} area
 * @param {number} x CSS pixels
 * @param {number} y
 * @param {import("./label_text.js").TextBlock} block
 * @returns {Box}
 */
export function boxInside(area, x, y, { width, height }) {
  const left = clampTo(x - width / 2, area.left + LABEL_MARGIN, area.right - width - LABEL_MARGIN);
  const top = clampTo(y - height / 2, area.top + LABEL_MARGIN, area.bottom - height - LABEL_MARGIN);
  return { left, top, right: left + width, bottom: top + height };
}

/**
 * @param {number} value
 * @param {number} low
 * @param {number} high if it is below `low`, there is no space, and the mean of both is returned
 */
function clampTo(value, low, high) {
  return low > high ? (low + high) / 2 : Math.min(Math.max(value, low), high);
}
