// The pointer on the map: it moves the camera, highlights points, or selects rows.

import { bindCamera } from "./camera_controls.js";
import { element } from "./dom.js";
import { bindLasso, rowsWithin } from "./selection.js";

const REACH = 12; // CSS pixels from the pointer to a point

/** @param {import("./app.js").App} app */
export function bindPointer(app) {
  const { camera, grid, renderLoop, selection } = app;
  const surface = element("map");
  const isTaken = bindLasso(surface, () => app.tool, (corners) => {
    renderLoop.lasso = corners;
    renderLoop.draw(true);
  }, (corners, mode) => selection.update(rowsWithin(grid, camera, corners, app.matches), mode));
  bindCamera(surface, camera, isTaken);
  const nearest = (/** @type {MouseEvent} */ event, /** @type {number} */ reach) =>
    renderLoop.hasPositions ? grid.nearest(camera, event.offsetX, event.offsetY, reach) : -1;
  surface.addEventListener("pointerdown", () => app.highlight(-1));
  surface.addEventListener("pointermove", (event) => {
    if (event.buttons === 0) app.highlight(nearest(event, REACH), "pointer");
  });
  surface.addEventListener("pointerleave", () => app.highlight(-1));
  surface.addEventListener("click", (event) => {
    if (app.tool === "pan") app.highlight(nearest(event, 2 * REACH), "click");
  });
}
