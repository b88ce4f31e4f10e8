// The colors of all points and how much of each is seen: nothing of what is hidden, a trace of what is put back.

import { paintPoints } from "./colors.js";
import { FAINT, SHOWN } from "./scene.js";

/** Of maps without colors. */
const PLAIN_ON_DARK = /** @type {import("./colors.js").Rgb} */ ([144, 188, 255]);
const PLAIN_ON_LIGHT = /** @type {import("./colors.js").Rgb} */ ([55, 100, 222]);

/**
 * @param {import("./scene.js").Scene} scene whose colors are changed
 * @param {import("./colors.js").Coloring} coloring
 * @param {import("./data.js").Column | null} column that it colors by
 * @param {import("./legend.js").Shown} shown
 * @param {Uint8Array[]} fronts 1 for each row that stays in front; what lacks in one of them is put back
 * @returns {number} points that are not hidden
 */
export function paintScene(scene, coloring, column, { hidden, range }, fronts) {
  paintPoints(scene.colors, coloring, column, scene.dark ? PLAIN_ON_DARK : PLAIN_ON_LIGHT);
  const { group } = coloring;
  let count = 0;
  for (let row = 0; row < scene.n; row++) {
    let strength = SHOWN;
    if (group !== null && hidden.has(group[row])) strength = 0;
    if (range !== null && column !== null && !isBetween(column.numbers[row], range)) strength = 0;
    if (strength > 0) count++;
    for (const front of fronts) if (strength > 0 && !front[row]) strength = FAINT;
    scene.colors[4 * row + 3] = strength;
  }
  scene.colorsVersion++;
  return count;
}

/**
 * No range has NaN in it.
 * @param {number} number
 * @param {[number, number]} range
 */
function isBetween(number, [low, high]) {
  return number >= low && number <= high;
}
