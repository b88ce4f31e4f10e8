// Keyboard shortcuts, wherever the focus is.

import { handleCameraKey } from "./camera_controls.js";
import { element, input, showError } from "./dom.js";
import { DIRECTIONS } from "./point_navigation.js";

const ARROWS = Object.keys(DIRECTIONS);

/** The keys that a focused control handles itself, by its selector; all other keys are shortcuts. */
const CONTROL_KEYS = /** @type {[string, string[]][]} */ ([
  ["[role=radio], [type=radio]", [...ARROWS, " ", "Enter"]],
  ["[type=range], #table", ARROWS],
  ["[type=checkbox]", [" "]],
  ["button, a", [" ", "Enter"]],
]);

/**
 * @param {import("./app.js").App} app
 * @param {() => void} togglePanel
 */
export function bindKeyboard(app, togglePanel) {
  const help = /** @type {HTMLDialogElement} */ (element("help"));
  /** @type {Record<string, () => void>} */
  const shortcuts = {
    "/": () => input("search").focus(),
    "?": () => help.showModal(),
    v: () => app.setTool("pan"),
    b: () => app.setTool("box"),
    l: () => app.setTool("lasso"),
    d: () => app.setDark(!app.scene.dark),
    p: togglePanel,
    enter: () => app.toggleHighlightedSelection(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      if (help.open) return; // the browser closes the dialog
      event.preventDefault();
      cancel(app);
    } else if (!belongsToControl(event)) {
      const direction = event.shiftKey ? DIRECTIONS[event.key] : undefined;
      const action = direction === undefined ? shortcuts[event.key.toLowerCase()] : () => app.highlightNext(direction);
      action?.();
      if (action !== undefined || handleCameraKey(app.camera, event)) event.preventDefault();
    }
  });
  blurSelectsAfterPointer();
}

/**
 * Return whether the focused control handles a key itself. Text fields and lists handle all keys, others only a few.
 * @param {KeyboardEvent} event
 */
function belongsToControl(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.ctrlKey || event.metaKey || event.altKey || target.closest("dialog[open]") !== null) return true;
  if (target.matches("input:not([type=radio], [type=range], [type=checkbox]), select")) return true;
  return CONTROL_KEYS.some(([selector, keys]) => target.closest(selector) !== null && keys.includes(event.key));
}

/** Move the focus from a list to the map after a choice with the pointer, but not after one with keys. */
function blurSelectsAfterPointer() {
  let usedPointer = false;
  document.addEventListener("pointerdown", () => { usedPointer = true; }, true);
  document.addEventListener("keydown", () => { usedPointer = false; }, true);
  document.addEventListener("change", ({ target }) => {
    if (usedPointer && target instanceof HTMLSelectElement) element("map").focus();
  });
}

/**
 * Reset, with each press of Escape, the first of these that is set: highlight, tool, selection, search, legend filter, camera.
 * @param {import("./app.js").App} app
 */
function cancel(app) {
  const field = input("search");
  element("message").hidden = true;
  if (app.isKeyboardHighlight) app.highlight(-1);
  else if (app.tool !== "pan") app.setTool("pan");
  else if (app.selection.count > 0) app.selection.clear();
  else if (field.value !== "") {
    field.value = "";
    app.search("").catch(showError);
  } else if (!app.legend.reset()) {
    app.camera.resetView();
  }
  element("map").focus();
}
