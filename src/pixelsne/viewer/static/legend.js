// The legend in the panel, and the filter that the user sets in it.

import { createColorScale } from "./color_scale.js";

/**
 * @typedef {{hidden: Set<number>, range: [number, number] | null}} LegendFilter indices of the entries that are hidden; the
 *   range of numbers that is shown
 */

export class Legend {
  /**
   * @param {HTMLElement} root
   * @param {() => void} onChange called when the user changes the filter
   */
  constructor(root, onChange) {
    this.root = root;
    this.onChange = onChange;
    /** @type {LegendFilter} */
    this.filter = { hidden: new Set(), range: null };
    this.colorScale = createColorScale(null);
  }

  /** @param {import("./color_scale.js").ColorScale} colorScale */
  show(colorScale) {
    this.colorScale = colorScale;
    this.filter = { hidden: new Set(), range: null };
    this._draw();
  }

  /**
   * Restore a filter.
   * @param {string[]} names of the entries that are shown, or hidden
   * @param {boolean} areShown
   * @param {[number, number] | null} range
   */
  restore(names, areShown, range) {
    const { entries } = this.colorScale;
    const hidden = entries.flatMap((entry, index) => (names.includes(entry.name) === areShown ? [] : [index]));
    const isKnown = entries.some((entry) => names.includes(entry.name));
    this.filter = { hidden: new Set(isKnown ? hidden : []), range };
    this._draw();
    this.onChange();
  }

  /**
   * Show everything again.
   * @returns {boolean} whether there was a filter
   */
  reset() {
    if (this.filter.hidden.size === 0 && this.filter.range === null) return false;
    this.filter = { hidden: new Set(), range: null };
    this._draw();
    this.onChange();
    return true;
  }

  _draw() {
    this.root.replaceChildren(...this.colorScale.legendElements(this.filter, (filter) => {
      this.filter = filter;
      this.onChange();
    }));
  }
}
