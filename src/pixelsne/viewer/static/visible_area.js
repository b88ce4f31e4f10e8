// The visible area: the part of the screen that toolbar, panel, drawer and footer do not cover.

import { element } from "./dom.js";

const MIN_HEIGHT = 120; // CSS pixels; if less would remain, the map extends behind the panel
const PANEL_GAP = 12; // CSS pixels around the panel

/** @param {string} id */
const heightOf = (id) => (element(id).hidden ? 0 : element(id).offsetHeight);

/**
 * Measure the visible area, and pass the heights at the bottom to the style sheet.
 * @returns {import("./camera.js").Area}
 */
function measureVisibleArea() {
  const { style } = document.documentElement;
  const surface = element("map");
  const footer = heightOf("run-footer");
  const covered = footer + heightOf("drawer");
  style.setProperty("--footer-height", `${footer}px`);
  style.setProperty("--bottom-height", `${covered}px`);
  const panel = element("panel");
  const isSheet = panel.offsetWidth > surface.clientWidth / 2; // on a phone the panel is at the bottom
  const area = { left: 0, top: element("toolbar").offsetHeight, right: surface.clientWidth, bottom: surface.clientHeight - covered };
  if (panel.hidden) return area;
  if (!isSheet) return { ...area, right: panel.offsetLeft - PANEL_GAP };
  const bottom = Math.min(area.bottom, panel.offsetTop - PANEL_GAP);
  return bottom - area.top < MIN_HEIGHT ? area : { ...area, bottom };
}

/**
 * Resize the app whenever a control appears, disappears or changes its size.
 * @param {import("./app.js").App} app
 */
export function bindVisibleArea(app) {
  const surface = element("map");
  const fit = () => app.resize(surface.clientWidth, surface.clientHeight, measureVisibleArea());
  const observer = new ResizeObserver(fit);
  for (const id of ["map", "toolbar", "panel", "run-footer", "drawer"]) observer.observe(element(id));
  fit();
}
