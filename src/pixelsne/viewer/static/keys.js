// What keys do, wherever nobody is typing.

import { complain, element, input } from "./elements.js";

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
  };
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      if (help.open) return; // which closes itself
      event.preventDefault();
      leave(app);
    } else if (!isMeantElsewhere(event)) {
      const action = keys[event.key.toLowerCase()];
      action?.();
      if (action !== undefined || app.camera.key(event)) event.preventDefault();
    }
  });
}

/**
 * Fields take all keys, buttons and the table most.
 * @param {KeyboardEvent} event
 */
function isMeantElsewhere(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  const isTyped = target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
  if (isTyped || event.ctrlKey || event.metaKey || event.altKey) return true;
  return target.closest("button, dialog, #table") !== null && event.key !== "/" && event.key !== "?";
}

/**
 * Escape leads out, one thing at a time.
 * @param {import("./app.js").App} app
 */
function leave(app) {
  const field = input("search");
  element("message").hidden = true;
  if (app.tool !== "pan") app.setTool("pan");
  else if (app.selection.count > 0) app.selection.clear();
  else if (field.value !== "") {
    field.value = "";
    app.search("").catch(complain);
  } else if (!app.legend.reset()) {
    app.camera.home();
  }
  element("map").focus();
}
