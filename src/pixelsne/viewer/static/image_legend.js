// The legend beside the map in a saved image.

import { css } from "./colors.js";
import { densityColor } from "./density.js";

const PAD = 18; // CSS pixels around the legend
const LINE_HEIGHT = 22; // CSS pixels, less if there are many lines
const MAX_FONT_SIZE = 13;
const MAX_NAME = 32; // characters
const SCALE_WIDTH = 14;
const MAX_SCALE_HEIGHT = 280;

/**
 * @typedef {{name: string, color: string}} LegendLine
 * @typedef {{color: (share: number) => string, ticks: {share: number, name: string}[]}} ColorBar share: 0 to 1
 * @typedef {{title: string, lines: LegendLine[], scale: ColorBar | null}} ImageLegend
 */

/**
 * @param {import("./app.js").App} app
 * @returns {ImageLegend | null} null if colors have no meaning
 */
export function imageLegendOf({ colorScale, legend, renderLoop, scene }) {
  const { density } = renderLoop.overlayContent(1);
  return density === null ? colorScale.imageLegend(legend.filter) : densityLegend(density.most, scene.dark);
}

/**
 * @param {number} most points in the fullest cell
 * @param {boolean} dark
 * @returns {ImageLegend}
 */
function densityLegend(most, dark) {
  const powers = Array.from({ length: Math.floor(Math.log10(most)) + 1 }, (_, power) => 10 ** power);
  const counts = powers[powers.length - 1] < most / 2 ? [...powers, most] : powers;
  const ticks = counts.map((count) => ({ share: most > 1 ? Math.log(count) / Math.log(most) : 0, name: count.toLocaleString("en") }));
  return { title: "points", lines: [], scale: { color: (share) => css(densityColor(share, dark)), ticks } };
}

/** @param {string} name */
function shortName(name) {
  const text = name === "" ? "(empty)" : name;
  return text.length > MAX_NAME ? `${text.slice(0, MAX_NAME - 1)}…` : text;
}

/**
 * @param {ImageLegend} legend
 * @param {number} height CSS pixels
 */
function metricsOf(legend, height) {
  const line = Math.min(LINE_HEIGHT, (height - 2 * PAD) / (legend.lines.length + 1 + (legend.scale === null ? 0 : 6)));
  return { line, font: `${Math.min(MAX_FONT_SIZE, 0.7 * line)}px system-ui, sans-serif` };
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {ImageLegend} legend
 * @param {number} height CSS pixels
 * @returns {number} CSS pixels
 */
export function legendWidth(context, legend, height) {
  context.font = metricsOf(legend, height).font;
  const names = [legend.title, ...legend.lines.map(({ name }) => name), ...(legend.scale?.ticks ?? []).map(({ name }) => name)];
  return Math.ceil(Math.max(...names.map((name) => context.measureText(shortName(name)).width))) + 2 * PAD + SCALE_WIDTH + 10;
}

/**
 * @param {CanvasRenderingContext2D} context in CSS pixels
 * @param {ImageLegend} legend
 * @param {number} left
 * @param {number} height
 * @param {boolean} dark
 */
export function drawImageLegend(context, { title, lines, scale }, left, height, dark) {
  const { line, font } = metricsOf({ title, lines, scale }, height);
  const ink = dark ? "#f0f0f3" : "#1d1d22";
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.font = `650 ${font}`;
  context.fillStyle = ink;
  let y = PAD + line / 2;
  context.fillText(shortName(title), left + PAD, y);
  context.font = font;
  y += line;
  if (scale !== null) y += drawColorBar(context, scale, left + PAD, y, Math.min(MAX_SCALE_HEIGHT, height - y - PAD - line * lines.length), ink) + line;
  for (const { name, color } of lines) {
    context.beginPath();
    context.arc(left + PAD + 5, y, 5, 0, 2 * Math.PI);
    context.fillStyle = color;
    context.fill();
    context.fillStyle = ink;
    context.fillText(shortName(name), left + PAD + SCALE_WIDTH + 6, y);
    y += line;
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {ColorBar} scale
 * @param {number} x
 * @param {number} y
 * @param {number} height
 * @param {string} ink
 * @returns {number} CSS pixels
 */
function drawColorBar(context, { color, ticks }, x, y, height, ink) {
  for (let step = 0; step < height; step++) {
    context.fillStyle = color(1 - step / height);
    context.fillRect(x, y + step, SCALE_WIDTH, 1.5);
  }
  context.fillStyle = ink;
  for (const { share, name } of ticks) {
    const tickY = y + (1 - share) * height;
    context.fillRect(x + SCALE_WIDTH, tickY - 0.5, 4, 1);
    context.fillText(name, x + SCALE_WIDTH + 8, tickY);
  }
  return height;
}
