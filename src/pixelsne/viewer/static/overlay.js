// The canvas above the points: density, labels, a ring around the highlighted point, and the lasso.

import { drawDensity } from "./density.js";
import { screenPosition } from "./scene.js";

const RING_RADIUS = 7; // CSS pixels

/**
 * @typedef {{
 *   density: import("./density.js").Density | null,
 *   drawLabels: (context: CanvasRenderingContext2D) => void,
 *   highlighted: number,       // row, -1 for none
 *   lasso: [number, number][], // CSS pixels
 * }} OverlayContent
 */

/**
 * @param {CanvasRenderingContext2D} context
 * @param {import("./scene.js").Scene} scene
 * @param {import("./camera.js").Camera} camera
 * @param {OverlayContent | null} content null to clear the canvas
 */
export function drawOverlay(context, scene, camera, content) {
  const ratio = context.canvas.width / camera.width;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, camera.width, camera.height);
  if (content === null) return;
  if (content.density !== null) drawDensity(context, content.density, camera);
  content.drawLabels(context);
  if (content.highlighted >= 0) drawRing(context, screenPosition(scene, camera, content.highlighted), scene.dark);
  if (content.lasso.length > 1) drawLasso(context, content.lasso, scene.dark);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {[number, number]} center CSS pixels
 * @param {boolean} dark
 */
function drawRing(context, [x, y], dark) {
  context.beginPath();
  context.arc(x, y, RING_RADIUS, 0, 2 * Math.PI);
  context.lineWidth = 2;
  context.strokeStyle = dark ? "#ffffff" : "#000000";
  context.stroke();
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {[number, number][]} corners
 * @param {boolean} dark
 */
function drawLasso(context, corners, dark) {
  context.beginPath();
  for (const [x, y] of corners) context.lineTo(x, y);
  context.closePath();
  context.fillStyle = dark ? "rgba(144, 188, 255, 0.16)" : "rgba(43, 87, 208, 0.12)";
  context.fill();
  context.lineWidth = 1.5;
  context.strokeStyle = dark ? "#90bcff" : "#2b57d0";
  context.stroke();
}
