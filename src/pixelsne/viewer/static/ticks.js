// Ticks along a scale of numbers or dates.

/**
 * @typedef {{value: number, name: string}} Tick
 * @typedef {(count: number, length: number) => boolean} Fits whether so many names of so many characters fit
 */

export const DAY = 86_400_000; // milliseconds
const MONTHS = [1, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12000, 60000, 120000, 600000];
const FIXED = [
  1, 5, 10, 50, 100, 500, 1_000, 5_000, 15_000, 30_000, 60_000, 300_000, 900_000, 1_800_000, 3_600_000, 10_800_000, 21_600_000,
  43_200_000, DAY, 2 * DAY, 7 * DAY, 14 * DAY,
];
const [YEAR_NAME, MONTH_NAME, DAY_NAME] = [4, 7, 10]; // characters; a time is written below its day
const TICK_DIGITS = 12; // enough for a small range of large numbers, and few enough to hide rounding errors

/**
 * Round numbers between two numbers, as many as fit.
 * @param {number} low
 * @param {number} high
 * @param {Fits} fits
 * @returns {Tick[]}
 */
export function numberTicks(low, high, fits) {
  const power = 10 ** Math.floor(Math.log10((high - low) / 10));
  const candidates = [1, 2, 5, 10, 20, 50].map((factor) => multiplesBetween(low, high, factor * power).map(numberTick));
  return candidates.find((ticks) => fits(ticks.length, Math.max(...ticks.map(({ name }) => name.length)))) ?? [];
}

/** @param {number} value */
function numberTick(value) {
  return { value, name: String(Number(value.toPrecision(TICK_DIGITS))) };
}

/**
 * Round dates between two dates, as many as fit. Names are the shortest part of ISO 8601 that distinguishes them.
 * @param {number} low milliseconds since 1970
 * @param {number} high
 * @param {Fits} fits
 * @returns {Tick[]}
 */
export function dateTicks(low, high, fits) {
  const step = FIXED.find((one) => fits(countBetween(low, high, one), DAY_NAME));
  let found = step === undefined ? firstsOfMonths(low, high, fits) : multiplesBetween(low, high, step);
  if (found.length < 2) found = [low, high];
  const names = found.map(formatDate);
  const isWhole = (/** @type {RegExp} */ rest) => names.every((name) => rest.test(name));
  const length = isWhole(/-01-01$/) ? -6 : isWhole(/-01$/) ? -3 : undefined;
  return found.map((value, index) => ({ value, name: names[index].slice(0, length) }));
}

/**
 * @param {number} low
 * @param {number} high
 * @param {number} step
 */
function countBetween(low, high, step) {
  return Math.floor(high / step) - Math.ceil(low / step) + 1;
}

/**
 * @param {number} low
 * @param {number} high
 * @param {number} step
 */
function multiplesBetween(low, high, step) {
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.max(0, countBetween(low, high, step)) }, (_, index) => (first + index) * step);
}

/**
 * @param {number} low
 * @param {number} high
 * @param {Fits} fits
 */
function firstsOfMonths(low, high, fits) {
  const month = (/** @type {number} */ time) => {
    const date = new Date(time);
    return 12 * date.getUTCFullYear() + date.getUTCMonth();
  };
  const first = month(low) + (Date.UTC(2000, month(low) - 24000) < low ? 1 : 0);
  const step = MONTHS.find((one) => fits(countBetween(first, month(high), one), one < 12 ? MONTH_NAME : YEAR_NAME));
  if (step === undefined || Number.isNaN(first)) return [];
  return multiplesBetween(first, month(high), step).map((one) => Date.UTC(2000, one - 24000));
}

/**
 * A date in ISO 8601, with the time unless it is midnight.
 * @param {number} time milliseconds since 1970
 */
export function formatDate(time) {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return "out of range";
  const [day, clock] = date.toISOString().slice(0, -1).split("T");
  return clock === "00:00:00.000" ? day : `${day} ${clock.replace(/(:00)?\.000$/, "")}`;
}
