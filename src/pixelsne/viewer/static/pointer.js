// The pointer on the map: it moves the camera, highlights points, or selects rows.

import { bindCamera } from "./camera_controls.js";
import { element } from "./dom.js";
import { bindSelectionTools, findRowsWithin } from "./selection.js";

const PICKING_RADIUS = 12; // CSS pixels from the pointer to a point
const CLICK_TOLERANCE = 5; // CSS pixels; a pointer that moves farther drags

/** @param {import("./app.js").App} app */
export function bindPointer(app) {
  const { camera, grid, renderLoop, selection } = app;
  const surface = element("map");
  const startsSelection = bindSelectionTools(surface, () => app.tool, (corners) => {
    renderLoop.lasso = corners;
    renderLoop.draw(true);
  }, (corners, mode) => selection.update(findRowsWithin(grid, camera, corners, app.matches), mode));
  bindCamera(surface, camera, startsSelection);
  const nearest = (/** @type {MouseEvent} */ event, /** @type {number} */ radius) =>
    renderLoop.hasPositions ? grid.findNearest(camera, event.offsetX, event.offsetY, radius) : -1;
  let pressed = [0, 0];
  surface.addEventListener("pointerdown", (event) => {
    pressed = [event.offsetX, event.offsetY];
    app.highlight(-1);
  });
  surface.addEventListener("pointermove", (event) => {
    if (event.buttons === 0) app.highlight(nearest(event, PICKING_RADIUS), "hover");
  });
  surface.addEventListener("pointerleave", () => app.highlight(-1));
  surface.addEventListener("click", (event) => {
    const isDrag = Math.hypot(event.offsetX - pressed[0], event.offsetY - pressed[1]) > CLICK_TOLERANCE;
    if (app.tool === "pan" && !isDrag) app.highlight(nearest(event, 2 * PICKING_RADIUS), "click");
  });
}
