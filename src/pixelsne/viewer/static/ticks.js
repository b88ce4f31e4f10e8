// Ticks along a scale of numbers or dates.

/**
 * @typedef {{value: number, label: string}} Tick
 * @typedef {(count: number, length: number) => boolean} Fits whether so many labels of so many characters fit
 */

export const DAY = 86_400_000; // milliseconds
const MONTH_INTERVALS = [1, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12000, 60000, 120000, 600000]; // between two ticks
const MONTHS_TO_2000 = 24_000; // from year 0
const TIME_INTERVALS = [ // milliseconds between two ticks
  1, 5, 10, 50, 100, 500, 1_000, 5_000, 15_000, 30_000, 60_000, 300_000, 900_000, 1_800_000, 3_600_000, 10_800_000, 21_600_000,
  43_200_000, DAY, 2 * DAY, 7 * DAY, 14 * DAY,
];
const [YEAR_LENGTH, MONTH_LENGTH, DAY_LENGTH] = [4, 7, 10]; // characters of a label; a time is written below its day
const TICK_DIGITS = 12; // enough for a small range of large numbers, and few enough to hide rounding errors

/**
 * Return round numbers between two numbers, as many as fit.
 * @param {number} low
 * @param {number} high
 * @param {Fits} fits
 * @returns {Tick[]}
 */
export function numberTicks(low, high, fits) {
  const power = 10 ** Math.floor(Math.log10((high - low) / 10));
  const candidates = [1, 2, 5, 10, 20, 50].map((factor) => multiplesBetween(low, high, factor * power).map(numberTick));
  return candidates.find((ticks) => fits(ticks.length, Math.max(...ticks.map(({ label }) => label.length)))) ?? [];
}

/** @param {number} value */
function numberTick(value) {
  return { value, label: String(Number(value.toPrecision(TICK_DIGITS))) };
}

/**
 * Return round dates between two dates, as many as fit. Labels are the shortest part of ISO 8601 that distinguishes them.
 * @param {number} low milliseconds since 1970
 * @param {number} high
 * @param {Fits} fits
 * @returns {Tick[]}
 */
export function dateTicks(low, high, fits) {
  const step = TIME_INTERVALS.find((one) => fits(countBetween(low, high, one), DAY_LENGTH));
  let values = step === undefined ? firstsOfMonths(low, high, fits) : multiplesBetween(low, high, step);
  if (values.length < 2) values = [low, high];
  const labels = values.map(formatDate);
  const allMatch = (/** @type {RegExp} */ ending) => labels.every((label) => ending.test(label));
  const length = allMatch(/-01-01$/) ? -6 : allMatch(/-01$/) ? -3 : undefined;
  return values.map((value, index) => ({ value, label: labels[index].slice(0, length) }));
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
  const first = month(low) + (Date.UTC(2000, month(low) - MONTHS_TO_2000) < low ? 1 : 0);
  const step = MONTH_INTERVALS.find((one) => fits(countBetween(first, month(high), one), one < 12 ? MONTH_LENGTH : YEAR_LENGTH));
  if (step === undefined || Number.isNaN(first)) return [];
  return multiplesBetween(first, month(high), step).map((one) => Date.UTC(2000, one - MONTHS_TO_2000));
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
