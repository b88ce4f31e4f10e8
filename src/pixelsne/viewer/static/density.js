// How many points share a pixel, on a logarithmic scale, instead of the points themselves.

import { magma } from "./colors.js";
import { STEPS } from "./scene.js";

const CELL = 2; // CSS pixels across

/**
 * @param {import("./scene.js").Scene} scene
 * @param {import("./camera.js").Camera} camera
 * @returns {OffscreenCanvas} CELL times smaller than the screen
 */
export function densityImage(scene, camera) {
  const width = Math.max(1, Math.ceil(camera.width / CELL));
  const height = Math.max(1, Math.ceil(camera.height / CELL));
  const counts = countsIn(scene, camera, width, height);
  let most = 1;
  for (const count of counts) if (count > most) most = count;
  const image = new ImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const steps = shades(scene.dark);
  const factor = most > 1 ? 255 / Math.log(most) : 255;
  for (let cell = 0; cell < counts.length; cell++) {
    if (counts[cell] > 0) pixels[cell] = steps[Math.min(255, Math.round(Math.log(counts[cell]) * factor))];
  }
  const drawn = new OffscreenCanvas(width, height);
  drawn.getContext("2d")?.putImageData(image, 0, 0);
  return drawn;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {OffscreenCanvas} image
 */
export function drawDensity(context, image) {
  context.imageSmoothingEnabled = false;
  context.drawImage(image, 0, 0, image.width * CELL, image.height * CELL);
}

/**
 * @param {import("./scene.js").Scene} scene
 * @param {import("./camera.js").Camera} camera
 * @param {number} width
 * @param {number} height
 */
function countsIn(scene, camera, width, height) {
  const counts = new Uint32Array(width * height);
  const [x, y] = camera.toScreen(0, 0);
  const scaleX = (scene.resolution[0] * camera.scale) / STEPS / CELL;
  const scaleY = (scene.resolution[1] * camera.scale) / STEPS / CELL;
  for (let row = 0; row < scene.n; row++) {
    if (scene.colors[4 * row + 3] === 0) continue;
    const left = Math.floor(scene.to[2 * row] * scaleX + x / CELL);
    const top = Math.floor(scene.to[2 * row + 1] * scaleY + y / CELL);
    if (left >= 0 && top >= 0 && left < width && top < height) counts[top * width + left]++;
  }
  return counts;
}

/** @param {boolean} dark */
function shades(dark) {
  return Uint32Array.from({ length: 256 }, (_, place) => {
    const share = 0.15 + 0.77 * (place / 255);
    const [red, green, blue] = magma(dark ? share : 1 - share);
    return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  });
}
