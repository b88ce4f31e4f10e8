// The panel's legend: what colors mean, how many points there are of each, and which of them are shown.

import { css, viridis } from "./colors.js";

/**
 * @typedef {{hidden: Set<number>, range: [number, number] | null}} Shown which entries are hidden; which numbers are shown
 */

export class Legend {
  /**
   * @param {HTMLElement} place
   * @param {(shown: Shown) => void} changed
   */
  constructor(place, changed) {
    this.place = place;
    this.changed = changed;
    /** @type {Shown} */
    this.shown = { hidden: new Set(), range: null };
    /** @type {import("./colors.js").Coloring | null} */
    this.coloring = null;
  }

  /** @param {import("./colors.js").Coloring} coloring */
  show(coloring) {
    this.coloring = coloring;
    this.shown = { hidden: new Set(), range: null };
    this._draw();
  }

  _draw() {
    const coloring = this.coloring;
    this.place.replaceChildren();
    if (coloring === null || coloring.scale === null) return;
    if (coloring.scale === "numbers") this._drawScale(coloring);
    else this.place.append(...coloring.entries.map((entry, place) => this._line(entry, place)));
  }

  /**
   * @param {import("./colors.js").Entry} entry
   * @param {number} place
   */
  _line(entry, place) {
    const line = document.createElement("button");
    line.type = "button";
    line.className = "entry";
    line.dataset.entry = entry.name;
    const isHidden = this.shown.hidden.has(place);
    line.setAttribute("aria-pressed", String(!isHidden));
    line.title = "click: only this one, again: all · Ctrl-click: hide or show";
    const dot = document.createElement("span");
    dot.className = "dot";
    dot.style.backgroundColor = css(entry.color);
    const name = document.createElement("span");
    name.className = "name";
    name.textContent = entry.name === "" ? "(empty)" : entry.name;
    const count = document.createElement("span");
    count.className = "count";
    count.textContent = entry.count.toLocaleString("en");
    line.append(dot, name, count);
    line.addEventListener("click", (event) => this._click(place, event.ctrlKey || event.metaKey || event.shiftKey));
    return line;
  }

  /**
   * @param {number} place
   * @param {boolean} toggles
   */
  _click(place, toggles) {
    const number = this.coloring?.entries.length ?? 0;
    const { hidden } = this.shown;
    const isAlone = hidden.size === number - 1 && !hidden.has(place);
    if (toggles) {
      if (!hidden.delete(place)) hidden.add(place);
    } else {
      hidden.clear();
      if (!isAlone) for (let other = 0; other < number; other++) if (other !== place) hidden.add(other);
    }
    this._draw();
    /** @type {HTMLElement | undefined} */ (this.place.children[place])?.focus();
    this.changed(this.shown);
  }

  /** All are shown again. */
  reset() {
    if (this.shown.hidden.size === 0 && this.shown.range === null) return false;
    this.shown = { hidden: new Set(), range: null };
    this._draw();
    this.changed(this.shown);
    return true;
  }

  /** @param {import("./colors.js").Coloring} coloring */
  _drawScale(coloring) {
    const bar = document.createElement("canvas");
    bar.className = "scale";
    bar.width = 256;
    bar.height = 1;
    const context = bar.getContext("2d");
    for (let place = 0; context !== null && place < 256; place++) {
      context.fillStyle = css(viridis(place / 255));
      context.fillRect(place, 0, 1, 1);
    }
    const ends = document.createElement("div");
    ends.className = "ends";
    ends.append(this._end(coloring, 0), this._end(coloring, 1));
    this.place.append(bar, ends);
    if (coloring.missing > 0) {
      const note = document.createElement("p");
      note.className = "note";
      note.textContent = `${coloring.missing.toLocaleString("en")} without a value, gray`;
      this.place.append(note);
    }
  }

  /**
   * A field for one end of the numbers that are shown.
   * @param {import("./colors.js").Coloring} coloring
   * @param {0 | 1} which
   */
  _end(coloring, which) {
    const field = document.createElement("input");
    field.type = "number";
    field.step = "any";
    field.ariaLabel = which === 0 ? "show numbers from" : "show numbers up to";
    field.placeholder = String(Number((which === 0 ? coloring.low : coloring.high).toPrecision(4)));
    field.addEventListener("change", () => {
      const fields = /** @type {HTMLInputElement[]} */ ([...this.place.querySelectorAll("input")]);
      const [low, high] = fields.map((one) => (one.value === "" ? NaN : Number(one.value)));
      const isAll = Number.isNaN(low) && Number.isNaN(high);
      this.shown.range = isAll ? null : [Number.isNaN(low) ? -Infinity : low, Number.isNaN(high) ? Infinity : high];
      this.changed(this.shown);
    });
    return field;
  }
}
