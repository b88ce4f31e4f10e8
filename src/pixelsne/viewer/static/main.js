// The page: brings the parts together, and the view back that the address tells of.

import { readAddress } from "./address.js";
import { App } from "./app.js";
import { holdBar } from "./bar.js";
import { setColorCount } from "./color_count.js";
import { openSource } from "./data.js";
import { holdDrawer } from "./drawer.js";
import { complain, element, input } from "./elements.js";
import { holdKeys } from "./keys.js";
import { foldPanel, holdPanel } from "./panel.js";
import { holdPointer } from "./pointer.js";
import { bindRoom } from "./room.js";
import { followRun } from "./run.js";
import { fittingSize } from "./scene.js";

async function main() {
  const source = openSource();
  const manifest = await source.manifest();
  const address = readAddress();
  const app = new App(source, manifest, address.draw);
  document.title = `${manifest.title} · pixelsne`;
  element("title").textContent = element("title").title = manifest.title;
  hold(app);
  app.setDark(address.dark ?? manifest.dark ?? app.scene.dark);
  if (!manifest.live) app.take(new Uint16Array(await source.part("positions")), false);
  const color = address.color ?? manifest.color ?? "";
  if (address.colors !== undefined) setColorCount(address.colors, color);
  await app.colorBy(color);
  await bringBack(app, address);
  if (manifest.live) followRun(app);
  document.documentElement.dataset.ready = app.picture.drawer.name;
}

/**
 * From here on the page does what it is asked.
 * @param {App} app
 */
function hold(app) {
  const surface = element("map");
  app.scene.size = fittingSize(app.scene.n, surface.clientWidth * surface.clientHeight);
  app.keepUsualSize();
  holdPanel(app);
  holdKeys(app, foldPanel());
  holdPointer(app);
  holdBar(app);
  holdDrawer(app);
  bindRoom(app);
}

/**
 * @param {App} app
 * @param {import("./address.js").View} address
 */
async function bringBack(app, address) {
  if (address.view === "density") /** @type {HTMLInputElement} */ (document.querySelector("input[value=density]")).click();
  if (address.labels === false) input("labels").click();
  for (const name of /** @type {const} */ (["size", "opacity"])) {
    const value = address[name];
    if (value !== undefined) setRange(name, value);
  }
  const { only = [], hide = [], from = -Infinity, to = Infinity } = address;
  const isRange = Number.isFinite(from) || Number.isFinite(to);
  if (only.length + hide.length > 0 || isRange) app.legend.filter(only.length > 0 ? only : hide, only.length > 0, isRange ? [from, to] : null);
  if (address.zoom !== undefined && address.x !== undefined && address.y !== undefined) {
    app.camera.show([address.x, address.y], app.camera.homeScale * address.zoom, false);
  }
  if (address.search !== undefined) {
    input("search").value = address.search;
    await app.search(address.search);
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

main().catch(complain);
