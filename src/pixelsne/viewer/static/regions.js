// The regions of the map: their names and colors, and the color of each point by region.

import { element } from "./dom.js";

/**
 * @typedef {{level: number, name: string, x: number, y: number, count: number, parent: number, color: string}} Region
 *   level: 1 is the coarsest; name: "" for none; x, y: quantized; parent: index, or -1
 */

const REGIONS_NAME = "regions"; // in the list of columns to color by

/**
 * Add the regions to the list of what can color the map.
 * @param {MapRegions} regions
 */
export function showRegionsChoice({ list, name }) {
  const select = /** @type {HTMLSelectElement} */ (element("color"));
  const isListed = [...select.options].some((option) => option.value === name);
  if (list.length > 0 && !isListed) select.options[0].after(new Option(name, name));
}

export class MapRegions {
  /**
   * @param {import("./data.js").Source} source
   * @param {import("./data.js").Manifest} manifest
   */
  constructor(source, manifest) {
    this.list = manifest.regions;
    this.name = REGIONS_NAME; // differs from the names of all columns
    while (manifest.columns.some(({ name }) => name === this.name)) this.name += " of the map";
    this.colors = new Uint8Array(0); // (n, 3)
    /** @type {Uint8Array | Uint16Array | Uint32Array} */
    this.codes = new Uint8Array(0); // (n) index of each point's coarsest region; their number for none
    this._source = source;
    /** @type {Promise<void> | null} */
    this._loading = null;
  }

  /** The coarsest regions. */
  get coarsest() {
    return this.list.filter(({ level }) => level === 1);
  }

  /** Load what coloring needs. */
  load() {
    this._loading ??= Promise.all([this._source.part("regioncolors"), this._source.part("region1")]).then(([colors, codes]) => {
      const { length } = this.coarsest;
      this.colors = new Uint8Array(colors);
      this.codes = new (length < 256 ? Uint8Array : length < 65536 ? Uint16Array : Uint32Array)(codes);
    }).catch((error) => {
      this._loading = null; // the server may come back
      throw error;
    });
    return this._loading;
  }
}
