// What leaves the page as a file: the picture, chosen rows, the map.

/**
 * With all points, also while the map moves.
 * @param {import("./picture.js").Picture} picture
 */
export async function savePicture({ drawer, overlay, scene, camera, view }) {
  const made = document.createElement("canvas");
  made.width = drawer.canvas.width;
  made.height = drawer.canvas.height;
  const context = /** @type {CanvasRenderingContext2D} */ (made.getContext("2d"));
  context.fillStyle = scene.dark ? "#121217" : "#ffffff";
  context.fillRect(0, 0, made.width, made.height);
  drawer.draw(scene, camera, 1, 0, view === "points" ? scene.n : 0);
  context.drawImage(drawer.canvas, 0, 0);
  context.drawImage(overlay.canvas, 0, 0);
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
