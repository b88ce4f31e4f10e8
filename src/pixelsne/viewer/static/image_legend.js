// The legend beside the map in a saved image.

import { toCss } from "./colors.js";
import { densityColor, LEGEND_SIDE } from "./density.js";

const LEGEND_PADDING = 18; // CSS pixels around the legend
const MAX_LINE_HEIGHT = 22; // CSS pixels; lines are lower if there are many
const MAX_FONT_SIZE = 13; // CSS pixels
const MAX_NAME_CHARACTERS = 32;
const COLOR_BAR_WIDTH = 14; // CSS pixels
const MAX_COLOR_BAR_HEIGHT = 280; // CSS pixels

/**
 * @typedef {{name: string, color: string}} LegendLine
 * @typedef {{color: (fraction: number) => string, ticks: {fraction: number, label: string}[]}} ColorBar fraction: 0 to 1
 * @typedef {{title: string, lines: LegendLine[], colorBar: ColorBar | null}} ImageLegend
 */

/**
 * @param {import("./app.js").App} app
 * @returns {ImageLegend | null} null if no column colors the points
 */
export function createImageLegend({ colorScale, legend, renderLoop, scene }) {
  const { density } = renderLoop.overlayContent(1);
  const hasClasses = density === null || density.hasClasses;
  return hasClasses ? colorScale.imageLegend(legend.filter) : densityLegend(density.scale, scene.dark);
}

/**
 * @param {import("./density.js").DensityScale} scale
 * @param {boolean} dark
 * @returns {ImageLegend}
 */
function densityLegend(scale, dark) {
  const title = `points in ${LEGEND_SIDE} × ${LEGEND_SIDE} px`;
  return { title, lines: [], colorBar: { color: (fraction) => toCss(densityColor(fraction, dark)), ticks: scale.ticks() } };
}

/** @param {string} name */
function shortName(name) {
  const text = name === "" ? "(empty)" : name;
  return text.length > MAX_NAME_CHARACTERS ? `${text.slice(0, MAX_NAME_CHARACTERS - 1)}…` : text;
}

/**
 * @param {ImageLegend} legend
 * @param {number} height CSS pixels
 */
function computeLineMetrics(legend, height) {
  const line = Math.min(MAX_LINE_HEIGHT, (height - 2 * LEGEND_PADDING) / (legend.lines.length + 1 + (legend.colorBar === null ? 0 : 6)));
  return { line, font: `${Math.min(MAX_FONT_SIZE, 0.7 * line)}px system-ui, sans-serif` };
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {ImageLegend} legend
 * @param {number} height CSS pixels
 * @returns {number} CSS pixels
 */
export function measureLegendWidth(context, legend, height) {
  context.font = computeLineMetrics(legend, height).font;
  const names = [legend.title, ...legend.lines.map(({ name }) => name), ...(legend.colorBar?.ticks ?? []).map(({ label }) => label)];
  return Math.ceil(Math.max(...names.map((name) => context.measureText(shortName(name)).width))) + 2 * LEGEND_PADDING + COLOR_BAR_WIDTH + 10;
}

/**
 * @param {CanvasRenderingContext2D} context in CSS pixels
 * @param {ImageLegend} legend
 * @param {number} left
 * @param {number} height
 * @param {boolean} dark
 */
export function drawImageLegend(context, { title, lines, colorBar }, left, height, dark) {
  const { line, font } = computeLineMetrics({ title, lines, colorBar }, height);
  const ink = dark ? "#f0f0f3" : "#1d1d22";
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.font = `650 ${font}`;
  context.fillStyle = ink;
  let y = LEGEND_PADDING + line / 2;
  context.fillText(shortName(title), left + LEGEND_PADDING, y);
  context.font = font;
  y += line;
  if (colorBar !== null) {
    const barHeight = Math.min(MAX_COLOR_BAR_HEIGHT, height - y - LEGEND_PADDING - line * lines.length);
    drawColorBar(context, colorBar, left + LEGEND_PADDING, y, barHeight, ink);
    y += barHeight + line;
  }
  for (const { name, color } of lines) {
    context.beginPath();
    context.arc(left + LEGEND_PADDING + 5, y, 5, 0, 2 * Math.PI);
    context.fillStyle = color;
    context.fill();
    context.fillStyle = ink;
    context.fillText(shortName(name), left + LEGEND_PADDING + COLOR_BAR_WIDTH + 6, y);
    y += line;
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {ColorBar} colorBar
 * @param {number} x
 * @param {number} y
 * @param {number} height
 * @param {string} ink color of text and ticks
 */
function drawColorBar(context, { color, ticks }, x, y, height, ink) {
  for (let step = 0; step < height; step++) {
    context.fillStyle = color(1 - step / height);
    context.fillRect(x, y + step, COLOR_BAR_WIDTH, 1.5);
  }
  context.fillStyle = ink;
  for (const { fraction, label } of ticks) {
    const tickY = y + (1 - fraction) * height;
    context.fillRect(x + COLOR_BAR_WIDTH, tickY - 0.5, 4, 1);
    context.fillText(label, x + COLOR_BAR_WIDTH + 8, tickY);
  }
}
