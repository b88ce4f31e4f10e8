// The renderer without a GPU: it blends pixels itself.

import { QUANTIZATION_LEVELS, sizeOnScreen } from "./scene.js";

/**
 * Return the pixels that a point covers, relative to its center, and their coverage from 0 to 256.
 * @param {number} size diameter, pixels
 */
function makeStamp(size) {
  if (size < 1.5) return { dx: [0], dy: [0], coverage: [256] };
  if (size < 2.6) {
    const coverage = Math.min(256, Math.round((256 * Math.PI * size * size) / 4 / 4)); // the same total, in a square of four pixels
    return { dx: [0, 1, 0, 1], dy: [0, 0, 1, 1], coverage: [coverage, coverage, coverage, coverage] };
  }
  const radius = Math.ceil(size / 2);
  const stamp = { dx: /** @type {number[]} */ ([]), dy: /** @type {number[]} */ ([]), coverage: /** @type {number[]} */ ([]) };
  for (let dy = -radius; dy <= radius; dy++) {
    for (let dx = -radius; dx <= radius; dx++) {
      const coverage = Math.min(1, Math.max(0, size / 2 + 0.5 - Math.hypot(dx, dy)));
      if (coverage > 0.02) {
        stamp.dx.push(dx);
        stamp.dy.push(dy);
        stamp.coverage.push(Math.round(256 * coverage));
      }
    }
  }
  return stamp;
}

/**
 * @param {HTMLCanvasElement} canvas
 * @returns {import("./renderer.js").Renderer}
 */
export function createCanvasRenderer(canvas) {
  const context = canvas.getContext("2d", { alpha: false });
  if (context === null) throw new Error("this browser cannot draw on a canvas");
  /** @type {ImageData | null} */
  let image = null;

  return {
    name: "canvas",
    canvas,
    draw(scene, camera, progress, first, end) {
      const { width, height } = canvas;
      if (image === null || image.width !== width || image.height !== height) image = context.createImageData(width, height);
      const pixels = new Uint32Array(image.data.buffer);
      if (first === 0) pixels.fill(scene.dark ? 0xff171212 : 0xffffffff);
      const ratio = width / camera.width;
      const stamp = makeStamp(sizeOnScreen(scene, camera) * ratio);
      blendPoints(pixels, width, height, scene, camera, ratio, progress, first, end, stamp);
      context.putImageData(image, 0, 0);
    },
  };
}

/**
 * Draw the points order[first] to order[end - 1].
 * @param {Uint32Array} pixels
 * @param {number} width
 * @param {number} height
 * @param {import("./scene.js").Scene} scene
 * @param {import("./camera.js").Camera} camera
 * @param {number} ratio device pixels per CSS pixel
 * @param {number} progress
 * @param {number} first
 * @param {number} end
 * @param {{dx: number[], dy: number[], coverage: number[]}} stamp
 */
function blendPoints(pixels, width, height, scene, camera, ratio, progress, first, end, stamp) {
  const [x, y] = camera.toScreen(0, 0);
  const [mapWidth, mapHeight] = scene.resolution;
  const [scaleX, scaleY] = [(mapWidth * camera.scale * ratio) / QUANTIZATION_LEVELS, (mapHeight * camera.scale * ratio) / QUANTIZATION_LEVELS];
  const [shiftX, shiftY] = [x * ratio, y * ratio];
  const colors = new Uint32Array(scene.colors.buffer, scene.colors.byteOffset, scene.n);
  const opacity = Math.round(scene.opacity * 256);
  const { previousPositions: from, positions: to, order } = scene;
  const count = stamp.coverage.length;
  for (let drawn = first; drawn < end; drawn++) {
    const row = order[drawn];
    const color = colors[row];
    const visible = color >>> 24;
    if (visible === 0) continue;
    const quantizedX = progress === 1 ? to[2 * row] : from[2 * row] + (to[2 * row] - from[2 * row]) * progress;
    const quantizedY = progress === 1 ? to[2 * row + 1] : from[2 * row + 1] + (to[2 * row + 1] - from[2 * row + 1]) * progress;
    const left = (quantizedX * scaleX + shiftX) | 0;
    const top = (quantizedY * scaleY + shiftY) | 0;
    if (left < -20 || top < -20 || left >= width + 20 || top >= height + 20) continue;
    const alpha = (opacity * (visible + 1)) >> 8;
    for (let part = 0; part < count; part++) {
      const px = left + stamp.dx[part];
      const py = top + stamp.dy[part];
      if (px < 0 || py < 0 || px >= width || py >= height) continue;
      const index = py * width + px;
      const background = pixels[index];
      const weight = (alpha * stamp.coverage[part]) >> 8;
      // One multiplication blends red and blue, another one green.
      const redBlue = ((background & 0xff00ff) * (256 - weight) + (color & 0xff00ff) * weight) >>> 8;
      const green = ((background & 0x00ff00) * (256 - weight) + (color & 0x00ff00) * weight) >>> 8;
      pixels[index] = (0xff000000 | (redBlue & 0xff00ff) | (green & 0x00ff00)) >>> 0;
    }
  }
}
