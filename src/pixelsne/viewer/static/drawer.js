// The buttons of the drawer with the selected rows.

import { element, showError } from "./dom.js";
import { saveCsv, saveFromServer, saveRowNumbers } from "./downloads.js";

/** @param {import("./app.js").App} app */
export function bindDrawer(app) {
  const { columns, selection, selectedRows } = app;
  const saveParquet = () => selectedRows.sent.then(() => saveFromServer("selection.parquet"));
  element("zoom-selected").addEventListener("click", () => app.zoomTo((row) => selection.mask[row] === 1));
  element("save-csv").addEventListener("click", () => saveCsv(columns, selection.rows()).catch(showError));
  element("save-row-numbers").addEventListener("click", () => saveRowNumbers(selection.rows()));
  element("save-parquet").addEventListener("click", () => saveParquet().catch(showError));
  element("save-parquet").hidden = !app.manifest.canExport;
  element("clear-selection").addEventListener("click", () => selection.clear());
}
