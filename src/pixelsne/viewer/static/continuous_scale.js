// The color scale of numbers and dates: a color map from the first to the 99th percentile.

import { GRAY, parseHex, toCss, toPixel, viridis } from "./colors.js";
import { DAY } from "./ticks.js";

const LEGEND_CHARACTERS = 32; // that fit below the color bar
const TICK_SPACING = 1.5; // in lengths of a label; more than 1, since labels at the ends are moved inward
const MAX_IMAGE_TICKS = 6;

/**
 * What distinguishes numbers from dates on a scale.
 * @typedef {{
 *   noun: string,    // for the values
 *   minSpan: number, // of a column with a single value
 *   ticks: (low: number, high: number, fits: import("./ticks.js").Fits) => import("./ticks.js").Tick[],
 *   inputType: (span: number) => "number" | "date" | "datetime-local",
 * }} Axis
 */

/** @typedef {import("./color_scale.js").ColorScale} ColorScale */

/** @implements {ColorScale} */
export class ContinuousScale {
  /**
   * The scale ends at percentiles, so that a single outlier does not use up most of the colors.
   * @param {import("./data.js").Column} column
   * @param {Axis} axis
   */
  constructor(column, axis) {
    const sorted = column.numbers.filter((number) => Number.isFinite(number)).sort();
    const quantile = (/** @type {number} */ fraction) => sorted[Math.min(sorted.length - 1, Math.floor(fraction * sorted.length))] ?? 0;
    let [low, high] = [quantile(0.01), quantile(0.99)];
    if (low === high) [low, high] = [quantile(0), quantile(1)];
    if (low === high) high = low + axis.minSpan;
    this.name = column.name;
    this.namesPlaces = false;
    /** @type {import("./color_scale.js").Entry[]} */
    this.entries = [];
    /** @type {Uint8Array | null} */
    this.entryIndices = null;
    this.axis = axis;
    this.numbers = column.numbers;
    this.low = low;
    this.high = high;
    this.missing = column.numbers.length - sorted.length;
  }

  /** @param {Uint32Array} pixels */
  paint(pixels) {
    const { numbers, low } = this;
    const shades = Uint32Array.from({ length: 256 }, (_, step) => toPixel(viridis(step / 255)));
    const gray = toPixel(parseHex(GRAY));
    const factor = 255 / (this.high - low);
    for (let row = 0; row < pixels.length; row++) {
      const number = numbers[row];
      pixels[row] = Number.isFinite(number) ? shades[Math.max(0, Math.min(255, Math.round((number - low) * factor)))] : gray;
    }
  }

  /**
   * Hide the points outside of a range. Missing values are outside of every range.
   * @param {Uint8Array} colors
   * @param {import("./legend.js").LegendFilter} filter
   */
  hide(colors, { range }) {
    if (range === null) return;
    const [low, high] = range;
    const { numbers } = this;
    for (let row = 0; row < numbers.length; row++) if (!(numbers[row] >= low && numbers[row] <= high)) colors[4 * row + 3] = 0;
  }

  /**
   * @param {import("./legend.js").LegendFilter} filter
   * @param {import("./color_scale.js").ApplyFilter} apply
   */
  legendElements(filter, apply) {
    /** @type {HTMLElement[]} */
    const elements = [createColorBar(), createTicks(this), createRangeFields(this, filter.range, apply)];
    if (this.missing > 0) {
      const note = document.createElement("p");
      note.className = "note";
      note.textContent = `${this.missing.toLocaleString("en")} without a value, gray`;
      elements.push(note);
    }
    return elements;
  }

  /** @param {import("./legend.js").LegendFilter} filter */
  imageLegend({ range }) {
    const ticks = this.axis.ticks(this.low, this.high, (count) => count <= MAX_IMAGE_TICKS);
    const missing = this.missing > 0 && range === null ? [{ name: "no value", color: toCss(parseHex(GRAY)) }] : [];
    const bar = {
      color: (/** @type {number} */ fraction) => toCss(viridis(fraction)),
      ticks: ticks.map(({ value, label }) => ({ fraction: this.toFraction(value), label })),
    };
    return { title: this.name, lines: missing, colorBar: bar };
  }

  /**
   * The position of a value on the color map.
   * @param {number} value
   * @returns {number} 0 at `low`, 1 at `high`
   */
  toFraction(value) {
    return (value - this.low) / (this.high - this.low);
  }
}

function createColorBar() {
  const bar = document.createElement("canvas");
  bar.className = "color-bar";
  bar.width = 256;
  bar.height = 1;
  const context = bar.getContext("2d");
  for (let step = 0; context !== null && step < 256; step++) {
    context.fillStyle = toCss(viridis(step / 255));
    context.fillRect(step, 0, 1, 1);
  }
  return bar;
}

/** @param {ContinuousScale} scale */
function createTicks(scale) {
  const ticks = document.createElement("div");
  ticks.className = "ticks";
  const fits = (/** @type {number} */ count, /** @type {number} */ length) => count * (TICK_SPACING * length + 1) <= LEGEND_CHARACTERS;
  for (const { value, label } of scale.axis.ticks(scale.low, scale.high, fits)) {
    const fraction = scale.toFraction(value);
    const lines = label.split(" "); // the time is below its day
    const half = Math.max(...lines.map(({ length }) => length)) / LEGEND_CHARACTERS / 2;
    const [mark, text] = [document.createElement("i"), document.createElement("span")];
    mark.style.left = `${100 * fraction}%`;
    text.style[fraction > 1 - half ? "right" : "left"] = fraction < half || fraction > 1 - half ? "0" : `${100 * fraction}%`;
    text.style.transform = fraction < half || fraction > 1 - half ? "" : "translateX(-50%)";
    text.textContent = lines.join("\n");
    ticks.append(mark, text);
    if (lines.length > 1) ticks.classList.add("two-lines");
  }
  return ticks;
}

/**
 * Two fields, for the first and the last value that is shown.
 * @param {ContinuousScale} scale
 * @param {[number, number] | null} range
 * @param {import("./color_scale.js").ApplyFilter} apply
 */
function createRangeFields(scale, range, apply) {
  const container = document.createElement("div");
  container.className = "range-fields";
  const fields = [createRangeField(scale, "from", scale.low, range?.[0]), createRangeField(scale, "up to", scale.high, range?.[1])];
  const update = () => {
    const [low, high] = fields.map((field) => field.valueAsNumber);
    const last = fields[1].type === "date" ? high + DAY - 1 : high; // the whole day
    const isAll = Number.isNaN(low) && Number.isNaN(high);
    apply({ hidden: new Set(), range: isAll ? null : [Number.isNaN(low) ? -Infinity : low, Number.isNaN(high) ? Infinity : last] });
  };
  for (const field of fields) field.addEventListener("change", update);
  container.append(...fields);
  return container;
}

/**
 * @param {ContinuousScale} scale
 * @param {"from" | "up to"} end
 * @param {number} bound of the color scale, shown while the field is empty
 * @param {number | undefined} chosen by the user
 */
function createRangeField({ axis, low, high }, end, bound, chosen = NaN) {
  const field = document.createElement("input");
  field.type = axis.inputType(high - low);
  field.step = field.type === "number" ? "any" : "";
  field.ariaLabel = `show ${axis.noun} ${end}`;
  field.placeholder = String(Number(bound.toPrecision(4)));
  if (Number.isFinite(chosen)) field.valueAsNumber = field.type === "date" ? Math.floor(chosen / DAY) * DAY : chosen;
  return field;
}
