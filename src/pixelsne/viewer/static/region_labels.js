// The labels of regions: their names, at the densest place of each.

import { parseHex } from "./colors.js";
import { RegionScale } from "./region_scale.js";

const MIN_REGION_DIAMETER = 105; // CSS pixels, of a finer region when its name appears
const MIN_DIAMETER_AMONG_CATEGORIES = 130; // where names of categories are on the map, too

/**
 * @param {import("./regions.js").Region[]} regions level by level, in each level the largest first
 * @param {import("./color_scale.js").ColorScale} colorScale
 * @param {Set<number>} hidden entries of the legend
 * @returns {import("./labels.js").Label[]}
 */
export function computeRegionLabels(regions, colorScale, hidden) {
  const isColored = colorScale instanceof RegionScale;
  const hiddenCodes = new Set(isColored ? [...hidden].flatMap((entry) => [...colorScale.entries[entry].codes]) : []);
  const rootOf = (/** @type {number} */ index) => {
    while (regions[index].parent >= 0) index = regions[index].parent;
    return index;
  };
  const namedParts = countNamedParts(regions);
  return regions.flatMap((region, index) => {
    if (region.name === "" || hiddenCodes.has(rootOf(index))) return [];
    const isCoarsest = region.level === 1 && !colorScale.namesPlaces;
    const minDiameter = isCoarsest ? 0 : colorScale.namesPlaces ? MIN_DIAMETER_AMONG_CATEGORIES : MIN_REGION_DIAMETER;
    return [{
      id: `region ${index}`, text: region.name, x: region.x, y: region.y, count: region.count, level: region.level,
      color: isColored ? parseHex(region.color) : null, minDiameter, hasNamedParts: namedParts[index] > 1,
    }];
  });
}

/**
 * For each region, the number of its parts on the next level with names other than its own.
 * @param {import("./regions.js").Region[]} regions
 */
function countNamedParts(regions) {
  const parts = new Uint32Array(regions.length);
  for (const { name, parent } of regions) if (parent >= 0 && name !== "" && name !== regions[parent].name) parts[parent]++;
  return parts;
}
