// Files that the page saves: the image, selected rows, the map.

import { createImageLegend, drawImageLegend, measureLegendWidth } from "./image_legend.js";
import { drawOverlay } from "./overlay.js";

/**
 * Save the visible area with all points and a legend, but without the ring around a point.
 * @param {import("./app.js").App} app
 */
export async function saveImage(app) {
  const { renderer, overlay, scene, camera, layer } = app.renderLoop;
  const { right, bottom } = camera.visibleArea;
  const canvas = document.createElement("canvas");
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const ratio = renderer.canvas.width / camera.width;
  const legend = createImageLegend(app);
  const width = legend === null ? 0 : measureLegendWidth(context, legend, bottom);
  canvas.width = Math.round((right + width) * ratio);
  canvas.height = Math.round(bottom * ratio);
  const background = scene.dark ? "#121217" : "#ffffff";
  context.fillStyle = background;
  context.fillRect(0, 0, canvas.width, canvas.height);
  renderer.draw(scene, camera, 1, 0, layer === "points" ? scene.n : 0);
  context.drawImage(renderer.canvas, 0, 0);
  drawOverlay(overlay, scene, camera, { ...app.renderLoop.overlayContent(1, true), highlighted: -1, lasso: [] });
  context.drawImage(overlay.canvas, 0, 0);
  app.renderLoop.draw(); // start anew: all points are drawn already, and the next frame would draw more of them a second time
  context.scale(ratio, ratio);
  context.fillStyle = background;
  context.fillRect(right, 0, width, bottom);
  if (legend !== null) drawImageLegend(context, legend, right, bottom, scene.dark);
  const content = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  if (content instanceof Blob) download(content, "map.png");
}

/**
 * Save a file that the server writes.
 * @param {"map.parquet" | "selection.parquet"} name
 */
export async function saveFromServer(name) {
  const response = await fetch(`/${name}`);
  if (!response.ok) throw new Error(await response.text());
  download(await response.blob(), name);
}

/** @param {Uint32Array} rows */
export function saveRowNumbers(rows) {
  download(new Blob([`${[...rows].join("\n")}\n`], { type: "text/plain" }), "rows.txt");
}

/**
 * @param {import("./data.js").Column[]} columns
 * @param {Uint32Array} rows
 */
export async function saveCsv(columns, rows) {
  download(new Blob([await formatCsv(columns, rows)], { type: "text/csv" }), "selection.csv");
}

/**
 * Return the rows as csv. Text that begins like a formula gets an apostrophe, so that spreadsheets do not evaluate it.
 * @param {import("./data.js").Column[]} columns
 * @param {Uint32Array} rows
 */
async function formatCsv(columns, rows) {
  await Promise.all(columns.map((column) => column.load()));
  const quote = (/** @type {string} */ value) => {
    const safe = /^[=+@\t\r]|^-(?![\d.])/.test(value) ? `'${value}` : value;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const lines = [["row", ...columns.map((column) => column.name)].map(quote).join(",")];
  for (const row of rows) lines.push([String(row), ...columns.map((column) => quote(column.type.formatExact(column, row)))].join(","));
  return `${lines.join("\n")}\n`;
}

/**
 * @param {Blob} content
 * @param {string} name
 */
function download(content, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
