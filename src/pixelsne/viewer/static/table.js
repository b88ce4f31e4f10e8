// Chosen rows as a table, of which only what is seen exists.

const LINE = 28; // CSS pixels
const SPARE = 8; // lines beyond the edges

export class Table {
  /**
   * @param {HTMLElement} place
   * @param {import("./data.js").Column[]} columns
   * @param {(row: number) => void} pointed
   */
  constructor(place, columns, pointed) {
    this.place = place;
    this.columns = columns;
    this.pointed = pointed;
    this.rows = new Uint32Array(0);
    this.body = document.createElement("div");
    this.body.className = "lines";
    this.body.setAttribute("role", "table");
    this.head = document.createElement("div");
    this.head.className = "line head";
    this.head.setAttribute("role", "row");
    this.head.append(cell("row", "columnheader"), ...columns.map((column) => cell(column.about.name, "columnheader")));
    place.append(this.head, this.body);
    place.addEventListener("scroll", () => this._draw());
  }

  /** @param {Uint32Array<ArrayBuffer>} rows */
  async show(rows) {
    this.rows = rows;
    this.place.scrollTop = 0;
    this._draw();
    await Promise.all(this.columns.map((column) => column.load()));
    this._draw();
  }

  _draw() {
    const first = Math.max(0, Math.floor(this.place.scrollTop / LINE) - SPARE);
    const end = Math.min(this.rows.length, first + Math.ceil(this.place.clientHeight / LINE) + 2 * SPARE);
    this.body.style.height = `${this.rows.length * LINE}px`;
    const lines = [];
    for (let place = first; place < end; place++) lines.push(this._line(place));
    this.body.replaceChildren(...lines);
  }

  /** @param {number} place */
  _line(place) {
    const row = this.rows[place];
    const line = document.createElement("div");
    line.className = "line";
    line.setAttribute("role", "row");
    line.style.transform = `translateY(${place * LINE}px)`;
    line.append(cell(String(row), "cell"), ...this.columns.map((column) => cell(column.words(row).slice(0, 300), "cell")));
    line.addEventListener("pointerenter", () => this.pointed(row));
    return line;
  }
}

/**
 * @param {string} words
 * @param {string} role
 */
function cell(words, role) {
  const made = document.createElement("span");
  made.setAttribute("role", role);
  made.textContent = words;
  return made;
}
