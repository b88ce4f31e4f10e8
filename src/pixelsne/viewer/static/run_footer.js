// The footer of a live run: its progress and its controls.

import { element, showError } from "./dom.js";
import { saveFromServer } from "./downloads.js";
import { connectToRun, isEnded, sendCommand } from "./run_connection.js";
import { drawMovement, stageName, statusText } from "./run_status.js";

/** @param {import("./app.js").App} app */
export function bindRun(app) {
  element("run-footer").hidden = false;
  let state = "";
  let hasRegions = false;
  connectToRun({
    onStatus(status) {
      state = status.state;
      showStatus(status);
      if (status.has_regions && !hasRegions) {
        app.loadRegions().catch((error) => {
          hasRegions = false; // the next status tries again
          showError(error);
        });
      }
      hasRegions = status.has_regions;
    },
    onPositions(positions) {
      if (positions.length !== 2 * app.scene.n) location.reload(); // the server shows another run now
      app.setPositions(positions, true);
    },
    onConnection: showConnection,
  });
  element("pause").addEventListener("click", () => sendCommand(state === "paused" ? "resume" : "pause").catch(showError));
  element("stop").addEventListener("click", () => sendCommand("stop").catch(showError));
  element("save-map").hidden = !app.manifest.canExport;
  element("save-map").addEventListener("click", () => saveFromServer("map.parquet").catch(showError));
}

/** @param {import("./run_connection.js").Status} status */
function showStatus(status) {
  const { state } = status;
  document.documentElement.dataset.run = state;
  element("run-status").textContent = statusText(status);
  const stage = state === "running" ? stageName(status) : statusText(status); // announced when it changes, not ten times a second
  if (element("run-stage").textContent !== stage) element("run-stage").textContent = stage;
  const bar = /** @type {HTMLProgressElement} */ (element("run-progress"));
  bar.value = status.fraction;
  bar.hidden = isEnded(status);
  element("pause").textContent = state === "paused" ? "Resume" : "Pause";
  element("pause").hidden = element("stop").hidden = isEnded(status);
  const color = getComputedStyle(document.documentElement).getPropertyValue("--accent");
  drawMovement(/** @type {HTMLCanvasElement} */ (element("movement-curve")), status.moves, color);
}

/**
 * @param {boolean} isOpen
 * @param {string} message
 */
function showConnection(isOpen, message) {
  document.documentElement.dataset.connection = isOpen ? "open" : "lost";
  const node = element("message");
  node.textContent = message;
  node.hidden = isOpen;
}
