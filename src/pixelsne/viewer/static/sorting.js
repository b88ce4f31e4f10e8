// Rows in the order of a column.

/**
 * @param {Uint32Array} rows
 * @param {(row: number) => number | string} keyOf NaN or "" without a value, which comes last in either direction
 * @param {boolean} isDescending
 * @returns {Uint32Array} rows with equal keys stay in their order
 */
export function sortedRows(rows, keyOf, isDescending) {
  const keys = Array.from(rows, keyOf);
  const isMissing = (/** @type {number} */ index) => keys[index] === "" || Number.isNaN(keys[index]);
  const order = Uint32Array.from(rows.keys());
  const known = order.filter((index) => !isMissing(index));
  const direction = isDescending ? -1 : 1;
  known.sort((first, second) => (keys[first] < keys[second] ? -direction : keys[first] > keys[second] ? direction : first - second));
  const all = new Uint32Array(rows.length);
  all.set(known);
  all.set(order.filter(isMissing), known.length);
  return all.map((index) => rows[index]);
}
