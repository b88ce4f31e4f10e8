// Rows whose words contain what was typed.

const ROWS_AT_ONCE = 20_000;

/**
 * @param {import("./data.js").Column[]} columns
 * @param {number} n
 * @param {string} typed
 * @param {() => boolean} isStale whether something else was typed meanwhile
 * @returns {Promise<number[] | null>} ascending; null if stale
 */
export async function findRows(columns, n, typed, isStale) {
  const wanted = typed.toLocaleLowerCase();
  const searched = columns.filter((column) => column.kind.mark !== null);
  await Promise.all(searched.map((column) => column.load()));
  const found = new Uint8Array(n);
  for (const column of searched) {
    if (isStale() || !(await column.kind.mark?.(column, wanted, found, isStale))) return null;
  }
  const rows = [];
  for (let row = 0; row < n; row++) if (found[row]) rows.push(row);
  return rows;
}

/**
 * @param {import("./data.js").Column} column
 * @param {string} wanted
 * @param {Uint8Array} found
 */
export async function markCategories(column, wanted, found) {
  const matches = column.about.names.map((name) => name.toLocaleLowerCase().includes(wanted));
  for (let row = 0; row < found.length; row++) if (matches[column.codes[row]]) found[row] = 1;
  return true;
}

/**
 * Blocks of rows are decoded at once, and only blocks with a match row by row.
 * @param {import("./data.js").Column} column
 * @param {string} wanted
 * @param {Uint8Array} found
 * @param {() => boolean} isStale
 */
export async function markTexts(column, wanted, found, isStale) {
  const decoder = new TextDecoder();
  for (let first = 0; first < found.length; first += ROWS_AT_ONCE) {
    const end = Math.min(found.length, first + ROWS_AT_ONCE);
    for (let begin = first; begin < end; begin += 256) {
      const last = Math.min(end, begin + 256);
      const block = decoder.decode(column.text.subarray(column.begins[begin], column.begins[last])).toLocaleLowerCase();
      if (!block.includes(wanted)) continue;
      for (let row = begin; row < last; row++) {
        if (column.words(row).toLocaleLowerCase().includes(wanted)) found[row] = 1;
      }
    }
    await new Promise((resume) => setTimeout(resume));
    if (isStale()) return false;
  }
  return true;
}
