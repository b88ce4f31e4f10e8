// Who draws the points: the graphics processor, or where there is none, we ourselves.

import { canvasDrawer } from "./points_canvas.js";
import { webglDrawer } from "./points_webgl.js";

/**
 * @param {HTMLCanvasElement} canvas
 * @param {string | undefined} wanted "webgl" or "canvas"; undefined for what is faster here
 * @returns {import("./scene.js").Drawer}
 */
export function drawerOn(canvas, wanted) {
  const webgl = wanted === "canvas" ? null : webglDrawer(canvas, wanted === "webgl");
  return webgl ?? canvasDrawer(replaced(canvas));
}

/**
 * A canvas that was asked for WebGL gives no other context any more.
 * @param {HTMLCanvasElement} canvas
 */
function replaced(canvas) {
  const other = /** @type {HTMLCanvasElement} */ (canvas.cloneNode());
  canvas.replaceWith(other);
  return other;
}
