// The part of the screen that bar, panel, drawer and footer leave to the map.

import { element } from "./elements.js";

const LEAST_HEIGHT = 120; // CSS pixels; where less would be left, the map goes on below the panel
const PANEL_GAP = 12; // CSS pixels around the panel

/** @param {string} id */
const heightOf = (id) => (element(id).hidden ? 0 : element(id).offsetHeight);

/**
 * Measures the room, and tells the style sheet how high the footer is, and the drawer on it.
 * @returns {import("./camera.js").Room}
 */
function measureRoom() {
  const style = document.documentElement.style;
  const surface = element("map");
  const footer = heightOf("live");
  const floor = footer + heightOf("drawer");
  style.setProperty("--footer", `${footer}px`);
  style.setProperty("--floor", `${floor}px`);
  const panel = element("panel");
  const isSheet = panel.offsetWidth > surface.clientWidth / 2; // on a phone it lies at the bottom
  const room = { left: 0, top: element("bar").offsetHeight, right: surface.clientWidth, bottom: surface.clientHeight - floor };
  if (panel.hidden) return room;
  if (!isSheet) return { ...room, right: panel.offsetLeft - PANEL_GAP };
  const bottom = Math.min(room.bottom, panel.offsetTop - PANEL_GAP);
  return bottom - room.top < LEAST_HEIGHT ? room : { ...room, bottom };
}

/**
 * Whenever something comes, goes or changes its size.
 * @param {import("./app.js").App} app
 */
export function bindRoom(app) {
  const surface = element("map");
  const fit = () => app.resize(surface.clientWidth, surface.clientHeight, measureRoom());
  const observer = new ResizeObserver(fit);
  for (const id of ["map", "bar", "panel", "live", "drawer"]) observer.observe(element(id));
  fit();
}
