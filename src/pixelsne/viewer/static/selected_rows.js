// Which rows are chosen, told in the drawer below the map and to pixelsne.

import { complain, element } from "./elements.js";
import { Table } from "./table.js";

export class SelectedRows {
  /**
   * @param {import("./data.js").Column[]} columns
   * @param {(row: number) => void} pointed
   */
  constructor(columns, pointed) {
    this.table = new Table(element("table"), columns, pointed);
    /** @type {Promise<void>} */
    this.sent = Promise.resolve(); // when pixelsne knows the rows that were sent last
  }

  /** @param {Uint32Array<ArrayBuffer>} rows */
  show(rows) {
    element("drawer").hidden = rows.length === 0;
    element("selected").textContent = `${rows.length.toLocaleString("en")} rows selected`;
    if (rows.length > 0) this.table.show(rows).catch(complain);
  }

  /**
   * To pixelsne, which writes them to files and hands them to whoever asks in Python.
   * @param {Uint32Array<ArrayBuffer>} rows
   */
  send(rows) {
    this.sent = fetch("/selection", { method: "POST", body: rows }).then((answer) => {
      if (!answer.ok) throw new Error("the selection did not reach pixelsne");
    });
    this.sent.catch(complain);
  }
}
