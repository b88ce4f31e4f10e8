// The panel at the side: the column that colors the points, and how they are drawn.

import { findUnavailableColumns } from "./data.js";
import { element, input, showError } from "./dom.js";
import { saveImage } from "./downloads.js";
import { showRegionsChoice } from "./regions.js";

/** @param {import("./app.js").App} app */
export function bindPanel(app) {
  bindColors(app);
  bindStyle(app);
  showUnavailable(app.manifest);
  element("save-image").addEventListener("click", () => saveImage(app).catch(showError));
  element("show-help").addEventListener("click", () => /** @type {HTMLDialogElement} */ (element("help")).showModal());
}

/** @param {import("./app.js").App} app */
function bindColors(app) {
  const select = /** @type {HTMLSelectElement} */ (element("color"));
  select.append(new Option("nothing", ""));
  for (const { name, type } of app.columns) if (type.colorScale !== null) select.append(new Option(name, name));
  showRegionsChoice(app.regions);
  select.addEventListener("change", () => app.colorBy(select.value).catch(showError));
  input("color-count").addEventListener("change", () => app.updateColorScale());
}

/**
 * List the columns that cannot be shown, with the reasons.
 * @param {import("./data.js").Manifest} manifest
 */
function showUnavailable(manifest) {
  const names = findUnavailableColumns(manifest).map(({ name, reason }) => `${name} (${reason})`);
  element("unavailable-columns").hidden = names.length === 0;
  element("unavailable-columns").textContent = `Not shown: ${names.join(", ")}`;
}

/** @param {import("./app.js").App} app */
function bindStyle(app) {
  const { renderLoop, scene } = app;
  for (const radio of document.querySelectorAll("input[name=view]")) {
    radio.addEventListener("change", () => {
      renderLoop.layer = /** @type {HTMLInputElement} */ (radio).value;
      element("density-by-class-field").hidden = renderLoop.layer !== "density";
      renderLoop.draw();
    });
  }
  input("density-by-class").addEventListener("change", () => {
    app.hasDensityByClass = input("density-by-class").checked;
    renderLoop.draw();
  });
  input("labels").addEventListener("change", () => renderLoop.draw(true));
  for (const name of /** @type {const} */ (["size", "opacity"])) {
    input(name).addEventListener("input", () => {
      scene[name] = Number(input(name).value);
      element("reset-style").hidden = false;
      renderLoop.draw();
    });
  }
  element("reset-style").addEventListener("click", () => {
    [scene.size, scene.opacity] = [null, null];
    input("size").focus(); // the button, which has the focus, is hidden now
    element("reset-style").hidden = true;
    renderLoop.draw();
  });
}

/**
 * Open or close the panel as the user left it; by default it is open on wide screens.
 * @returns {() => void} toggles the panel
 */
export function bindPanelToggle() {
  const panel = element("panel");
  const setOpen = (/** @type {boolean} */ isOpen) => {
    if (!isOpen && panel.contains(document.activeElement)) element("map").focus(); // hidden elements get no keys
    panel.hidden = !isOpen;
    element("toggle-panel").setAttribute("aria-expanded", String(isOpen));
  };
  const stored = readPreference("panel");
  setOpen(stored === null ? innerWidth > 640 : stored === "true");
  const toggle = () => {
    setOpen(panel.hidden === true);
    writePreference("panel", String(!panel.hidden));
  };
  element("toggle-panel").addEventListener("click", toggle);
  return toggle;
}

/**
 * @param {string} name
 * @param {string} value
 */
function writePreference(name, value) {
  try {
    localStorage.setItem(`pixelsne-${name}`, value);
  } catch {
    // files opened from disk may have no storage
  }
}

/** @param {string} name */
function readPreference(name) {
  try {
    return localStorage.getItem(`pixelsne-${name}`);
  } catch {
    return null;
  }
}
