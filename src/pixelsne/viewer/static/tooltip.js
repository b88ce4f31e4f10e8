// The tooltip beside a point, with the values of its row.

import { showError } from "./dom.js";
import { screenPosition } from "./scene.js";

const MAX_TOOLTIP_COLUMNS = 12;
const MAX_VALUE_CHARACTERS = 240;
const POINT_DISTANCE = 16; // CSS pixels from the point
const TOOLTIP_MARGIN = 8; // CSS pixels that stay free at the edges of the visible area

export class Tooltip {
  /**
   * @param {HTMLElement} box
   * @param {HTMLElement} announcement screen readers announce its text
   * @param {import("./data.js").Column[]} columns
   * @param {import("./scene.js").Scene} scene
   * @param {import("./camera.js").Camera} camera
   */
  constructor(box, announcement, columns, scene, camera) {
    this.box = box;
    this.announcement = announcement;
    this.columns = columns;
    this.scene = scene;
    this.camera = camera;
    this.row = -1;
  }

  /**
   * Show loaded columns at once, and the others as soon as they are loaded.
   * @param {number} row -1 for none
   * @param {import("./data.js").Column | null} colorColumn is listed first
   * @param {boolean} isAnnounced
   */
  async show(row, colorColumn = null, isAnnounced = false) {
    this.row = row;
    this.box.hidden = row < 0;
    if (row < 0) return;
    const ordered = [...this.columns].sort((one, other) => Number(other === colorColumn) - Number(one === colorColumn));
    const columns = ordered.slice(0, MAX_TOOLTIP_COLUMNS);
    this._fill(row, columns);
    if (columns.some((column) => !column.isLoaded)) {
      await Promise.all(columns.map((column) => column.load().catch(showError)));
      if (this.row !== row) return;
      this._fill(row, columns);
    }
    if (isAnnounced) this.announcement.textContent = namesAndValues(row, columns).map((pair) => pair.join(" ")).join(", ");
  }

  /** Move the tooltip beside its point. */
  updatePosition() {
    const { box, camera } = this;
    if (this.row < 0) return;
    const { visibleArea } = camera;
    const [x, y] = screenPosition(this.scene, camera, this.row);
    const [width, height] = [box.offsetWidth, box.offsetHeight];
    const left = x + POINT_DISTANCE + width + TOOLTIP_MARGIN > camera.width ? x - POINT_DISTANCE - width : x + POINT_DISTANCE;
    const top = y + POINT_DISTANCE + height + TOOLTIP_MARGIN > visibleArea.bottom ? y - POINT_DISTANCE - height : y + POINT_DISTANCE;
    box.style.left = `${Math.max(TOOLTIP_MARGIN, Math.min(left, camera.width - width - TOOLTIP_MARGIN))}px`;
    box.style.top = `${Math.max(visibleArea.top + TOOLTIP_MARGIN, Math.min(top, visibleArea.bottom - height - TOOLTIP_MARGIN))}px`;
  }

  /**
   * Show as many columns as fit into the visible area.
   * @param {number} row
   * @param {import("./data.js").Column[]} columns
   */
  _fill(row, columns) {
    const { box, camera } = this;
    const maxHeight = camera.visibleArea.bottom - camera.visibleArea.top - 2 * TOOLTIP_MARGIN;
    const pairs = namesAndValues(row, columns);
    let count = pairs.length;
    do box.replaceChildren(createList(pairs.slice(0, count)), createNote(this.columns.length + 1 - count));
    while (box.offsetHeight > maxHeight && --count > 1);
    box.dataset.row = String(row);
    this.updatePosition();
  }
}

/**
 * @param {number} row
 * @param {import("./data.js").Column[]} columns
 */
function namesAndValues(row, columns) {
  return [["row", String(row)], ...columns.map((column) => [column.name, truncate(column.format(row))])];
}

/** @param {string[][]} pairs */
function createList(pairs) {
  const list = document.createElement("dl");
  for (const [name, value] of pairs) {
    const [term, description] = [document.createElement("dt"), document.createElement("dd")];
    term.textContent = name;
    description.textContent = value;
    list.append(term, description);
  }
  return list;
}

/** @param {number} count of columns that are not in the tooltip */
function createNote(count) {
  const note = document.createElement("p");
  note.className = "note";
  note.hidden = count <= 0;
  note.textContent = `${count.toLocaleString("en")} more columns; select the row to see them`;
  return note;
}

/** @param {string} value */
function truncate(value) {
  return value.length > MAX_VALUE_CHARACTERS ? `${value.slice(0, MAX_VALUE_CHARACTERS - 1)}…` : value;
}
