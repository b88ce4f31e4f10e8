// The toolbar above the map: tools, the search, light or dark.

import { element, input, showError } from "./dom.js";

const IDLE_TIME = 4_000; // milliseconds after which the toolbar fades
const SEARCH_DELAY = 120; // milliseconds without a key after which a search starts

/** @param {import("./app.js").App} app */
export function bindToolbar(app) {
  fadeWhenIdle();
  element("reset-view").addEventListener("click", () => app.camera.resetView());
  element("toggle-dark").addEventListener("click", () => app.setDark(!app.scene.dark));
  for (const button of document.querySelectorAll("[data-tool]")) {
    const { tool } = /** @type {HTMLElement} */ (button).dataset;
    button.addEventListener("click", () => app.setTool(/** @type {import("./selection.js").Tool} */ (tool)));
  }
  bindToolArrows();
  bindSearch(app);
}

/** Let arrow keys choose the next tool, as in every group of radio buttons. */
function bindToolArrows() {
  element("tools").addEventListener("keydown", ({ key }) => {
    const step = key === "ArrowRight" || key === "ArrowDown" ? 1 : key === "ArrowLeft" || key === "ArrowUp" ? -1 : 0;
    const buttons = /** @type {HTMLElement[]} */ ([...element("tools").children].filter((one) => getComputedStyle(one).display !== "none"));
    const index = buttons.findIndex((one) => one === document.activeElement);
    if (step === 0 || index < 0) return;
    const next = buttons[(index + step + buttons.length) % buttons.length];
    next.click();
    next.focus();
  });
}

/** Make the toolbar transparent while the user is idle. */
function fadeWhenIdle() {
  const bar = element("toolbar");
  let timer = 0;
  const wake = () => {
    bar.classList.remove("idle");
    clearTimeout(timer);
    timer = window.setTimeout(() => bar.classList.add("idle"), IDLE_TIME);
  };
  document.addEventListener("pointermove", wake);
  document.addEventListener("keydown", wake);
  wake();
}

/** @param {import("./app.js").App} app */
function bindSearch(app) {
  const field = input("search");
  let timer = 0;
  field.addEventListener("input", () => {
    app.highlight(-1);
    clearTimeout(timer);
    timer = window.setTimeout(() => app.search(field.value).catch(showError), SEARCH_DELAY);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && app.matches !== null) app.zoomTo((row) => app.matches?.[row] === 1);
  });
}
