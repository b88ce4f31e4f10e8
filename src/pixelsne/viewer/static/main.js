// The page: brings the parts together, and the view back that the address tells of.

import { readAddress } from "./address.js";
import { App } from "./app.js";
import { holdBar } from "./bar.js";
import { openSource } from "./data.js";
import { holdDrawer } from "./drawer.js";
import { complain, element, input } from "./elements.js";
import { holdKeys } from "./keys.js";
import { foldPanel, holdPanel } from "./panel.js";
import { holdPointer } from "./pointer.js";
import { followRun } from "./run.js";
import { fittingSize } from "./scene.js";

async function main() {
  const source = openSource();
  const manifest = await source.manifest();
  const address = readAddress();
  const app = new App(source, manifest, address.draw);
  document.title = `${manifest.title} · pixelsne`;
  element("title").textContent = manifest.title;
  hold(app);
  app.setDark(address.dark ?? manifest.dark ?? app.scene.dark);
  if (!manifest.live) app.take(new Uint16Array(await source.part("positions")), false);
  await app.colorBy(address.color ?? manifest.color ?? "");
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
  holdPanel(app);
  holdKeys(app, foldPanel());
  holdPointer(app);
  holdBar(app);
  holdDrawer(app);
  const fit = () => app.picture.resize(surface.clientWidth, surface.clientHeight);
  new ResizeObserver(fit).observe(surface);
  fit();
}

/**
 * @param {App} app
 * @param {import("./address.js").View} address
 */
async function bringBack(app, address) {
  if (address.view === "density") /** @type {HTMLInputElement} */ (document.querySelector("input[value=density]")).click();
  if (address.zoom !== undefined && address.x !== undefined && address.y !== undefined) {
    app.camera.show([address.x, address.y], app.camera.homeScale * address.zoom, false);
  }
  if (address.search !== undefined) {
    input("search").value = address.search;
    await app.search(address.search);
  }
}

main().catch(complain);
