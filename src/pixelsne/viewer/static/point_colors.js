// The color and visibility of every point.

import { DIMMED, VISIBLE } from "./scene.js";

/**
 * Color all points, hide those that the legend's filter excludes, and dim those that are not in all masks.
 * @param {import("./scene.js").Scene} scene whose colors are changed
 * @param {import("./color_scale.js").ColorScale} colorScale
 * @param {import("./legend.js").LegendFilter} filter
 * @param {Uint8Array[]} masks 1 for each row that stays visible: matches of a search, selected rows
 * @returns {number} points that are not hidden
 */
export function colorPoints(scene, colorScale, filter, masks) {
  const { colors } = scene;
  colorScale.paint(new Uint32Array(colors.buffer, colors.byteOffset, scene.n), scene.dark); // sets alpha to VISIBLE
  colorScale.hide(colors, filter);
  let count = 0;
  for (let row = 0; row < scene.n; row++) {
    if (colors[4 * row + 3] !== VISIBLE) continue;
    count++;
    for (const mask of masks) if (!mask[row]) colors[4 * row + 3] = DIMMED;
  }
  scene.colorsVersion++;
  return count;
}
