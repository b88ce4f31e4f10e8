// The entries of a legend: a button for each, which shows only its points or hides them.

import { toCss } from "./colors.js";

/**
 * @param {import("./color_scale.js").Entry[]} entries
 * @param {import("./legend.js").LegendFilter} filter
 * @param {import("./color_scale.js").ApplyFilter} apply
 */
export function createEntryButtons(entries, filter, apply) {
  let { hidden } = filter;
  const buttons = entries.map(createEntryButton);
  const showPressed = () => buttons.forEach((button, index) => button.setAttribute("aria-pressed", String(!hidden.has(index))));
  buttons.forEach((button, index) => button.addEventListener("click", (event) => {
    hidden = updateHidden(hidden, index, buttons.length, event.ctrlKey || event.metaKey || event.shiftKey);
    showPressed();
    apply({ hidden, range: null });
  }));
  showPressed();
  return buttons;
}

/**
 * Set the alpha of the points of hidden entries to 0.
 * @param {Uint8Array} colors
 * @param {Uint8Array} entryIndices
 * @param {Set<number>} hidden
 */
export function hideEntries(colors, entryIndices, hidden) {
  if (hidden.size === 0) return;
  for (let row = 0; row < entryIndices.length; row++) if (hidden.has(entryIndices[row])) colors[4 * row + 3] = 0;
}

/**
 * The lines of the legend in a saved image.
 * @param {import("./color_scale.js").Entry[]} entries
 * @param {Set<number>} hidden
 */
export function shownEntryLines(entries, hidden) {
  const shown = entries.filter((entry, index) => entry.count > 0 && !hidden.has(index));
  return shown.map((entry) => ({ name: entry.name, color: toCss(entry.color) }));
}

/**
 * Return the hidden entries after a click. It shows only the clicked entry, or all entries if no other is shown. With a
 * modifier key it hides or shows the clicked entry.
 * @param {Set<number>} hidden
 * @param {number} index
 * @param {number} count of entries
 * @param {boolean} toggles
 */
function updateHidden(hidden, index, count, toggles) {
  const after = new Set(hidden);
  if (toggles) {
    if (!after.delete(index)) after.add(index);
    return after;
  }
  const isAlone = hidden.size === count - 1 && !hidden.has(index);
  const others = Array.from({ length: count }, (_, other) => other).filter((other) => other !== index);
  return new Set(isAlone ? [] : others);
}

/** @param {import("./color_scale.js").Entry} entry */
function createEntryButton(entry) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "entry";
  button.dataset.entry = entry.name;
  button.title = `${entry.name}\nclick: only this one, again: all · Ctrl-click: hide or show`;
  const dot = document.createElement("span");
  dot.className = "dot";
  dot.style.backgroundColor = dot.style.borderColor = toCss(entry.color);
  const name = document.createElement("span");
  name.className = "name";
  name.textContent = entry.name === "" ? "(empty)" : entry.name;
  const count = document.createElement("span");
  count.className = "count";
  count.textContent = entry.count.toLocaleString("en");
  button.append(dot, name, count);
  return button;
}
