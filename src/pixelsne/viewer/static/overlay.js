// What lies over the points: density, names of categories, a ring around the row that is pointed at, the lasso.

import { drawDensity } from "./density.js";
import { drawLabels } from "./labels.js";
import { placeOnScreen } from "./scene.js";

const RING = 7; // CSS pixels from its middle

/**
 * @typedef {{
 *   density: import("./density.js").Density | null,
 *   labels: import("./labels.js").Label[],
 *   pointed: number,           // a row, -1 for none
 *   lasso: [number, number][], // CSS pixels
 * }} Over
 */

/**
 * @param {CanvasRenderingContext2D} context
 * @param {import("./scene.js").Scene} scene
 * @param {import("./camera.js").Camera} camera
 * @param {Over | null} over null for nothing
 */
export function drawOverlay(context, scene, camera, over) {
  const ratio = context.canvas.width / camera.width;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, camera.width, camera.height);
  if (over === null) return;
  if (over.density !== null) drawDensity(context, over.density);
  drawLabels(context, over.labels, scene, camera);
  if (over.pointed >= 0) drawRing(context, placeOnScreen(scene, camera, over.pointed), scene.dark);
  if (over.lasso.length > 1) drawLasso(context, over.lasso, scene.dark);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {[number, number]} place CSS pixels
 * @param {boolean} dark
 */
function drawRing(context, [x, y], dark) {
  context.beginPath();
  context.arc(x, y, RING, 0, 2 * Math.PI);
  context.lineWidth = 2;
  context.strokeStyle = dark ? "#ffffff" : "#000000";
  context.stroke();
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {[number, number][]} line
 * @param {boolean} dark
 */
function drawLasso(context, line, dark) {
  context.beginPath();
  for (const [x, y] of line) context.lineTo(x, y);
  context.closePath();
  context.fillStyle = dark ? "rgba(144, 188, 255, 0.16)" : "rgba(43, 87, 208, 0.12)";
  context.fill();
  context.lineWidth = 1.5;
  context.strokeStyle = dark ? "#90bcff" : "#2b57d0";
  context.stroke();
}
