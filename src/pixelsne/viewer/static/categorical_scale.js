// The color scale of categories: one color per category, gray for the rest.

import { GRAY, PALETTE, parseHex, toCss, toPixel } from "./colors.js";

/** @typedef {import("./color_scale.js").ColorScale} ColorScale */

/** @implements {ColorScale} */
export class CategoricalScale {
  /**
   * @param {import("./data.js").Column} column
   * @param {number} maxColors
   */
  constructor(column, maxColors) {
    this.name = column.name;
    this.entries = createEntries(column, maxColors);
    this.entryIndices = assignEntries(column, this.entries);
  }

  /** @param {Uint32Array} pixels */
  paint(pixels) {
    const { entryIndices } = this;
    const colors = this.entries.map((entry) => toPixel(entry.color));
    for (let row = 0; row < pixels.length; row++) pixels[row] = colors[entryIndices[row]];
  }

  /**
   * @param {Uint8Array} colors
   * @param {import("./legend.js").LegendFilter} filter
   */
  hide(colors, { hidden }) {
    const { entryIndices } = this;
    if (hidden.size === 0) return;
    for (let row = 0; row < entryIndices.length; row++) if (hidden.has(entryIndices[row])) colors[4 * row + 3] = 0;
  }

  /**
   * @param {import("./legend.js").LegendFilter} filter
   * @param {import("./color_scale.js").ApplyFilter} apply
   */
  legendElements(filter, apply) {
    let { hidden } = filter;
    const buttons = this.entries.map(createEntryButton);
    const showPressed = () => buttons.forEach((button, index) => button.setAttribute("aria-pressed", String(!hidden.has(index))));
    buttons.forEach((button, index) => button.addEventListener("click", (event) => {
      hidden = updateHidden(hidden, index, buttons.length, event.ctrlKey || event.metaKey || event.shiftKey);
      showPressed();
      apply({ hidden, range: null });
    }));
    showPressed();
    return buttons;
  }

  /** @param {import("./legend.js").LegendFilter} filter */
  imageLegend({ hidden }) {
    const lines = this.entries
      .filter((entry, index) => entry.count > 0 && !hidden.has(index))
      .map((entry) => ({ name: entry.name, color: toCss(entry.color) }));
    return { title: this.name, lines, colorBar: null };
  }
}

/**
 * The most frequent categories, then the rest, then missing values.
 * @param {import("./data.js").Column} column
 * @param {number} maxColors
 * @returns {import("./color_scale.js").Entry[]}
 */
function createEntries(column, maxColors) {
  const { categories } = column.metadata;
  const counts = new Uint32Array(categories.length + 1);
  for (const code of column.codes) counts[code]++;
  const ranked = [...categories.keys()].sort((first, second) => counts[second] - counts[first] || first - second);
  const colored = categories.length > maxColors ? ranked.slice(0, maxColors - 1).sort((first, second) => first - second) : [...categories.keys()];
  const entries = colored.map((code, index) => ({
    name: categories[code], color: parseHex(PALETTE[index % PALETTE.length]), count: counts[code], codes: new Set([code]), isRest: false,
  }));
  const rest = ranked.slice(colored.length);
  if (rest.length > 0) {
    const count = rest.reduce((sum, code) => sum + counts[code], 0);
    entries.push({ name: `${rest.length.toLocaleString("en")} others`, color: parseHex(GRAY), count, codes: new Set(rest), isRest: true });
  }
  if (counts[categories.length] > 0) {
    entries.push({ name: "no value", color: parseHex(GRAY), count: counts[categories.length], codes: new Set([categories.length]), isRest: true });
  }
  return entries;
}

/**
 * Return the index of each row's entry.
 * @param {import("./data.js").Column} column
 * @param {import("./color_scale.js").Entry[]} entries
 */
function assignEntries(column, entries) {
  const entryOfCode = new Uint8Array(column.metadata.categories.length + 1);
  entries.forEach((entry, index) => entry.codes.forEach((code) => { entryOfCode[code] = index; }));
  const indices = new Uint8Array(column.codes.length);
  for (let row = 0; row < indices.length; row++) indices[row] = entryOfCode[column.codes[row]];
  return indices;
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
