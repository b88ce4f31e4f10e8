// The legend beside a saved picture: what the colors on it mean.

import { css, GRAY, rgb, viridis } from "./colors.js";
import { shadeOf } from "./density.js";

const MOST_TICKS_BESIDE = 6;
const PAD = 18; // CSS pixels around the legend
const LINE_BESIDE = 22; // CSS pixels, fewer where many lines must find room
const LARGEST_FONT = 13;
const LONGEST_NAME = 32; // characters
const SCALE_WIDTH = 14;
const TALLEST_SCALE = 280;

/**
 * @typedef {{name: string, color: string}} Line
 * @typedef {{color: (share: number) => string, ticks: {share: number, name: string}[]}} Scale
 * @typedef {{title: string, lines: Line[], scale: Scale | null}} PictureLegend
 */

/**
 * @param {import("./app.js").App} app
 * @returns {PictureLegend | null} null where colors mean nothing
 */
export function legendOf({ coloring, legend, picture, scene }) {
  const density = picture.over(1).density;
  if (density !== null) return densityLegend(density.most, scene.dark);
  if (coloring.scale === null) return null;
  const lines = coloring.entries
    .filter((entry, index) => entry.count > 0 && !legend.shown.hidden.has(index))
    .map((entry) => ({ name: shortName(entry.name), color: css(entry.color) }));
  if (coloring.scale === "names") return { title: shortName(coloring.name), lines, scale: null };
  const ticks = coloring.ticks((count) => count <= MOST_TICKS_BESIDE).map(({ at, name }) => ({ share: (at - coloring.low) / (coloring.high - coloring.low), name }));
  const missing = coloring.missing > 0 && legend.shown.range === null ? [{ name: "no value", color: css(rgb(GRAY)) }] : [];
  return { title: shortName(coloring.name), lines: missing, scale: { color: (share) => css(viridis(share)), ticks } };
}

/**
 * @param {number} most points in the fullest cell
 * @param {boolean} dark
 * @returns {PictureLegend}
 */
function densityLegend(most, dark) {
  const powers = Array.from({ length: Math.floor(Math.log10(most)) + 1 }, (_, power) => 10 ** power);
  const counts = powers[powers.length - 1] < most / 2 ? [...powers, most] : powers;
  const ticks = counts.map((count) => ({ share: most > 1 ? Math.log(count) / Math.log(most) : 0, name: count.toLocaleString("en") }));
  return { title: "points", lines: [], scale: { color: (share) => css(shadeOf(share, dark)), ticks } };
}

/** @param {string} name */
function shortName(name) {
  const words = name === "" ? "(empty)" : name;
  return words.length > LONGEST_NAME ? `${words.slice(0, LONGEST_NAME - 1)}…` : words;
}

/**
 * @param {PictureLegend} legend
 * @param {number} height CSS pixels
 */
function metricsOf(legend, height) {
  const line = Math.min(LINE_BESIDE, (height - 2 * PAD) / (legend.lines.length + 1 + (legend.scale === null ? 0 : 6)));
  return { line, font: `${Math.min(LARGEST_FONT, 0.7 * line)}px system-ui, sans-serif` };
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {PictureLegend} legend
 * @param {number} height CSS pixels
 * @returns {number} CSS pixels that it takes
 */
export function legendWidth(context, legend, height) {
  context.font = metricsOf(legend, height).font;
  const names = [legend.title, ...legend.lines.map(({ name }) => name), ...(legend.scale?.ticks ?? []).map(({ name }) => name)];
  return Math.ceil(Math.max(...names.map((name) => context.measureText(name).width))) + 2 * PAD + SCALE_WIDTH + 10;
}

/**
 * @param {CanvasRenderingContext2D} context in CSS pixels
 * @param {PictureLegend} legend
 * @param {number} left
 * @param {number} height
 * @param {boolean} dark
 */
export function drawPictureLegend(context, { title, lines, scale }, left, height, dark) {
  const { line, font } = metricsOf({ title, lines, scale }, height);
  const ink = dark ? "#f0f0f3" : "#1d1d22";
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.font = `650 ${font}`;
  context.fillStyle = ink;
  let y = PAD + line / 2;
  context.fillText(title, left + PAD, y);
  context.font = font;
  y += line;
  if (scale !== null) y += drawScaleBeside(context, scale, left + PAD, y, Math.min(TALLEST_SCALE, height - y - PAD - line * lines.length), ink) + line;
  for (const { name, color } of lines) {
    context.beginPath();
    context.arc(left + PAD + 5, y, 5, 0, 2 * Math.PI);
    context.fillStyle = color;
    context.fill();
    context.fillStyle = ink;
    context.fillText(name, left + PAD + SCALE_WIDTH + 6, y);
    y += line;
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scale} scale
 * @param {number} x
 * @param {number} y
 * @param {number} height
 * @param {string} ink
 * @returns {number} CSS pixels that it takes
 */
function drawScaleBeside(context, { color, ticks }, x, y, height, ink) {
  for (let step = 0; step < height; step++) {
    context.fillStyle = color(1 - step / height);
    context.fillRect(x, y + step, SCALE_WIDTH, 1.5);
  }
  context.fillStyle = ink;
  for (const { share, name } of ticks) {
    const at = y + (1 - share) * height;
    context.fillRect(x + SCALE_WIDTH, at - 0.5, 4, 1);
    context.fillText(name, x + SCALE_WIDTH + 8, at);
  }
  return height;
}
