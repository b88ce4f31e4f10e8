// The choice of a renderer: WebGL, or a canvas where there is no GPU.

import { createCanvasRenderer } from "./renderer_canvas.js";
import { createWebglRenderer } from "./renderer_webgl.js";

/**
 * @typedef {{draw: (scene: import("./scene.js").Scene, camera: import("./camera.js").Camera, progress: number, first: number,
 *   end: number) => void, name: "webgl" | "canvas", canvas: HTMLCanvasElement}} Renderer
 *   draw: draws the points order[first] to order[end - 1]; clears the canvas before point 0
 */

/**
 * @param {HTMLCanvasElement} canvas
 * @param {string | undefined} name "webgl" or "canvas"; undefined for the faster one
 * @returns {Renderer}
 */
export function createRenderer(canvas, name) {
  const webgl = name === "canvas" ? null : createWebglRenderer(canvas, name === "webgl");
  return webgl ?? createCanvasRenderer(replaceCanvas(canvas));
}

/**
 * Replace the canvas by a copy: after a request for WebGL it gives no other context.
 * @param {HTMLCanvasElement} canvas
 */
function replaceCanvas(canvas) {
  const copy = /** @type {HTMLCanvasElement} */ (canvas.cloneNode());
  canvas.replaceWith(copy);
  return copy;
}
