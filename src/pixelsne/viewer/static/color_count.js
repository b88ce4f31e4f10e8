// How many categories have colors of their own: the field below the legend.

import { element, input } from "./elements.js";

const MOST_COLORS = 30;
const USUAL_COLORS = 20;

/**
 * The number that was chosen; undefined for the usual one.
 * @param {import("./data.js").Column | null} column
 */
export function chosenColorCount(column) {
  const names = column?.about.names.length ?? 0;
  const count = Number(input("shown").value);
  return element("shown-field").hidden || count === Math.min(USUAL_COLORS, names) ? undefined : count;
}

/**
 * Brings a chosen number back.
 * @param {number} count
 * @param {string} name of the column
 */
export function setColorCount(count, name) {
  input("shown").value = String(count);
  input("shown").dataset.column = name;
}

/**
 * Fits the field to a column and reads it; another column begins with the usual number.
 * @param {import("./data.js").Column | null} column
 */
export function fitColorCount(column) {
  const names = column?.about.names.length ?? 0;
  const field = input("shown");
  element("shown-field").hidden = column?.kind.scale !== "names" || names <= 2;
  field.max = String(Math.min(MOST_COLORS, Math.max(2, names)));
  if (field.value === "" || field.dataset.column !== column?.about.name) {
    field.value = String(Math.min(USUAL_COLORS, names));
    field.dataset.column = column?.about.name ?? "";
  }
  return Math.min(Number(field.max), Math.max(2, Math.round(Number(field.value)) || USUAL_COLORS));
}
