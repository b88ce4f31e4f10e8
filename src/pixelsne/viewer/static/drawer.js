// The drawer's buttons: what can be done with chosen rows.

import { complain, element } from "./elements.js";
import { saveCsv, saveFromServer, saveRowNumbers } from "./saving.js";

/** @param {import("./app.js").App} app */
export function holdDrawer(app) {
  const { columns, selection, selectedRows } = app;
  const saveParquet = () => selectedRows.sent.then(() => saveFromServer("selection.parquet"));
  element("zoom-selected").addEventListener("click", () => app.zoomTo((row) => selection.chosen[row] === 1));
  element("save-csv").addEventListener("click", () => saveCsv(columns, selection.rows()).catch(complain));
  element("save-ids").addEventListener("click", () => saveRowNumbers(selection.rows()).catch(complain));
  element("save-parquet").addEventListener("click", () => saveParquet().catch(complain));
  element("save-parquet").hidden = !app.manifest.exports;
  element("unselect").addEventListener("click", () => selection.clear());
}
