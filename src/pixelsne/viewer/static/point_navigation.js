// Keyboard navigation from point to point.

import { QUANTIZATION_LEVELS, VISIBLE } from "./scene.js";

const SIDEWAYS_COST = 2; // a pixel perpendicular to the direction counts as much as two along it

/** @type {Record<string, [number, number]>} */
export const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/**
 * The nearest visible point in a direction; without a row to start from, the one nearest to the center of the view.
 * @param {import("./scene.js").Scene} scene
 * @param {import("./camera.js").Camera} camera
 * @param {number} row -1 for none
 * @param {[number, number]} direction
 * @returns {number} -1 if there is none
 */
export function findNextPoint(scene, camera, row, [directionX, directionY]) {
  const { positions } = scene;
  const scaleX = scene.resolution[0] / QUANTIZATION_LEVELS; // from quantized coordinates to pixels of the map
  const scaleY = scene.resolution[1] / QUANTIZATION_LEVELS;
  const isFirst = row < 0;
  const [x, y] = isFirst ? camera.center : [positions[2 * row] * scaleX, positions[2 * row + 1] * scaleY];
  let [best, smallest] = [-1, Infinity];
  for (let other = 0; other < scene.n; other++) {
    if (scene.colors[4 * other + 3] !== VISIBLE || other === row) continue;
    const [dx, dy] = [positions[2 * other] * scaleX - x, positions[2 * other + 1] * scaleY - y];
    const along = dx * directionX + dy * directionY;
    if (!isFirst && along <= 0) continue;
    const sideways = Math.abs(dx * directionY - dy * directionX);
    const distance = isFirst ? Math.hypot(dx, dy) : along + SIDEWAYS_COST * sideways;
    if (distance < smallest) [best, smallest] = [other, distance];
  }
  return best;
}
