// What a pointer does on the map: it moves it, points at rows, or chooses them.

import { holdCamera } from "./camera.js";
import { element } from "./elements.js";
import { holdLasso, rowsWithin } from "./selection.js";

const REACH = 12; // CSS pixels from the pointer to a point it means

/** @param {import("./app.js").App} app */
export function holdPointer(app) {
  const { camera, grid, picture, selection } = app;
  const surface = element("map");
  const isTaken = holdLasso(surface, () => app.tool, (line) => {
    picture.lasso = line;
    picture.draw(true);
  }, (line, how) => selection.take(rowsWithin(grid, camera, line, app.matches), how));
  holdCamera(surface, camera, isTaken);
  const nearest = (/** @type {MouseEvent} */ event, /** @type {number} */ reach) =>
    picture.hasPlaces ? grid.nearest(camera, event.offsetX, event.offsetY, reach) : -1;
  surface.addEventListener("pointerdown", () => app.point(-1));
  surface.addEventListener("pointermove", (event) => {
    if (event.buttons === 0) app.point(nearest(event, REACH), "pointer");
  });
  surface.addEventListener("pointerleave", () => app.point(-1));
  surface.addEventListener("click", (event) => {
    if (app.tool === "pan") app.point(nearest(event, 2 * REACH), "click");
  });
}
