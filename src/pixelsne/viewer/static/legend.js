// The panel's legend: what colors mean, how many points there are of each, and which of them are shown.

import { css, viridis } from "./colors.js";
import { DAY } from "./ticks.js";

const SHORT_SPAN = 3 * DAY; // of which times are chosen, not days
const CHARACTERS = 32; // that find room below the scale
const SPREAD = 1.5; // of a name's length between two ticks, so that names at the ends can give way

/**
 * @typedef {{hidden: Set<number>, range: [number, number] | null}} Shown which entries are hidden; which numbers are shown
 */

export class Legend {
  /**
   * @param {HTMLElement} root
   * @param {(shown: Shown) => void} changed
   */
  constructor(root, changed) {
    this.root = root;
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

  /**
   * Brings a filter back.
   * @param {string[]} names of the entries that are shown, or hidden
   * @param {boolean} areShown
   * @param {[number, number] | null} range
   */
  filter(names, areShown, range) {
    const entries = this.coloring?.entries ?? [];
    const hidden = entries.flatMap((entry, index) => (names.includes(entry.name) === areShown ? [] : [index]));
    const isKnown = entries.some((entry) => names.includes(entry.name));
    this.shown = { hidden: new Set(isKnown ? hidden : []), range };
    this._draw();
    this.changed(this.shown);
  }

  _draw() {
    const coloring = this.coloring;
    this.root.replaceChildren();
    if (coloring === null || coloring.scale === null) return;
    if (coloring.scale === "numbers") this._drawScale(coloring);
    else this.root.append(...coloring.entries.map((entry, index) => this._line(entry, index)));
  }

  /**
   * @param {import("./colors.js").Entry} entry
   * @param {number} index
   */
  _line(entry, index) {
    const line = document.createElement("button");
    line.type = "button";
    line.className = "entry";
    line.dataset.entry = entry.name;
    line.setAttribute("aria-pressed", String(!this.shown.hidden.has(index)));
    line.title = `${entry.name}\nclick: only this one, again: all · Ctrl-click: hide or show`;
    const dot = document.createElement("span");
    dot.className = "dot";
    dot.style.backgroundColor = dot.style.borderColor = css(entry.color);
    const name = document.createElement("span");
    name.className = "name";
    name.textContent = entry.name === "" ? "(empty)" : entry.name;
    const count = document.createElement("span");
    count.className = "count";
    count.textContent = entry.count.toLocaleString("en");
    line.append(dot, name, count);
    line.addEventListener("click", (event) => this._click(index, event.ctrlKey || event.metaKey || event.shiftKey));
    return line;
  }

  /**
   * @param {number} index
   * @param {boolean} toggles
   */
  _click(index, toggles) {
    const number = this.coloring?.entries.length ?? 0;
    const { hidden } = this.shown;
    const isAlone = hidden.size === number - 1 && !hidden.has(index);
    if (toggles) {
      if (!hidden.delete(index)) hidden.add(index);
    } else {
      hidden.clear();
      if (!isAlone) for (let other = 0; other < number; other++) if (other !== index) hidden.add(other);
    }
    this._draw();
    /** @type {HTMLElement | undefined} */ (this.root.children[index])?.focus();
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
    for (let step = 0; context !== null && step < 256; step++) {
      context.fillStyle = css(viridis(step / 255));
      context.fillRect(step, 0, 1, 1);
    }
    const ends = document.createElement("div");
    ends.className = "ends";
    ends.append(this._end(coloring, 0), this._end(coloring, 1));
    this.root.append(bar, ticksBelow(coloring), ends);
    if (coloring.missing > 0) {
      const note = document.createElement("p");
      note.className = "note";
      note.textContent = `${coloring.missing.toLocaleString("en")} without a value, gray`;
      this.root.append(note);
    }
  }

  /**
   * A field for one end of the numbers or dates that are shown.
   * @param {import("./colors.js").Coloring} coloring
   * @param {0 | 1} which
   */
  _end(coloring, which) {
    const field = document.createElement("input");
    const things = coloring.isDate ? "dates" : "numbers";
    field.type = !coloring.isDate ? "number" : coloring.high - coloring.low < SHORT_SPAN ? "datetime-local" : "date";
    field.step = coloring.isDate ? "" : "any";
    field.ariaLabel = which === 0 ? `show ${things} from` : `show ${things} up to`;
    field.placeholder = String(Number((which === 0 ? coloring.low : coloring.high).toPrecision(4)));
    const limit = this.shown.range?.[which] ?? NaN;
    if (Number.isFinite(limit)) field.valueAsNumber = field.type === "date" ? Math.floor(limit / DAY) * DAY : limit;
    field.addEventListener("change", () => {
      const fields = /** @type {HTMLInputElement[]} */ ([...this.root.querySelectorAll("input")]);
      const [low, high] = fields.map((one) => one.valueAsNumber);
      const isAll = Number.isNaN(low) && Number.isNaN(high);
      const last = fields[1].type === "date" ? high + DAY - 1 : high; // the whole day
      this.shown.range = isAll ? null : [Number.isNaN(low) ? -Infinity : low, Number.isNaN(high) ? Infinity : last];
      this.changed(this.shown);
    });
    return field;
  }
}

/** @param {import("./colors.js").Coloring} coloring */
function ticksBelow(coloring) {
  const ticks = document.createElement("div");
  ticks.className = "ticks";
  for (const { at, name } of coloring.ticks((count, length) => count * (SPREAD * length + 1) <= CHARACTERS)) {
    const share = (at - coloring.low) / (coloring.high - coloring.low);
    const lines = name.split(" "); // a time below its day
    const half = Math.max(...lines.map(({ length }) => length)) / CHARACTERS / 2;
    const [mark, words] = [document.createElement("i"), document.createElement("span")];
    mark.style.left = `${100 * share}%`;
    words.style[share > 1 - half ? "right" : "left"] = share < half || share > 1 - half ? "0" : `${100 * share}%`;
    words.style.transform = share < half || share > 1 - half ? "" : "translateX(-50%)";
    words.textContent = lines.join("\n");
    ticks.append(mark, words);
    if (lines.length > 1) ticks.classList.add("high");
  }
  return ticks;
}
