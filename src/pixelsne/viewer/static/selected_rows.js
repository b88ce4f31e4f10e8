// The selected rows: the table in the drawer shows them, and the server receives them.

import { element, showError } from "./dom.js";
import { Table } from "./table.js";

export class SelectedRows {
  /**
   * @param {import("./data.js").Column[]} columns
   * @param {(row: number) => void} onHover called when the pointer enters a line of the table
   */
  constructor(columns, onHover) {
    this.table = new Table(element("table"), columns, onHover);
    /** @type {Promise<void>} */
    this.sent = Promise.resolve(); // resolves when the server has the last selection
    /** @type {Uint32Array<ArrayBuffer> | null} */
    this._waiting = null;
  }

  /** @param {Uint32Array<ArrayBuffer>} rows */
  show(rows) {
    element("drawer").hidden = rows.length === 0;
    element("selection-count").textContent = `${rows.length.toLocaleString("en")} rows selected`;
    if (rows.length > 0) this.table.show(rows).catch(showError);
  }

  /**
   * Send the rows to the server, which exports them and returns them in `View.selection`. Requests are sent one after
   * another, since two at once could arrive in the wrong order; a selection that was replaced meanwhile is skipped.
   * @param {Uint32Array<ArrayBuffer>} rows
   */
  send(rows) {
    this._waiting = rows;
    this.sent = this.sent.catch(() => {}).then(() => (this._waiting === rows ? postRows(rows) : undefined));
    this.sent.catch(showError);
  }
}

/** @param {Uint32Array<ArrayBuffer>} rows */
async function postRows(rows) {
  const response = await fetch("/selection", { method: "POST", body: rows });
  if (!response.ok) throw new Error("the selection did not reach pixelsne");
}
