// What leaves the page as a file: the picture, chosen rows, the map.

import { drawOverlay } from "./overlay.js";
import { drawPictureLegend, legendOf, legendWidth } from "./picture_legend.js";

/**
 * The map as far as nothing covers it, with all points, also while it moves, without the ring around a point, and with a
 * legend.
 * @param {import("./app.js").App} app
 */
export async function savePicture(app) {
  const { drawer, overlay, scene, camera, view } = app.picture;
  const { right, bottom } = camera.room;
  const made = document.createElement("canvas");
  const context = /** @type {CanvasRenderingContext2D} */ (made.getContext("2d"));
  const ratio = drawer.canvas.width / camera.width;
  const legend = legendOf(app);
  const beside = legend === null ? 0 : legendWidth(context, legend, bottom);
  made.width = Math.round((right + beside) * ratio);
  made.height = Math.round(bottom * ratio);
  const ground = scene.dark ? "#121217" : "#ffffff";
  context.fillStyle = ground;
  context.fillRect(0, 0, made.width, made.height);
  drawer.draw(scene, camera, 1, 0, view === "points" ? scene.n : 0);
  context.drawImage(drawer.canvas, 0, 0);
  drawOverlay(overlay, scene, camera, { ...app.picture.over(1), pointed: -1, lasso: [] });
  context.drawImage(overlay.canvas, 0, 0);
  app.picture.draw(true);
  context.scale(ratio, ratio);
  context.fillStyle = ground;
  context.fillRect(right, 0, beside, bottom);
  if (legend !== null) drawPictureLegend(context, legend, right, bottom, scene.dark);
  const content = await new Promise((resolve) => made.toBlob(resolve, "image/png"));
  if (content instanceof Blob) download(content, "map.png");
}

/**
 * What pixelsne writes itself.
 * @param {"map.parquet" | "selection.parquet"} name
 */
export async function saveFromServer(name) {
  const answer = await fetch(`/${name}`);
  if (!answer.ok) throw new Error(await answer.text());
  download(await answer.blob(), name);
}

/** @param {Uint32Array} rows */
export async function saveRowNumbers(rows) {
  download(new Blob([`${[...rows].join("\n")}\n`], { type: "text/plain" }), "rows.txt");
}

/**
 * @param {import("./data.js").Column[]} columns
 * @param {Uint32Array} rows
 */
export async function saveCsv(columns, rows) {
  download(new Blob([await asCsv(columns, rows)], { type: "text/csv" }), "selection.csv");
}

/**
 * As other programs read it; what begins like a formula is kept from being one.
 * @param {import("./data.js").Column[]} columns
 * @param {Uint32Array} rows
 */
async function asCsv(columns, rows) {
  await Promise.all(columns.map((column) => column.load()));
  const quoted = (/** @type {string} */ words) => {
    const harmless = /^[=+@\t\r]|^-(?![\d.])/.test(words) ? `'${words}` : words;
    return /[",\n\r]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
  };
  const lines = [["row", ...columns.map((column) => column.about.name)].map(quoted).join(",")];
  for (const row of rows) lines.push([String(row), ...columns.map((column) => quoted(column.kind.exact(column, row)))].join(","));
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
