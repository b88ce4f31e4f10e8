// What a row says, beside its point.

import { complain } from "./elements.js";
import { placeOnScreen } from "./scene.js";

const LONGEST_WORDS = 240;
const BESIDE = 16; // CSS pixels from the point
const EDGE = 8; // CSS pixels that stay free at the sides
const BELOW_BAR = 50;

export class Hover {
  /**
   * @param {HTMLElement} place
   * @param {import("./data.js").Column[]} columns
   * @param {import("./scene.js").Scene} scene
   * @param {import("./camera.js").Camera} camera
   */
  constructor(place, columns, scene, camera) {
    this.place = place;
    this.columns = columns;
    this.scene = scene;
    this.camera = camera;
    this.row = -1;
  }

  /**
   * At once what is known, the rest when it has come.
   * @param {number} row -1 for none
   */
  async tell(row) {
    this.row = row;
    this.place.hidden = row < 0;
    if (row < 0) return;
    this._show(row);
    if (this.columns.some((one) => !one.isLoaded)) {
      await Promise.all(this.columns.map((one) => one.load().catch(complain)));
      if (this.row === row) this._show(row);
    }
  }

  /** @param {number} row */
  _show(row) {
    const { place, camera } = this;
    place.replaceChildren(this._list(row));
    const [x, y] = placeOnScreen(this.scene, camera, row);
    const { offsetWidth, offsetHeight } = place;
    const isLow = y + BESIDE + offsetHeight > camera.height;
    place.style.left = `${Math.max(EDGE, Math.min(x + BESIDE, camera.width - offsetWidth - EDGE))}px`;
    place.style.top = `${Math.max(BELOW_BAR, isLow ? y - offsetHeight - BESIDE : y + BESIDE)}px`;
    place.dataset.row = String(row);
  }

  /** @param {number} row */
  _list(row) {
    const list = document.createElement("dl");
    for (const [name, words] of [["row", String(row)], ...this.columns.map((one) => [one.about.name, one.words(row)])]) {
      const [term, told] = [document.createElement("dt"), document.createElement("dd")];
      term.textContent = name;
      told.textContent = words.length > LONGEST_WORDS ? `${words.slice(0, LONGEST_WORDS - 1)}…` : words;
      list.append(term, told);
    }
    return list;
  }
}
