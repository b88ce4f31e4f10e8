// How many points share a pixel, on a logarithmic scale, instead of the points themselves.

import { magma } from "./colors.js";
import { SHOWN, STEPS } from "./scene.js";

const CELL = 2; // CSS pixels across
const PUT_BACK = { light: 0xffececec, dark: 0xff26262c }; // where there are only points that a search or a selection put back

/** @typedef {{image: OffscreenCanvas, most: number}} Density most: points in the fullest cell */

/**
 * @param {import("./scene.js").Scene} scene
 * @param {import("./camera.js").Camera} camera
 * @returns {Density} an image CELL times smaller than the screen
 */
export function densityOf(scene, camera) {
  const width = Math.max(1, Math.ceil(camera.width / CELL));
  const height = Math.max(1, Math.ceil(camera.height / CELL));
  const { counts, putBack } = countPoints(scene, camera, width, height);
  let most = 1;
  for (const count of counts) if (count > most) most = count;
  const image = new ImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const steps = shades(scene.dark);
  const factor = most > 1 ? 255 / Math.log(most) : 255;
  for (let cell = 0; cell < counts.length; cell++) {
    if (putBack[cell]) pixels[cell] = scene.dark ? PUT_BACK.dark : PUT_BACK.light;
    if (counts[cell] > 0) pixels[cell] = steps[Math.min(255, Math.round(Math.log(counts[cell]) * factor))];
  }
  const drawn = new OffscreenCanvas(width, height);
  drawn.getContext("2d")?.putImageData(image, 0, 0);
  return { image: drawn, most };
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Density} density
 */
export function drawDensity(context, { image }) {
  context.imageSmoothingEnabled = false;
  context.drawImage(image, 0, 0, image.width * CELL, image.height * CELL);
}

/**
 * How many shown points each cell has, and whether it has any that were put back.
 * @param {import("./scene.js").Scene} scene
 * @param {import("./camera.js").Camera} camera
 * @param {number} width
 * @param {number} height
 */
function countPoints(scene, camera, width, height) {
  const counts = new Uint32Array(width * height);
  const putBack = new Uint8Array(width * height);
  const [x, y] = camera.toScreen(0, 0);
  const scaleX = (scene.resolution[0] * camera.scale) / STEPS / CELL;
  const scaleY = (scene.resolution[1] * camera.scale) / STEPS / CELL;
  for (let row = 0; row < scene.n; row++) {
    const strength = scene.colors[4 * row + 3];
    if (strength === 0) continue;
    const left = Math.floor(scene.to[2 * row] * scaleX + x / CELL);
    const top = Math.floor(scene.to[2 * row + 1] * scaleY + y / CELL);
    if (left < 0 || top < 0 || left >= width || top >= height) continue;
    if (strength === SHOWN) counts[top * width + left]++;
    else putBack[top * width + left] = 1;
  }
  return { counts, putBack };
}

/**
 * The color of a count.
 * @param {number} share 0 for a single point, 1 for the fullest cell
 * @param {boolean} dark
 */
export function shadeOf(share, dark) {
  const along = 0.15 + 0.77 * share;
  return magma(dark ? along : 1 - along);
}

/** @param {boolean} dark */
function shades(dark) {
  return Uint32Array.from({ length: 256 }, (_, step) => {
    const [red, green, blue] = shadeOf(step / 255, dark);
    return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  });
}
