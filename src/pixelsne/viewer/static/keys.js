// What keys do, whatever has the focus.

import { complain, element, input } from "./elements.js";
import { DIRECTIONS } from "./stepping.js";

const ARROWS = Object.keys(DIRECTIONS);

/** The keys that a control needs for itself; all others remain ours. */
const OWN_KEYS = /** @type {[string, string[]][]} */ ([
  ["[role=radio], [type=radio]", [...ARROWS, " ", "Enter"]],
  ["[type=range], #table", ARROWS],
  ["[type=checkbox]", [" "]],
  ["button, a", [" ", "Enter"]],
]);

/**
 * @param {import("./app.js").App} app
 * @param {{toggle: () => void}} panel
 */
export function holdKeys(app, panel) {
  const help = /** @type {HTMLDialogElement} */ (element("help"));
  /** @type {Record<string, () => void>} */
  const keys = {
    "/": () => input("search").focus(),
    "?": () => help.showModal(),
    v: () => app.setTool("pan"),
    b: () => app.setTool("box"),
    l: () => app.setTool("lasso"),
    d: () => app.setDark(!app.scene.dark),
    p: () => panel.toggle(),
    enter: () => app.choosePointed(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      if (help.open) return; // which closes itself
      event.preventDefault();
      leave(app);
    } else if (!isMeantElsewhere(event)) {
      const direction = event.shiftKey ? DIRECTIONS[event.key] : undefined;
      const action = direction === undefined ? keys[event.key.toLowerCase()] : () => app.step(direction);
      action?.();
      if (action !== undefined || app.camera.key(event)) event.preventDefault();
    }
  });
  releaseSelects();
}

/**
 * Fields and lists take all keys, other controls those that they need.
 * @param {KeyboardEvent} event
 */
function isMeantElsewhere(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.ctrlKey || event.metaKey || event.altKey || target.closest("dialog[open]") !== null) return true;
  if (target.matches("input:not([type=radio], [type=range], [type=checkbox]), select")) return true;
  return OWN_KEYS.some(([selector, keys]) => target.closest(selector) !== null && keys.includes(event.key));
}

/** A list that was opened with the pointer gives the keys back; with keys, people go on choosing. */
function releaseSelects() {
  let isPointer = false;
  document.addEventListener("pointerdown", () => { isPointer = true; }, true);
  document.addEventListener("keydown", () => { isPointer = false; }, true);
  document.addEventListener("change", ({ target }) => {
    if (isPointer && target instanceof HTMLSelectElement) element("map").focus();
  });
}

/**
 * Escape leads out, one thing at a time.
 * @param {import("./app.js").App} app
 */
function leave(app) {
  const field = input("search");
  element("message").hidden = true;
  if (app.isStepping) app.point(-1);
  else if (app.tool !== "pan") app.setTool("pan");
  else if (app.selection.count > 0) app.selection.clear();
  else if (field.value !== "") {
    field.value = "";
    app.search("").catch(complain);
  } else if (!app.legend.reset()) {
    app.camera.home();
  }
  element("map").focus();
}
