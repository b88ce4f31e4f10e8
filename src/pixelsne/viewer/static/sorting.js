// Sorting rows by a column.

/**
 * @param {Uint32Array} rows
 * @param {(row: number) => number | string} keyOf NaN or "" for a missing value, which comes last in either direction
 * @param {boolean} isDescending
 * @returns {Uint32Array} rows with equal keys keep their order
 */
export function sortRows(rows, keyOf, isDescending) {
  const keys = Array.from(rows, keyOf);
  const isMissing = (/** @type {number} */ index) => keys[index] === "" || Number.isNaN(keys[index]);
  const order = Uint32Array.from(rows.keys());
  const present = order.filter((index) => !isMissing(index));
  const direction = isDescending ? -1 : 1;
  present.sort((first, second) => (keys[first] < keys[second] ? -direction : keys[first] > keys[second] ? direction : first - second));
  const sorted = new Uint32Array(rows.length);
  sorted.set(present);
  sorted.set(order.filter(isMissing), present.length);
  return sorted.map((index) => rows[index]);
}
