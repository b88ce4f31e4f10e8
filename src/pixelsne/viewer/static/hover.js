// What a row says, beside its point.

import { complain } from "./elements.js";
import { placeOnScreen } from "./scene.js";

const MOST_COLUMNS = 12;
const LONGEST_WORDS = 240;
const BESIDE = 16; // CSS pixels from the point
const EDGE = 8; // CSS pixels that stay free at the sides

export class Hover {
  /**
   * @param {HTMLElement} box
   * @param {HTMLElement} spoken where screen readers learn of a row that keys have led to
   * @param {import("./data.js").Column[]} columns
   * @param {import("./scene.js").Scene} scene
   * @param {import("./camera.js").Camera} camera
   */
  constructor(box, spoken, columns, scene, camera) {
    this.box = box;
    this.spoken = spoken;
    this.columns = columns;
    this.scene = scene;
    this.camera = camera;
    this.row = -1;
  }

  /**
   * At once what is known, the rest when it has come.
   * @param {number} row -1 for none
   * @param {import("./data.js").Column | null} first the column that colors the map
   * @param {boolean} isSpoken
   */
  async tell(row, first = null, isSpoken = false) {
    this.row = row;
    this.box.hidden = row < 0;
    if (row < 0) return;
    const columns = [...this.columns].sort((one, other) => Number(other === first) - Number(one === first));
    const told = columns.slice(0, MOST_COLUMNS);
    this._show(row, told);
    if (told.some((one) => !one.isLoaded)) {
      await Promise.all(told.map((one) => one.load().catch(complain)));
      if (this.row !== row) return;
      this._show(row, told);
    }
    if (isSpoken) this.spoken.textContent = pairsOf(row, told).map((pair) => pair.join(" ")).join(", ");
  }

  /** Follows its point. */
  move() {
    const { box, camera } = this;
    if (this.row < 0) return;
    const { room } = camera;
    const [x, y] = placeOnScreen(this.scene, camera, this.row);
    const [width, height] = [box.offsetWidth, box.offsetHeight];
    const left = x + BESIDE + width + EDGE > camera.width ? x - BESIDE - width : x + BESIDE;
    const top = y + BESIDE + height + EDGE > room.bottom ? y - BESIDE - height : y + BESIDE;
    box.style.left = `${Math.max(EDGE, Math.min(left, camera.width - width - EDGE))}px`;
    box.style.top = `${Math.max(room.top + EDGE, Math.min(top, room.bottom - height - EDGE))}px`;
  }

  /**
   * As many columns as find room.
   * @param {number} row
   * @param {import("./data.js").Column[]} columns
   */
  _show(row, columns) {
    const { box, camera } = this;
    const most = camera.room.bottom - camera.room.top - 2 * EDGE;
    const pairs = pairsOf(row, columns);
    let shown = pairs.length;
    do box.replaceChildren(listOf(pairs.slice(0, shown)), restOf(this.columns.length + 1 - shown));
    while (box.offsetHeight > most && --shown > 1);
    box.dataset.row = String(row);
    this.move();
  }
}

/**
 * @param {number} row
 * @param {import("./data.js").Column[]} columns
 */
function pairsOf(row, columns) {
  return [["row", String(row)], ...columns.map((one) => [one.about.name, shortened(one.words(row))])];
}

/** @param {string[][]} pairs */
function listOf(pairs) {
  const list = document.createElement("dl");
  for (const [name, words] of pairs) {
    const [term, told] = [document.createElement("dt"), document.createElement("dd")];
    term.textContent = name;
    told.textContent = words;
    list.append(term, told);
  }
  return list;
}

/** @param {number} number of columns that are left out */
function restOf(number) {
  const note = document.createElement("p");
  note.className = "note";
  note.hidden = number <= 0;
  note.textContent = `${number.toLocaleString("en")} more columns; select the row to see them`;
  return note;
}

/** @param {string} words */
function shortened(words) {
  return words.length > LONGEST_WORDS ? `${words.slice(0, LONGEST_WORDS - 1)}…` : words;
}
