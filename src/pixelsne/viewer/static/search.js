// Rows that contain all words that were typed, in any order and in any column.

const ROWS_AT_ONCE = 20_000;
const ROWS_OF_BLOCK = 256;
const MOST_WORDS = 31; // one bit each

/**
 * Sets, for each row, the bits of the words that it contains; false if that was given up. isLast: no other column follows,
 * so that rows that cannot have all words may be skipped.
 * @typedef {(column: import("./data.js").Column, words: string[], found: Uint32Array, isStale: () => boolean,
 *   isLast: boolean) => Promise<boolean>} Mark
 */

/**
 * Without accents and capitals: what is compared.
 * @param {string} words
 */
export function fold(words) {
  const plain = /[\u0080-\uffff]/.test(words) ? words.normalize("NFD").replace(/[\u0300-\u036f]/g, "") : words;
  return plain.toLowerCase();
}

/**
 * @param {import("./data.js").Column[]} columns
 * @param {number} n
 * @param {string} typed
 * @param {() => boolean} isStale whether something else was typed meanwhile
 * @returns {Promise<number[] | null>} ascending; null if stale
 */
export async function findRows(columns, n, typed, isStale) {
  const words = fold(typed).split(/\s+/).filter(Boolean).slice(0, MOST_WORDS);
  await Promise.all(columns.map((column) => column.load()));
  const found = new Uint32Array(n);
  const isText = (/** @type {import("./data.js").Column} */ column) => Number(column.about.kind === "text");
  const ordered = [...columns].sort((first, second) => isText(first) - isText(second)); // what takes longest comes last
  for (const column of ordered) {
    if (isStale() || !(await column.kind.mark(column, words, found, isStale, column === ordered.at(-1)))) return null;
  }
  const all = 2 ** words.length - 1;
  const rows = [];
  for (let row = 0; row < n; row++) if (found[row] === all) rows.push(row);
  return rows;
}

/**
 * The bits of the words that a text contains.
 * @param {string} folded
 * @param {string[]} words
 */
function bitsOf(folded, words) {
  let bits = 0;
  for (let index = 0; index < words.length; index++) if (folded.includes(words[index])) bits |= 1 << index;
  return bits;
}

/** @type {Mark} */
export async function markCategories(column, words, found) {
  const bits = Uint32Array.from([...column.about.names.map((name) => bitsOf(fold(name), words)), 0]);
  for (let row = 0; row < found.length; row++) found[row] |= bits[column.codes[row]];
  return true;
}

/**
 * A number is found by its value, as it is shown or with all its digits.
 * @type {Mark}
 */
export async function markNumbers(column, words, found) {
  words.forEach((word, index) => {
    const wanted = asNumber(word);
    if (Number.isNaN(wanted)) return;
    const [low, high] = [wanted - 1e-6 * Math.abs(wanted), wanted + 1e-6 * Math.abs(wanted)];
    for (let row = 0; row < found.length; row++) {
      const value = column.numbers[row];
      if (value < low || value > high || Number.isNaN(value)) continue;
      if (value === wanted || (!Number.isInteger(value) && Number(value.toPrecision(7)) === wanted)) found[row] |= 1 << index;
    }
  });
  return true;
}

/**
 * With or without commas between thousands; NaN if it is no number.
 * @param {string} word
 */
function asNumber(word) {
  return Number(/^[+-]?\d{1,3}(,\d{3})+(\.\d*)?$/.test(word) ? word.replaceAll(",", "") : word);
}

/**
 * A date is found by its year, its month or its day.
 * @type {Mark}
 */
export async function markDates(column, words, found) {
  words.forEach((word, index) => {
    const parts = /^(\d{4})(?:-(\d\d))?(?:-(\d\d))?$/.exec(word);
    if (parts === null) return;
    const [year, month, day] = parts.slice(1).map((part) => (part === undefined ? undefined : Number(part)));
    const first = utc(year ?? 0, (month ?? 1) - 1, day ?? 1);
    const end = day !== undefined ? utc(year ?? 0, (month ?? 1) - 1, day + 1) : utc((year ?? 0) + (month === undefined ? 1 : 0), month ?? 0, 1);
    for (let row = 0; row < found.length; row++) {
      if (column.numbers[row] >= first && column.numbers[row] < end) found[row] |= 1 << index;
    }
  });
  return true;
}

/**
 * Date.UTC without its own idea of years below 100.
 * @param {number} year
 * @param {number} month from 0
 * @param {number} day
 */
function utc(year, month, day) {
  return new Date(0).setUTCFullYear(year, month, day);
}

/**
 * Blocks of rows are decoded at once, and only blocks with a match row by row.
 * @type {Mark}
 */
export async function markTexts(column, words, found, isStale, isLast) {
  const decoder = new TextDecoder();
  for (let first = 0; first < found.length; first += ROWS_AT_ONCE) {
    const end = Math.min(found.length, first + ROWS_AT_ONCE);
    for (let begin = first; begin < end; begin += ROWS_OF_BLOCK) {
      const last = Math.min(end, begin + ROWS_OF_BLOCK);
      const block = fold(decoder.decode(column.text.subarray(column.begins[begin], column.begins[last])));
      let possible = bitsOf(block, words);
      if (possible === 0) continue;
      if (isLast) for (let row = begin; row < last; row++) possible |= found[row];
      if (isLast && possible !== 2 ** words.length - 1) continue;
      for (let row = begin; row < last; row++) found[row] |= bitsOf(fold(column.words(row)), words);
    }
    await new Promise((resume) => setTimeout(resume));
    if (isStale()) return false;
  }
  return true;
}
