// The column types of the page: how each is decoded, formatted, sorted, searched and colored. A new type is an object
// here and a class with the same kind in column_types.py.

import { CategoricalScale } from "./categorical_scale.js";
import { ContinuousScale } from "./continuous_scale.js";
import { foldText, searchCategories, searchDates, searchNumbers, searchTexts } from "./search.js";
import { DAY, dateTicks, formatDate, numberTicks } from "./ticks.js";

const SHORT_SPAN = 3 * DAY; // within which the user filters by time instead of day

/**
 * @typedef {import("./data.js").Column} Column
 * @typedef {{
 *   decode: (column: Column, content: ArrayBuffer) => void,
 *   format: (column: Column, row: number) => string,
 *   formatExact: (column: Column, row: number) => string,
 *   formatStart?: (column: Column, row: number, bytes: number) => string,
 *   sortKey: (column: Column, row: number) => number | string,
 *   search: import("./search.js").SearchColumn,
 *   isSlowToSearch: boolean,
 *   colorScale: ((column: Column, maxColors: number) => import("./color_scale.js").ColorScale) | null,
 * }} ColumnType
 * format: for table and tooltip; "" for a missing value. formatExact: with all digits, for files. formatStart: the beginning of a long
 * text. sortKey: NaN or "" for a
 * missing value. colorScale: with its legend; null if points cannot be colored by this type.
 */

/** @type {ColumnType} */
const category = {
  decode(column, content) {
    const { length } = column.metadata.categories;
    column.codes = new (length < 256 ? Uint8Array : length < 65536 ? Uint16Array : Uint32Array)(content);
  },
  format: (column, row) => column.metadata.categories[column.codes[row]] ?? "",
  formatExact: (column, row) => category.format(column, row),
  sortKey: (column, row) => (column.codes[row] < column.metadata.categories.length ? column.codes[row] : NaN),
  search: searchCategories,
  isSlowToSearch: false,
  colorScale: (column, maxColors) => new CategoricalScale(column, maxColors),
};

/** @type {import("./continuous_scale.js").Axis} */
const numberAxis = { noun: "numbers", minSpan: 1, ticks: numberTicks, inputType: () => "number" };

/** @type {ColumnType} */
const number = {
  decode(column, content) {
    column.numbers = column.metadata.isFloat64 ? new Float64Array(content) : new Float32Array(content);
  },
  format(column, row) {
    const value = column.numbers[row];
    if (Number.isNaN(value)) return "";
    return String(Number.isInteger(value) ? value : Number(value.toPrecision(7)));
  },
  formatExact(column, row) {
    const value = column.numbers[row];
    if (Number.isNaN(value)) return "";
    return column.metadata.isFloat64 ? String(value) : shortestFloat32(value);
  },
  sortKey: (column, row) => column.numbers[row],
  search: searchNumbers,
  isSlowToSearch: false,
  colorScale: (column) => new ContinuousScale(column, numberAxis),
};

/**
 * The shortest decimal number that reads back as the same float32.
 * @param {number} value
 */
function shortestFloat32(value) {
  const rounded = [6, 7, 8, 9].map((digits) => Number(value.toPrecision(digits)));
  return String(rounded.find((one) => Math.fround(one) === value) ?? value);
}

/** @type {import("./continuous_scale.js").Axis} */
const dateAxis = { noun: "dates", minSpan: DAY, ticks: dateTicks, inputType: (span) => (span < SHORT_SPAN ? "datetime-local" : "date") };

/** @type {ColumnType} */
const date = {
  decode(column, content) {
    column.numbers = new Float64Array(content);
  },
  format: (column, row) => (Number.isNaN(column.numbers[row]) ? "" : formatDate(column.numbers[row])),
  formatExact: (column, row) => date.format(column, row),
  sortKey: (column, row) => column.numbers[row],
  search: searchDates,
  isSlowToSearch: false,
  colorScale: (column) => new ContinuousScale(column, dateAxis),
};

const decoder = new TextDecoder();

/** @type {ColumnType} */
const text = {
  decode(column, content) {
    column.offsets = new Uint32Array(content, 0, column.n + 1);
    column.text = new Uint8Array(content, 4 * (column.n + 1));
  },
  format: (column, row) => decoder.decode(column.text.subarray(column.offsets[row], column.offsets[row + 1])),
  formatExact: (column, row) => text.format(column, row),
  formatStart(column, row, bytes) {
    const begin = column.offsets[row];
    return decoder.decode(column.text.subarray(begin, Math.min(column.offsets[row + 1], begin + bytes))).replace(/\ufffd+$/, "");
  },
  sortKey: (column, row) => foldText(text.format(column, row)),
  search: searchTexts,
  isSlowToSearch: true,
  colorScale: null,
};

export const COLUMN_TYPES = { category, number, date, text };
