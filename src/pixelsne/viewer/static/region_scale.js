// The color scale of regions: each point has the color of its region; the legend lists the coarsest ones.

import { GRAY, parseHex } from "./colors.js";
import { createEntryButtons, hideEntries, shownEntryLines } from "./legend_entries.js";

const MAX_ENTRIES = 20; // of the legend; the other regions share one

/** @typedef {import("./color_scale.js").ColorScale} RegionColorScale */

/** @implements {RegionColorScale} */
export class RegionScale {
  /** @param {import("./regions.js").MapRegions} regions loaded */
  constructor(regions) {
    this.name = regions.name;
    this.namesPlaces = false; // labels show regions of all levels
    this.regions = regions;
    this.entries = createRegionEntries(regions);
    const entryOfCode = new Uint8Array(regions.coarsest.length + 1);
    this.entries.forEach((entry, index) => entry.codes.forEach((code) => { entryOfCode[code] = index; }));
    this.entryIndices = Uint8Array.from(regions.codes, (code) => entryOfCode[code]);
  }

  /** Whether the legend can say what the colors are. */
  get _hasNames() {
    return this.regions.coarsest.some(({ name }) => name !== "");
  }

  /** @param {Uint32Array} pixels */
  paint(pixels) {
    const { colors } = this.regions;
    for (let row = 0; row < pixels.length; row++) {
      pixels[row] = ((255 << 24) | (colors[3 * row + 2] << 16) | (colors[3 * row + 1] << 8) | colors[3 * row]) >>> 0;
    }
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
   * @returns {HTMLElement[]}
   */
  legendElements(filter, apply) {
    if (this._hasNames) return createEntryButtons(this.entries, filter, apply);
    const note = document.createElement("p");
    note.className = "note";
    note.textContent = `${this.regions.coarsest.length} regions, colored by their place on the map`;
    return [note];
  }

  /** @param {import("./legend.js").LegendFilter} filter */
  imageLegend({ hidden }) {
    return this._hasNames ? { title: this.name, lines: shownEntryLines(this.entries, hidden), colorBar: null } : null;
  }
}

/**
 * @param {import("./regions.js").MapRegions} regions
 * @returns {import("./color_scale.js").Entry[]} the coarsest regions, the largest first; points without a region
 */
function createRegionEntries({ coarsest, codes }) {
  const shown = coarsest.length > MAX_ENTRIES ? coarsest.slice(0, MAX_ENTRIES - 1) : coarsest;
  const entries = shown.map(({ name, count, color }, code) => ({ name: name || `#${code + 1}`, color: parseHex(color), count, codes: new Set([code]), isRest: false }));
  const others = coarsest.slice(shown.length);
  if (others.length > 0) {
    const count = others.reduce((sum, region) => sum + region.count, 0);
    const rest = new Set(others.map((_, index) => shown.length + index));
    entries.push({ name: `${others.length.toLocaleString("en")} others`, color: parseHex(GRAY), count, codes: rest, isRest: true });
  }
  let outside = 0;
  for (const code of codes) if (code === coarsest.length) outside++;
  if (outside > 0) entries.push({ name: "between regions", color: parseHex(GRAY), count: outside, codes: new Set([coarsest.length]), isRest: true });
  return entries;
}
