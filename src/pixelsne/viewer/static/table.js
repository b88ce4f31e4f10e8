// Chosen rows as a table, of which only what is seen exists.

import { LongList } from "./scrolling.js";
import { sortedRows } from "./sorting.js";

const LINE = 28; // CSS pixels
const SPARE = 8; // lines beyond the edges
const PADDING = 32; // CSS pixels beside the words of a cell
const ARROW = 20; // CSS pixels for the sign of the sorting
const WIDEST_HEADING = 200; // CSS pixels; a longer name ends in an ellipsis
const NARROWEST = 60; // CSS pixels
const WIDEST = 420; // where there is no more room
const SAMPLE = 60; // rows whose words are measured
const LONGEST_CELL = 300;

/** @typedef {{name: string, words: (row: number) => string, key: (row: number) => number | string}} TableColumn */

export class Table {
  /**
   * @param {HTMLElement} root
   * @param {import("./data.js").Column[]} columns
   * @param {(row: number) => void} pointed
   */
  constructor(root, columns, pointed) {
    this.root = root;
    this.loaded = columns;
    this.pointed = pointed;
    /** @type {Uint32Array} as they were chosen */
    this.rows = new Uint32Array(0);
    this.sorted = this.rows;
    this.sort = { column: 0, isDescending: false };
    /** @type {TableColumn[]} */
    this.columns = [
      { name: "row", words: String, key: (row) => row },
      ...columns.map((one) => ({
        name: one.about.name,
        words: (/** @type {number} */ row) => one.words(row).slice(0, LONGEST_CELL),
        key: (/** @type {number} */ row) => one.kind.key(one, row),
      })),
    ];
    const made = tableIn(root);
    this.grid = made.grid;
    this.head = made.head;
    this.body = made.body;
    this.head.append(...this.columns.map(({ name }, index) => this._heading(name, index)));
    this.list = new LongList(root, this.body, LINE, () => this._draw());
    new ResizeObserver(() => this._fit()).observe(root);
  }

  /** @param {Uint32Array<ArrayBuffer>} rows */
  async show(rows) {
    this.rows = rows;
    this.sorted = rows;
    this.grid.setAttribute("aria-rowcount", String(rows.length + 1));
    this._fit();
    this.list.setCount(rows.length);
    await Promise.all(this.loaded.map((column) => column.load()));
    if (this.rows === rows) this._sort();
  }

  /**
   * A click sorts up, a second down, a third brings the order of the rows back.
   * @param {number} column
   */
  sortBy(column) {
    const isSame = this.sort.column === column;
    this.sort = isSame && this.sort.isDescending ? { column: 0, isDescending: false } : { column, isDescending: isSame };
    this._sort();
  }

  _sort() {
    const { column, isDescending } = this.sort;
    this.sorted = column === 0 && !isDescending ? this.rows : sortedRows(this.rows, this.columns[column].key, isDescending);
    [...this.head.children].forEach((heading, index) => {
      const order = index !== column ? "none" : isDescending ? "descending" : "ascending";
      heading.setAttribute("aria-sort", order);
    });
    this._fit();
    this.list.moveTo(0);
  }

  /** As wide as their words, and wider where there is room. */
  _fit() {
    const room = this.root.clientWidth;
    const wanted = this.columns.map((column) => this._widthOf(column));
    const widths = wanted.map((width) => Math.min(width, Math.max(NARROWEST, Math.min(WIDEST, 0.7 * room))));
    const lacking = wanted.map((width, index) => width - widths[index]);
    const [spare, lack] = [Math.max(0, room - sum(widths)), sum(lacking)];
    const given = Math.min(1, lack > 0 ? spare / lack : 0);
    const shares = widths.map((width, index) => `${Math.floor(width + given * lacking[index])}px`);
    shares.splice(-1, 1, `minmax(${shares[shares.length - 1]}, 1fr)`);
    this.grid.style.setProperty("--columns", shares.join(" "));
    this._draw();
  }

  /** @param {TableColumn} column */
  _widthOf({ name, words }) {
    const every = Math.max(1, Math.floor(this.sorted.length / SAMPLE));
    let widest = Math.min(WIDEST_HEADING, widthOfWords(name, true) + ARROW);
    for (let index = 0; index < this.sorted.length; index += every) {
      widest = Math.max(widest, widthOfWords(words(this.sorted[index]), false));
    }
    return Math.max(NARROWEST, Math.ceil(widest) + PADDING);
  }

  _draw() {
    const { list, sorted } = this;
    const first = Math.max(0, Math.floor(list.top / LINE) - SPARE);
    const end = Math.min(sorted.length, first + Math.ceil(list.seen / LINE) + 2 * SPARE);
    const lines = [];
    for (let index = first; index < end; index++) lines.push(this._line(index));
    this.body.replaceChildren(...lines);
  }

  /** @param {number} index */
  _line(index) {
    const row = this.sorted[index];
    const line = made("div", "line", "row");
    line.setAttribute("aria-rowindex", String(index + 2));
    line.style.transform = `translateY(${this.list.positionOf(index)}px)`;
    for (const { words } of this.columns) {
      const cell = made("span", "", "cell");
      cell.textContent = words(row);
      line.append(cell);
    }
    line.addEventListener("pointerenter", () => this.pointed(row));
    return line;
  }

  /**
   * @param {string} name
   * @param {number} index
   */
  _heading(name, index) {
    const heading = made("span", "", "columnheader");
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
 * Head and body within one element, as screen readers expect them.
 * @param {HTMLElement} root
 */
function tableIn(root) {
  const grid = made("div", "grid", "table");
  grid.ariaLabel = "Selected rows";
  const [top, body] = [made("div", "top", "rowgroup"), made("div", "lines", "rowgroup")];
  const head = made("div", "line head", "row");
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
function made(tag, className, role) {
  const element = document.createElement(tag);
  element.className = className;
  element.setAttribute("role", role);
  return element;
}

const ruler = document.createElement("canvas").getContext("2d");

/**
 * @param {string} words
 * @param {boolean} isBold
 */
function widthOfWords(words, isBold) {
  if (ruler === null) return 8 * words.length;
  ruler.font = `${isBold ? 650 : 400} 14px system-ui, sans-serif`;
  return ruler.measureText(words).width;
}

/** @param {number[]} numbers */
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
