// The search: rows that contain all words of a query, in any order and in any column.

const ROWS_PER_SLICE = 20_000; // after which the page can react to input
const ROWS_PER_BLOCK = 256; // that are decoded together
const MAX_WORDS = 31; // one bit each

/**
 * Set in `foundWords`, for each row, the bits of the words that it contains. Return false if the search was canceled.
 * isLast: no other column follows, so that rows that cannot have all words may be skipped.
 * @typedef {(column: import("./data.js").Column, words: string[], foundWords: Uint32Array, isCanceled: () => boolean,
 *   isLast: boolean) => Promise<boolean>} SearchColumn
 */

/**
 * Text as it is compared: without accents and capitals, and with one form of the Greek sigma.
 * @param {string} text
 */
export function foldText(text) {
  const isAscii = !/[\u0080-\uffff]/.test(text);
  const folded = (isAscii ? text : text.normalize("NFD").replace(/[\u0300-\u036f]/g, "")).toLowerCase();
  return isAscii ? folded : folded.replaceAll("ς", "σ");
}

/**
 * @param {import("./data.js").Column[]} columns
 * @param {number} n
 * @param {string} query
 * @param {() => boolean} isCanceled
 * @returns {Promise<number[] | null>} ascending; null if canceled
 */
export async function findRows(columns, n, query, isCanceled) {
  const words = foldText(query).split(/\s+/).filter(Boolean).slice(0, MAX_WORDS);
  await Promise.all(columns.map((column) => column.load()));
  const foundWords = new Uint32Array(n);
  const ordered = [...columns].sort((first, second) => Number(first.type.isSlowToSearch) - Number(second.type.isSlowToSearch));
  for (const column of ordered) {
    if (isCanceled() || !(await column.type.search(column, words, foundWords, isCanceled, column === ordered.at(-1)))) return null;
  }
  const allWords = 2 ** words.length - 1;
  const rows = [];
  for (let row = 0; row < n; row++) if (foundWords[row] === allWords) rows.push(row);
  return rows;
}

/**
 * The bits of the words that a text contains.
 * @param {string} folded
 * @param {string[]} words
 */
function matchWords(folded, words) {
  let bits = 0;
  for (let index = 0; index < words.length; index++) if (folded.includes(words[index])) bits |= 1 << index;
  return bits;
}

/** @type {SearchColumn} */
export async function searchCategories(column, words, foundWords) {
  const bits = Uint32Array.from([...column.metadata.categories.map((name) => matchWords(foldText(name), words)), 0]);
  for (let row = 0; row < foundWords.length; row++) foundWords[row] |= bits[column.codes[row]];
  return true;
}

/**
 * Find a number by its value, as the page shows it or with all its digits.
 * @type {SearchColumn}
 */
export async function searchNumbers(column, words, foundWords) {
  words.forEach((word, index) => {
    const wanted = parseNumber(word);
    if (Number.isNaN(wanted)) return;
    const stored = column.metadata.isFloat64 ? wanted : Math.fround(wanted);
    const [low, high] = [wanted - 1e-6 * Math.abs(wanted), wanted + 1e-6 * Math.abs(wanted)];
    for (let row = 0; row < foundWords.length; row++) {
      const value = column.numbers[row];
      if (value < low || value > high || Number.isNaN(value)) continue;
      const isRounded = !Number.isInteger(value) && (value === stored || Number(value.toPrecision(7)) === wanted);
      if (value === wanted || isRounded) foundWords[row] |= 1 << index;
    }
  });
  return true;
}

/**
 * A number with or without commas between thousands; NaN for other words.
 * @param {string} word
 */
function parseNumber(word) {
  return Number(/^[+-]?\d{1,3}(,\d{3})+(\.\d*)?$/.test(word) ? word.replaceAll(",", "") : word);
}

/**
 * Find a date by its year, month or day.
 * @type {SearchColumn}
 */
export async function searchDates(column, words, foundWords) {
  words.forEach((word, index) => {
    const [first, end] = parseDate(word);
    if (Number.isNaN(first)) return;
    for (let row = 0; row < foundWords.length; row++) {
      if (column.numbers[row] >= first && column.numbers[row] < end) foundWords[row] |= 1 << index;
    }
  });
  return true;
}

/**
 * The range of times that a year, a month or a day covers; NaN for other words and dates that do not exist.
 * @param {string} word
 * @returns {[number, number]} milliseconds since 1970; the end is excluded
 */
function parseDate(word) {
  const parts = /^(\d{4})(?:-(\d\d))?(?:-(\d\d))?$/.exec(word);
  if (parts === null) return [NaN, NaN];
  const [year, month, day] = [Number(parts[1]), Number(parts[2] ?? 1) - 1, Number(parts[3] ?? 1)];
  const first = utcTime(year, month, day);
  const exists = new Date(first).getUTCMonth() === month && new Date(first).getUTCDate() === day;
  if (!exists) return [NaN, NaN];
  if (parts[3] !== undefined) return [first, utcTime(year, month, day + 1)];
  return [first, parts[2] !== undefined ? utcTime(year, month + 1, 1) : utcTime(year + 1, 0, 1)];
}

/**
 * Date.UTC, but years below 100 are not moved to the 20th century.
 * @param {number} year
 * @param {number} month from 0
 * @param {number} day
 */
function utcTime(year, month, day) {
  return new Date(0).setUTCFullYear(year, month, day);
}

/**
 * Decode and search whole blocks of rows; search row by row only in blocks with a match.
 * @type {SearchColumn}
 */
export async function searchTexts(column, words, foundWords, isCanceled, isLast) {
  const blockDecoder = new TextDecoder();
  for (let sliceStart = 0; sliceStart < foundWords.length; sliceStart += ROWS_PER_SLICE) {
    const sliceEnd = Math.min(foundWords.length, sliceStart + ROWS_PER_SLICE);
    for (let blockStart = sliceStart; blockStart < sliceEnd; blockStart += ROWS_PER_BLOCK) {
      const blockEnd = Math.min(sliceEnd, blockStart + ROWS_PER_BLOCK);
      const block = foldText(blockDecoder.decode(column.text.subarray(column.offsets[blockStart], column.offsets[blockEnd])));
      let possible = matchWords(block, words);
      if (possible === 0) continue;
      if (isLast) for (let row = blockStart; row < blockEnd; row++) possible |= foundWords[row];
      if (isLast && possible !== 2 ** words.length - 1) continue;
      for (let row = blockStart; row < blockEnd; row++) foundWords[row] |= matchWords(foldText(column.format(row)), words);
    }
    await new Promise((resume) => setTimeout(resume));
    if (isCanceled()) return false;
  }
  return true;
}
