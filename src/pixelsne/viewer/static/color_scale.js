// The type of all color scales, and the scale of a map that no column colors.

import { toPixel } from "./colors.js";

/**
 * How a column colors the points, and the legend of these colors.
 * @typedef {{
 *   name: string,                 // of the column, or of the regions
 *   namesPlaces: boolean,         // whether the names of its entries are labels on the map
 *   entries: Entry[],             // the legend's entries; none for a continuous scale
 *   entryIndices: Uint8Array | null, // (n) index of each row's entry; null without entries
 *   paint: (pixels: Uint32Array, dark: boolean) => void,                                // color all points
 *   hide: (colors: Uint8Array, filter: import("./legend.js").LegendFilter) => void,     // set the alpha of hidden points to 0
 *   legendElements: (filter: import("./legend.js").LegendFilter, apply: ApplyFilter) => HTMLElement[],
 *   imageLegend: (filter: import("./legend.js").LegendFilter) => import("./image_legend.js").ImageLegend | null,
 * }} ColorScale
 * @typedef {(filter: import("./legend.js").LegendFilter) => void} ApplyFilter
 * @typedef {{name: string, color: import("./colors.js").Rgb, count: number, codes: Set<number>, isRest: boolean}} Entry
 *   codes: the categories that the entry stands for; isRest: whether these are the remaining categories, or missing values
 */

const PLAIN_ON_DARK = /** @type {import("./colors.js").Rgb} */ ([144, 188, 255]);
const PLAIN_ON_LIGHT = /** @type {import("./colors.js").Rgb} */ ([55, 100, 222]);

/** @type {ColorScale} */
const plainScale = {
  name: "",
  namesPlaces: false,
  entries: [],
  entryIndices: null,
  paint: (pixels, dark) => { pixels.fill(toPixel(dark ? PLAIN_ON_DARK : PLAIN_ON_LIGHT)); },
  hide: () => {},
  legendElements: () => [],
  imageLegend: () => null,
};

/**
 * @param {import("./data.js").Column | null} column
 * @param {number} maxColors of categories; the others share one entry
 * @returns {ColorScale}
 */
export function createColorScale(column, maxColors = 0) {
  if (column === null || column.type.colorScale === null) return plainScale;
  return column.type.colorScale(column, maxColors);
}
