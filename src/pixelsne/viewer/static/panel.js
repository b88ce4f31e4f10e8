// The panel at the side: by which column points are colored, and how they are drawn.

import { complain, element, input } from "./elements.js";
import { savePicture } from "./saving.js";

/** @param {import("./app.js").App} app */
export function holdPanel(app) {
  holdColors(app);
  holdDrawing(app);
  tellUnavailable(app.manifest);
  element("picture").addEventListener("click", () => savePicture(app).catch(complain));
  element("keys").addEventListener("click", () => /** @type {HTMLDialogElement} */ (element("help")).showModal());
}

/** @param {import("./app.js").App} app */
function holdColors(app) {
  const select = /** @type {HTMLSelectElement} */ (element("color"));
  select.append(new Option("nothing", ""));
  for (const { about, kind } of app.columns) if (kind.scale !== null) select.append(new Option(about.name, about.name));
  select.addEventListener("change", () => app.colorBy(select.value).catch(complain));
  input("shown").addEventListener("change", () => app.recolor());
}

/**
 * Names the columns that cannot be shown, and why.
 * @param {import("./data.js").Manifest} manifest
 */
function tellUnavailable({ columns }) {
  const names = columns.filter(({ kind }) => kind === "unavailable").map(({ name, reason }) => `${name} (${reason})`);
  element("unavailable").hidden = names.length === 0;
  element("unavailable").textContent = `Not shown: ${names.join(", ")}`;
}

/** @param {import("./app.js").App} app */
function holdDrawing({ picture, scene }) {
  for (const radio of document.querySelectorAll("input[name=view]")) {
    radio.addEventListener("change", () => {
      picture.view = /** @type {HTMLInputElement} */ (radio).value;
      picture.draw();
    });
  }
  input("labels").addEventListener("change", () => picture.draw(true));
  for (const name of /** @type {const} */ (["size", "opacity"])) {
    input(name).value = String(scene[name]);
    input(name).addEventListener("input", () => {
      scene[name] = Number(input(name).value);
      picture.draw();
    });
  }
}

/** Open or not as it was left; at first where there is room for it. */
export function foldPanel() {
  const panel = element("panel");
  const set = (/** @type {boolean} */ isOpen) => {
    if (!isOpen && panel.contains(document.activeElement)) element("map").focus(); // what is hidden gets no keys
    panel.hidden = !isOpen;
    element("fold").setAttribute("aria-expanded", String(isOpen));
    remember("panel", String(isOpen));
  };
  set(recall("panel") === null ? innerWidth > 640 : recall("panel") === "true");
  const toggle = () => set(panel.hidden === true);
  element("fold").addEventListener("click", toggle);
  return { toggle };
}

/**
 * Files opened from disk may have no storage.
 * @param {string} name
 * @param {string} value
 */
function remember(name, value) {
  try {
    localStorage.setItem(`pixelsne-${name}`, value);
  } catch {
    // then it is forgotten
  }
}

/** @param {string} name */
function recall(name) {
  try {
    return localStorage.getItem(`pixelsne-${name}`);
  } catch {
    return null;
  }
}
