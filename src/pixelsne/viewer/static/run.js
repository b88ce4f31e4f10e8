// The line below the map of a run on its way: how far it is, and what it may be asked.

import { complain, element } from "./elements.js";
import { ask, drawCurve, follow, inWords, stageOf } from "./live.js";
import { saveFromServer } from "./saving.js";

/** @param {import("./app.js").App} app */
export function followRun(app) {
  element("live").hidden = false;
  let state = "";
  follow((status) => {
    state = status.state;
    showStatus(status);
  }, (places) => {
    if (places.length !== 2 * app.scene.n) location.reload(); // another run, of other rows
    app.take(places, true);
  }, showConnection);
  element("pause").addEventListener("click", () => ask(state === "paused" ? "resume" : "pause").catch(complain));
  element("stop").addEventListener("click", () => ask("stop").catch(complain));
  element("save-map").hidden = !app.manifest.exports;
  element("save-map").addEventListener("click", () => saveFromServer("map.parquet").catch(complain));
}

/** @param {import("./live.js").Status} status */
function showStatus(status) {
  const { state } = status;
  const isOver = state === "finished" || state === "stopped" || state === "failed";
  document.documentElement.dataset.run = state;
  element("status").textContent = inWords(status);
  const stage = state === "running" ? stageOf(status) : inWords(status); // told aloud when it changes, not ten times a second
  if (element("stage").textContent !== stage) element("stage").textContent = stage;
  const bar = /** @type {HTMLProgressElement} */ (element("progress"));
  bar.value = status.fraction;
  bar.hidden = isOver;
  element("pause").textContent = state === "paused" ? "Resume" : "Pause";
  element("pause").hidden = element("stop").hidden = isOver;
  const color = getComputedStyle(document.documentElement).getPropertyValue("--accent");
  drawCurve(/** @type {HTMLCanvasElement} */ (element("curve")), status.moves, color);
}

/**
 * @param {boolean} isThere
 * @param {string} words
 */
function showConnection(isThere, words) {
  document.documentElement.dataset.connection = isThere ? "open" : "lost";
  const place = element("message");
  place.textContent = words;
  place.hidden = isThere;
}
