// The table of selected rows. Only the visible lines are in the document.

import { sortRows } from "./sorting.js";
import { VirtualScroller } from "./virtual_scroller.js";

const TABLE_LINE_HEIGHT = 28; // CSS pixels
const OVERSCAN_LINES = 8; // above and below the visible ones
const CELL_PADDING = 32; // CSS pixels beside the text of a cell
const SORT_ARROW_WIDTH = 20; // CSS pixels
const MAX_HEADING_WIDTH = 200; // CSS pixels; a longer name ends in an ellipsis
const MIN_COLUMN_WIDTH = 60; // CSS pixels
const MAX_COLUMN_WIDTH = 420; // CSS pixels, unless there is space left
const SAMPLED_ROWS = 60; // whose text is measured
const MAX_CELL_CHARACTERS = 300;

/** @typedef {{name: string, format: (row: number) => string, sortKey: (row: number) => number | string}} TableColumn */

export class Table {
  /**
   * @param {HTMLElement} root
   * @param {import("./data.js").Column[]} columns
   * @param {(row: number) => void} onHover called when the pointer enters a line
   */
  constructor(root, columns, onHover) {
    this.root = root;
    this.dataColumns = columns;
    this.onHover = onHover;
    /** @type {Uint32Array} ascending */
    this.rows = new Uint32Array(0);
    this.sorted = this.rows;
    this.sort = { column: 0, isDescending: false };
    /** @type {TableColumn[]} */
    this.columns = [
      { name: "row", format: String, sortKey: (row) => row },
      ...columns.map((column) => ({
        name: column.name,
        format: (/** @type {number} */ row) => column.format(row).slice(0, MAX_CELL_CHARACTERS),
        sortKey: (/** @type {number} */ row) => column.type.sortKey(column, row),
      })),
    ];
    const { grid, head, body } = createTable(root);
    this.grid = grid;
    this.head = head;
    this.body = body;
    this.head.append(...this.columns.map(({ name }, index) => this._createHeading(name, index)));
    this.scroller = new VirtualScroller(root, this.body, TABLE_LINE_HEIGHT, () => this._draw());
    new ResizeObserver(() => this._fitWidths()).observe(root);
  }

  /** @param {Uint32Array<ArrayBuffer>} rows */
  async show(rows) {
    this.rows = rows;
    this.sorted = rows;
    this.grid.setAttribute("aria-rowcount", String(rows.length + 1));
    this._fitWidths();
    this.scroller.setCount(rows.length);
    await Promise.all(this.dataColumns.map((column) => column.load()));
    if (this.rows === rows) this._applySort();
  }

  /**
   * The first click sorts ascending, the second descending, the third restores the order of the rows.
   * @param {number} column
   */
  sortBy(column) {
    const isSame = this.sort.column === column;
    this.sort = isSame && this.sort.isDescending ? { column: 0, isDescending: false } : { column, isDescending: isSame };
    this._applySort();
  }

  _applySort() {
    const { column, isDescending } = this.sort;
    this.sorted = column === 0 && !isDescending ? this.rows : sortRows(this.rows, this.columns[column].sortKey, isDescending);
    [...this.head.children].forEach((heading, index) => {
      const order = index !== column ? "none" : isDescending ? "descending" : "ascending";
      heading.setAttribute("aria-sort", order);
    });
    this._fitWidths();
    this.scroller.scrollTo(0);
  }

  /** Make columns as wide as their text, up to a maximum; distribute the space that is left to those that need more. */
  _fitWidths() {
    const available = this.root.clientWidth;
    const wanted = this.columns.map((column) => this._textWidth(column));
    const widths = wanted.map((width) => Math.min(width, Math.max(MIN_COLUMN_WIDTH, Math.min(MAX_COLUMN_WIDTH, 0.7 * available))));
    const missing = wanted.map((width, index) => width - widths[index]);
    const [unused, needed] = [Math.max(0, available - sum(widths)), sum(missing)];
    const fraction = Math.min(1, needed > 0 ? unused / needed : 0);
    const tracks = widths.map((width, index) => `${Math.floor(width + fraction * missing[index])}px`);
    tracks.splice(-1, 1, `minmax(${tracks[tracks.length - 1]}, 1fr)`);
    this.grid.style.setProperty("--columns", tracks.join(" "));
    this._draw();
  }

  /**
   * The width of the widest sampled cell.
   * @param {TableColumn} column
   */
  _textWidth({ name, format }) {
    const interval = Math.max(1, Math.floor(this.sorted.length / SAMPLED_ROWS));
    let widest = Math.min(MAX_HEADING_WIDTH, measureText(name, true) + SORT_ARROW_WIDTH);
    for (let index = 0; index < this.sorted.length; index += interval) {
      widest = Math.max(widest, measureText(format(this.sorted[index]), false));
    }
    return Math.max(MIN_COLUMN_WIDTH, Math.ceil(widest) + CELL_PADDING);
  }

  _draw() {
    const { scroller, sorted } = this;
    const first = Math.max(0, Math.floor(scroller.top / TABLE_LINE_HEIGHT) - OVERSCAN_LINES);
    const end = Math.min(sorted.length, first + Math.ceil(scroller.viewportHeight / TABLE_LINE_HEIGHT) + 2 * OVERSCAN_LINES);
    const lines = [];
    for (let index = first; index < end; index++) lines.push(this._createLine(index));
    this.body.replaceChildren(...lines);
  }

  /** @param {number} index */
  _createLine(index) {
    const row = this.sorted[index];
    const line = createNode("div", "line", "row");
    line.setAttribute("aria-rowindex", String(index + 2));
    line.style.transform = `translateY(${this.scroller.positionOf(index)}px)`;
    for (const { format } of this.columns) {
      const cell = createNode("span", "", "cell");
      cell.textContent = format(row);
      line.append(cell);
    }
    line.addEventListener("pointerenter", () => this.onHover(row));
    return line;
  }

  /**
   * @param {string} name
   * @param {number} index
   */
  _createHeading(name, index) {
    const heading = createNode("span", "", "columnheader");
    heading.setAttribute("aria-sort", index === 0 ? "ascending" : "none");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = name === "" ? "(no name)" : name;
    button.title = `${name}\nclick: sort`;
    button.addEventListener("click", () => this.sortBy(index));
    heading.append(button);
    return heading;
  }
}

/**
 * Create an element for head and body; screen readers expect both within one.
 * @param {HTMLElement} root
 */
function createTable(root) {
  const grid = createNode("div", "table-grid", "table");
  grid.ariaLabel = "Selected rows";
  const [top, body] = [createNode("div", "table-head", "rowgroup"), createNode("div", "table-body", "rowgroup")];
  const head = createNode("div", "line headings", "row");
  head.setAttribute("aria-rowindex", "1");
  top.append(head);
  grid.append(top, body);
  root.append(grid);
  return { grid, head, body };
}

/**
 * @param {string} tag
 * @param {string} className
 * @param {string} role
 */
function createNode(tag, className, role) {
  const node = document.createElement(tag);
  node.className = className;
  node.setAttribute("role", role);
  return node;
}

const measuringContext = document.createElement("canvas").getContext("2d");

/**
 * @param {string} text
 * @param {boolean} isBold
 */
function measureText(text, isBold) {
  if (measuringContext === null) return 8 * text.length;
  measuringContext.font = `${isBold ? 650 : 400} 14px system-ui, sans-serif`;
  return measuringContext.measureText(text).width;
}

/** @param {number[]} numbers */
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
