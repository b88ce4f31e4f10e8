// The kinds of columns: how their bytes are read, told in words, colored and searched. A new kind is an entry here and
// a function among KINDS in layout.py.

import { markCategories, markTexts } from "./search.js";

/**
 * @typedef {import("./data.js").Column} Column
 * @typedef {{
 *   take: (column: Column, content: ArrayBuffer) => void,
 *   words: (column: Column, row: number) => string,
 *   exact: (column: Column, row: number) => string,
 *   scale: "names" | "numbers" | null,
 *   mark: ((column: Column, wanted: string, found: Uint8Array, isStale: () => boolean) => Promise<boolean>) | null,
 * }} Kind
 * exact: with all digits, for files. scale: by what the map can be colored. mark: sets 1 for each row that contains what
 * is wanted, false if that was given up; null if nobody searches here.
 */

/** @type {Kind} */
const category = {
  take(column, content) {
    const { length } = column.about.names;
    column.codes = new (length < 256 ? Uint8Array : length < 65536 ? Uint16Array : Uint32Array)(content);
  },
  words: (column, row) => column.about.names[column.codes[row]] ?? "",
  exact: (column, row) => category.words(column, row),
  scale: "names",
  mark: markCategories,
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
  scale: "numbers",
  mark: null,
};

const decoder = new TextDecoder();

/** @type {Kind} */
const text = {
  take(column, content) {
    column.begins = new Uint32Array(content, 0, column.n + 1);
    column.text = new Uint8Array(content, 4 * (column.n + 1));
  },
  words: (column, row) => decoder.decode(column.text.subarray(column.begins[row], column.begins[row + 1])),
  exact: (column, row) => text.words(column, row),
  scale: null,
  mark: markTexts,
};

export const KINDS = { category, number, text };
