// The color scale of categories: one color per category, gray for the rest.

import { GRAY, PALETTE, parseHex, toPixel } from "./colors.js";
import { createEntryButtons, hideEntries, shownEntryLines } from "./legend_entries.js";

/** @typedef {import("./color_scale.js").ColorScale} ColorScale */

/** @implements {ColorScale} */
export class CategoricalScale {
  /**
   * @param {import("./data.js").Column} column
   * @param {number} maxColors
   */
  constructor(column, maxColors) {
    this.name = column.name;
    this.namesPlaces = true;
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
    hideEntries(colors, this.entryIndices, hidden);
  }

  /**
   * @param {import("./legend.js").LegendFilter} filter
   * @param {import("./color_scale.js").ApplyFilter} apply
   */
  legendElements(filter, apply) {
    return createEntryButtons(this.entries, filter, apply);
  }

  /** @param {import("./legend.js").LegendFilter} filter */
  imageLegend({ hidden }) {
    return { title: this.name, lines: shownEntryLines(this.entries, hidden), colorBar: null };
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
