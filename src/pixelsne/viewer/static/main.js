// The entry point: creates the app, binds the controls to it, and restores the state that the URL holds.

import { App } from "./app.js";
import { setColorCount } from "./color_count.js";
import { openSource } from "./data.js";
import { element, input, showError } from "./dom.js";
import { bindDrawer } from "./drawer.js";
import { bindKeyboard } from "./keyboard.js";
import { bindPanel, bindPanelToggle } from "./panel.js";
import { bindPointer } from "./pointer.js";
import { bindRun } from "./run_footer.js";
import { bindToolbar } from "./toolbar.js";
import { readUrlState } from "./url_state.js";
import { bindVisibleArea } from "./visible_area.js";

async function main() {
  const source = openSource();
  const manifest = await source.manifest();
  const state = readUrlState();
  const app = new App(source, manifest, state.renderer);
  document.title = `${manifest.title} · pixelsne`;
  element("title").textContent = element("title").title = manifest.title;
  bindControls(app);
  app.setDark(state.dark ?? manifest.dark ?? app.scene.dark);
  app.setInitialView(state);
  if (!manifest.live) app.setPositions(new Uint16Array(await source.part("positions")), false);
  const color = state.color ?? app.defaultColor;
  if (state.colors !== undefined) setColorCount(state.colors, color);
  await app.colorBy(color);
  await restoreControls(app, state);
  if (manifest.live) bindRun(app);
  document.documentElement.dataset.ready = app.renderLoop.renderer.name;
}

/** @param {App} app */
function bindControls(app) {
  bindPanel(app);
  bindKeyboard(app, bindPanelToggle());
  bindPointer(app);
  bindToolbar(app);
  bindDrawer(app);
  bindVisibleArea(app);
}

/**
 * Set the controls to the state in the URL.
 * @param {App} app
 * @param {import("./url_state.js").UrlState} state
 */
async function restoreControls(app, state) {
  if (state.view === "density") /** @type {HTMLInputElement} */ (document.querySelector("input[value=density]")).click();
  if (state.classes === true) input("density-by-class").click();
  if (state.labels === false) input("labels").click();
  for (const name of /** @type {const} */ (["size", "opacity"])) {
    const value = state[name];
    if (value !== undefined) setRange(name, value);
  }
  const { only = [], hide = [], from = -Infinity, to = Infinity } = state;
  const hasRange = Number.isFinite(from) || Number.isFinite(to);
  if (only.length + hide.length > 0 || hasRange) app.legend.restore(only.length > 0 ? only : hide, only.length > 0, hasRange ? [from, to] : null);
  if (state.search !== undefined) {
    input("search").value = state.search;
    await app.search(state.search);
  }
}

/**
 * @param {"size" | "opacity"} name
 * @param {number} value
 */
function setRange(name, value) {
  input(name).value = String(value);
  input(name).dispatchEvent(new Event("input"));
}

main().catch(showError);
