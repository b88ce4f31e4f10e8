// The number field below the legend: how many categories have a color of their own.

import { element, input } from "./dom.js";

const MAX_COLORS = 30;
const MIN_COLORS = 2;
const DEFAULT_COLORS = 20;

/**
 * The number that the user chose; undefined for the default.
 * @param {import("./data.js").Column | null} column
 */
export function chosenColorCount(column) {
  const categoryCount = column?.metadata.categories.length ?? 0;
  const count = Number(input("color-count").value);
  return element("color-count-field").hidden || count === Math.min(DEFAULT_COLORS, categoryCount) ? undefined : count;
}

/**
 * Restore a number that the user chose for a column.
 * @param {number} count
 * @param {string} name of the column
 */
export function setColorCount(count, name) {
  input("color-count").value = String(count);
  input("color-count").dataset.column = name;
}

/**
 * Adapt the field to a column. Return the number of colors; a new column starts with the default.
 * @param {import("./data.js").Column | null} column
 */
export function fitColorCount(column) {
  const categoryCount = column?.metadata.categories.length ?? 0;
  const field = input("color-count");
  element("color-count-field").hidden = categoryCount <= MIN_COLORS;
  field.max = String(Math.min(MAX_COLORS, Math.max(MIN_COLORS, categoryCount)));
  if (field.value === "" || field.dataset.column !== column?.name) {
    field.value = String(Math.min(DEFAULT_COLORS, categoryCount));
    field.dataset.column = column?.name ?? "";
  }
  return Math.min(Number(field.max), Math.max(MIN_COLORS, Math.round(Number(field.value)) || DEFAULT_COLORS));
}
