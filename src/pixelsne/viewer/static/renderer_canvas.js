// The renderer without a GPU: it blends pixels itself.

import { QUANTIZATION_LEVELS } from "./scene.js";

const SUBPIXELS = 4; // positions within a pixel, along each axis, for which points have a stamp of their own
const MIN_COVERAGE = 0.02; // of a pixel that is drawn
const OFF_SCREEN = 48; // pixels by which a center may be outside of the screen and the point still be visible

/** @typedef {{dx: Int32Array, dy: Int32Array, coverage: Int32Array}} Stamp */

/**
 * Return the pixels that round points cover, for each position of a center within its pixel. A stamp has the pixels
 * relative to that one, and their coverage from 0 to 256.
 * @param {number} size diameter, pixels
 * @returns {Stamp[]}
 */
function makeStamps(size) {
  const centers = Array.from({ length: SUBPIXELS ** 2 }, (_, index) =>
    [index % SUBPIXELS, Math.floor(index / SUBPIXELS)].map((part) => (part + 0.5) / SUBPIXELS - 0.5));
  const radius = Math.ceil(size / 2 + 0.5);
  const sides = Array.from({ length: 2 * radius + 1 }, (_, index) => index - radius);
  return centers.map(([x, y]) => {
    const pixels = sides.flatMap((dy) => sides.map((dx) => [dx, dy, Math.min(1, size / 2 + 0.5 - Math.hypot(dx - x, dy - y))]));
    const covered = pixels.filter(([, , coverage]) => coverage > MIN_COVERAGE);
    return {
      dx: Int32Array.from(covered, ([dx]) => dx),
      dy: Int32Array.from(covered, ([, dy]) => dy),
      coverage: Int32Array.from(covered, ([, , coverage]) => Math.round(256 * coverage)),
    };
  });
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
      const stamps = makeStamps(scene.style.diameter * ratio);
      blendPoints(pixels, width, height, scene, camera, ratio, progress, first, end, stamps);
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
 * @param {Stamp[]} stamps
 */
function blendPoints(pixels, width, height, scene, camera, ratio, progress, first, end, stamps) {
  const [x, y] = camera.toScreen(0, 0);
  const [mapWidth, mapHeight] = scene.resolution;
  const [scaleX, scaleY] = [(mapWidth * camera.scale * ratio) / QUANTIZATION_LEVELS, (mapHeight * camera.scale * ratio) / QUANTIZATION_LEVELS];
  const [shiftX, shiftY] = [x * ratio, y * ratio];
  const colors = new Uint32Array(scene.colors.buffer, scene.colors.byteOffset, scene.n);
  const opacity = Math.round(scene.style.opacity * 256);
  const { previousPositions: from, positions: to, order } = scene;
  for (let drawn = first; drawn < end; drawn++) {
    const row = order[drawn];
    const color = colors[row];
    const visible = color >>> 24;
    if (visible === 0) continue;
    const quantizedX = progress === 1 ? to[2 * row] : from[2 * row] + (to[2 * row] - from[2 * row]) * progress;
    const quantizedY = progress === 1 ? to[2 * row + 1] : from[2 * row + 1] + (to[2 * row + 1] - from[2 * row + 1]) * progress;
    const pointX = quantizedX * scaleX + shiftX;
    const pointY = quantizedY * scaleY + shiftY;
    if (!(pointX >= -OFF_SCREEN && pointY >= -OFF_SCREEN && pointX < width + OFF_SCREEN && pointY < height + OFF_SCREEN)) continue;
    const left = Math.floor(pointX);
    const top = Math.floor(pointY);
    const { dx, dy, coverage } = stamps[(((pointY - top) * SUBPIXELS) | 0) * SUBPIXELS + (((pointX - left) * SUBPIXELS) | 0)];
    const alpha = (opacity * (visible + 1)) >> 8;
    for (let part = 0; part < coverage.length; part++) {
      const px = left + dx[part];
      const py = top + dy[part];
      if (px < 0 || py < 0 || px >= width || py >= height) continue;
      const index = py * width + px;
      const background = pixels[index];
      const weight = (alpha * coverage[part]) >> 8;
      // One multiplication blends red and blue, another one green.
      const redBlue = ((background & 0xff00ff) * (256 - weight) + (color & 0xff00ff) * weight) >>> 8;
      const green = ((background & 0x00ff00) * (256 - weight) + (color & 0x00ff00) * weight) >>> 8;
      pixels[index] = (0xff000000 | (redBlue & 0xff00ff) | (green & 0x00ff00)) >>> 0;
    }
  }
}
