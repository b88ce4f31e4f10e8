// The bar above the map: tools, the search, light or dark.

import { complain, element, input } from "./elements.js";

const REST = 4_000; // milliseconds after which the bar fades
const TYPING = 120; // milliseconds without a key after which a search begins

/** @param {import("./app.js").App} app */
export function holdBar(app) {
  fadeBar();
  element("home").addEventListener("click", () => app.camera.home());
  element("dark").addEventListener("click", () => app.setDark(!app.scene.dark));
  for (const button of document.querySelectorAll("[data-tool]")) {
    const { tool } = /** @type {HTMLElement} */ (button).dataset;
    button.addEventListener("click", () => app.setTool(/** @type {import("./selection.js").Tool} */ (tool)));
  }
  walkTools();
  holdSearch(app);
}

/** Arrow keys go from one tool to the next, as in every group of radio buttons. */
function walkTools() {
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

/** While nothing happens, the map has the screen for itself. */
function fadeBar() {
  const bar = element("bar");
  let resting = 0;
  const wake = () => {
    bar.classList.remove("resting");
    clearTimeout(resting);
    resting = window.setTimeout(() => bar.classList.add("resting"), REST);
  };
  document.addEventListener("pointermove", wake);
  document.addEventListener("keydown", wake);
  wake();
}

/** @param {import("./app.js").App} app */
function holdSearch(app) {
  const field = input("search");
  let typing = 0;
  field.addEventListener("input", () => {
    app.point(-1);
    clearTimeout(typing);
    typing = window.setTimeout(() => app.search(field.value).catch(complain), TYPING);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && app.matches !== null) app.zoomTo((row) => app.matches?.[row] === 1);
  });
}
