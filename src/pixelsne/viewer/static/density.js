// The density view: the number of points per cell on a logarithmic color scale.

import { magma, toPixel } from "./colors.js";
import { QUANTIZATION_LEVELS, VISIBLE } from "./scene.js";

const DENSITY_CELL = 2; // CSS pixels per side
const DIMMED_CELL_COLOR = { light: 0xffececec, dark: 0xff26262c }; // cells with dimmed points only

/** @typedef {{image: OffscreenCanvas, maxCount: number}} Density maxCount: points in the fullest cell */

/**
 * @param {import("./scene.js").Scene} scene
 * @param {import("./camera.js").Camera} camera
 * @returns {Density} an image DENSITY_CELL times smaller than the screen
 */
export function computeDensity(scene, camera) {
  const width = Math.max(1, Math.ceil(camera.width / DENSITY_CELL));
  const height = Math.max(1, Math.ceil(camera.height / DENSITY_CELL));
  const { counts, hasDimmed } = countPoints(scene, camera, width, height);
  let maxCount = 1;
  for (const count of counts) if (count > maxCount) maxCount = count;
  const image = new ImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const shades = Uint32Array.from({ length: 256 }, (_, step) => toPixel(densityColor(step / 255, scene.dark)));
  const factor = maxCount > 1 ? 255 / Math.log(maxCount) : 255;
  for (let cell = 0; cell < counts.length; cell++) {
    if (hasDimmed[cell]) pixels[cell] = scene.dark ? DIMMED_CELL_COLOR.dark : DIMMED_CELL_COLOR.light;
    if (counts[cell] > 0) pixels[cell] = shades[Math.min(255, Math.round(Math.log(counts[cell]) * factor))];
  }
  const canvas = new OffscreenCanvas(width, height);
  canvas.getContext("2d")?.putImageData(image, 0, 0);
  return { image: canvas, maxCount };
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Density} density
 */
export function drawDensity(context, { image }) {
  context.imageSmoothingEnabled = false;
  context.drawImage(image, 0, 0, image.width * DENSITY_CELL, image.height * DENSITY_CELL);
}

/**
 * Count the visible points of each cell, and mark cells with dimmed points.
 * @param {import("./scene.js").Scene} scene
 * @param {import("./camera.js").Camera} camera
 * @param {number} width cells
 * @param {number} height
 */
function countPoints(scene, camera, width, height) {
  const counts = new Uint32Array(width * height);
  const hasDimmed = new Uint8Array(width * height);
  const [x, y] = camera.toScreen(0, 0);
  const scaleX = (scene.resolution[0] * camera.scale) / QUANTIZATION_LEVELS / DENSITY_CELL;
  const scaleY = (scene.resolution[1] * camera.scale) / QUANTIZATION_LEVELS / DENSITY_CELL;
  for (let row = 0; row < scene.n; row++) {
    const alpha = scene.colors[4 * row + 3];
    if (alpha === 0) continue;
    const left = Math.floor(scene.positions[2 * row] * scaleX + x / DENSITY_CELL);
    const top = Math.floor(scene.positions[2 * row + 1] * scaleY + y / DENSITY_CELL);
    if (left < 0 || top < 0 || left >= width || top >= height) continue;
    if (alpha === VISIBLE) counts[top * width + left]++;
    else hasDimmed[top * width + left] = 1;
  }
  return { counts, hasDimmed };
}

/**
 * @param {number} fraction 0 for a single point, 1 for the fullest cell
 * @param {boolean} dark
 */
export function densityColor(fraction, dark) {
  const position = 0.15 + 0.77 * fraction;
  return magma(dark ? position : 1 - position);
}
