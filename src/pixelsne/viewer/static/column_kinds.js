// The kinds of columns: how their bytes are read, told in words, colored, sorted and searched. A new kind is an entry
// here and a function among KINDS in layout.py.

import { fold, markCategories, markDates, markNumbers, markTexts } from "./search.js";
import { DAY, dateAndTime, dateTicks, numberTicks } from "./ticks.js";

/**
 * @typedef {import("./data.js").Column} Column
 * @typedef {{
 *   take: (column: Column, content: ArrayBuffer) => void,
 *   words: (column: Column, row: number) => string,
 *   exact: (column: Column, row: number) => string,
 *   key: (column: Column, row: number) => number | string,
 *   mark: import("./search.js").Mark,
 *   scale: "names" | "numbers" | null,
 *   ticks: (low: number, high: number, fits: import("./ticks.js").Fits) => import("./ticks.js").Tick[],
 *   leastSpan: number,
 * }} Kind
 * exact: with all digits, for files. key: by what rows are sorted; NaN or "" without a value. mark: sets the bits of the
 * words that a row contains. scale: by what the map can be colored; ticks and leastSpan are for scales of numbers.
 */

const WITHOUT_SCALE = { scale: null, ticks: () => [], leastSpan: 1 };

/** @type {Kind} */
const category = {
  ...WITHOUT_SCALE,
  take(column, content) {
    const { length } = column.about.names;
    column.codes = new (length < 256 ? Uint8Array : length < 65536 ? Uint16Array : Uint32Array)(content);
  },
  words: (column, row) => column.about.names[column.codes[row]] ?? "",
  exact: (column, row) => category.words(column, row),
  key: (column, row) => (column.codes[row] < column.about.names.length ? column.codes[row] : NaN),
  mark: markCategories,
  scale: "names",
};

/** @type {Kind} */
const number = {
  take(column, content) {
    column.numbers = column.about.wide ? new Float64Array(content) : new Float32Array(content);
  },
  words(column, row) {
    const value = column.numbers[row];
    if (Number.isNaN(value)) return "";
    return String(Number.isInteger(value) ? value : Number(value.toPrecision(7)));
  },
  exact(column, row) {
    const value = column.numbers[row];
    return column.about.wide && !Number.isNaN(value) ? String(value) : number.words(column, row);
  },
  key: (column, row) => column.numbers[row],
  mark: markNumbers,
  scale: "numbers",
  ticks: numberTicks,
  leastSpan: 1,
};

/** @type {Kind} */
const date = {
  take(column, content) {
    column.numbers = new Float64Array(content);
  },
  words: (column, row) => (Number.isNaN(column.numbers[row]) ? "" : dateAndTime(column.numbers[row])),
  exact: (column, row) => date.words(column, row),
  key: (column, row) => column.numbers[row],
  mark: markDates,
  scale: "numbers",
  ticks: dateTicks,
  leastSpan: DAY,
};

const decoder = new TextDecoder();

/** @type {Kind} */
const text = {
  ...WITHOUT_SCALE,
  take(column, content) {
    column.begins = new Uint32Array(content, 0, column.n + 1);
    column.text = new Uint8Array(content, 4 * (column.n + 1));
  },
  words: (column, row) => decoder.decode(column.text.subarray(column.begins[row], column.begins[row + 1])),
  exact: (column, row) => text.words(column, row),
  key: (column, row) => fold(text.words(column, row)),
  mark: markTexts,
};

export const KINDS = { category, number, date, text };
