// What the page shows, and every change that can be made to it, whoever asks for one.

import { filterOf, writeAddress } from "./address.js";
import { Camera } from "./camera.js";
import { chosenColorCount, fitColorCount } from "./color_count.js";
import { coloringOf } from "./colors.js";
import { columnsOf } from "./data.js";
import { element, input } from "./elements.js";
import { boxOfMost, isOutgrown } from "./home.js";
import { Hover } from "./hover.js";
import { Labels } from "./labels.js";
import { Legend } from "./legend.js";
import { paintScene } from "./painting.js";
import { Grid } from "./picking.js";
import { GLIDE, Picture } from "./picture.js";
import { drawerOn } from "./points.js";
import { boxAround, emptyScene, placeOnScreen } from "./scene.js";
import { findRows } from "./search.js";
import { SelectedRows } from "./selected_rows.js";
import { Selection } from "./selection.js";
import { nextPoint } from "./stepping.js";

/** @typedef {"pointer" | "click" | "keys" | "table"} Means by what a row is pointed at */

export class App {
  /**
   * @param {import("./data.js").Source} source
   * @param {import("./data.js").Manifest} manifest
   * @param {string | undefined} drawing "webgl" or "canvas"; undefined for what is faster here
   */
  constructor(source, manifest, drawing) {
    const { n, resolution } = manifest;
    this.manifest = manifest;
    this.drawing = drawing;
    this.columns = columnsOf(source, manifest);
    this.scene = emptyScene(n, resolution, matchMedia("(prefers-color-scheme: dark)").matches);
    this.camera = new Camera(resolution, () => this._cameraMoved());
    this.picture = new Picture(this.scene, this.camera, drawerOn(element("points"), drawing), element("overlay"), {
      labels: (glided) => (input("labels").checked ? this.labels.of(this.coloring, this.legend.shown.hidden, glided) : []),
      thinned: () => this._count(),
      drawn: () => this._remember(),
    });
    this.grid = new Grid(this.scene);
    this.labels = new Labels(this.scene);
    this.legend = new Legend(element("legend"), () => this._repaint());
    this.hover = new Hover(element("hover"), element("spoken"), this.columns, this.scene, this.camera);
    this.selection = new Selection(n, () => this._selectionChanged());
    this.selectedRows = new SelectedRows(this.columns, (row) => this.point(row, "table"));
    /** @type {import("./data.js").Column | null} */
    this.column = null;
    this.coloring = coloringOf(null);
    this.tool = /** @type {import("./selection.js").Tool} */ ("pan");
    /** @type {Uint8Array | null} */
    this.matches = null; // 1 for each row that was searched for
    this._searches = 0;
    this._shown = n; // points that are not hidden
    this._usualSize = { size: this.scene.size, opacity: this.scene.opacity };
    this.isStepping = false; // whether keys have led to the row that is pointed at
  }

  // Where points are

  /**
   * @param {Uint16Array} places (n, 2) steps
   * @param {boolean} glides
   */
  take(places, glides) {
    if (places.length !== this.scene.to.length || places.length === 0) return;
    const isFirst = !this.picture.hasPlaces;
    this.picture.move(places, glides);
    this.grid.buildAfter(2 * GLIDE);
    const box = boxOfMost(this.scene);
    if (isFirst || isOutgrown(this.camera.homeBox, box)) this.camera.setHome(box, !isFirst);
  }

  /**
   * @param {number} width CSS pixels
   * @param {number} height
   * @param {import("./camera.js").Room} room
   */
  resize(width, height, room) {
    if (width !== this.camera.width || height !== this.camera.height) this.picture.resize(width, height);
    this.camera.resize(width, height, room);
  }

  /** @param {(row: number) => boolean} isMeant */
  zoomTo(isMeant) {
    const box = boxAround(this.scene, isMeant);
    if (box !== null) this.camera.showBox(box);
  }

  _cameraMoved() {
    const { scale, isMoving } = this.camera;
    document.documentElement.dataset.camera = [Number(isMoving), scale, ...this.camera.toScreen(0, 0)].join(" "); // for tests
    if (this.isStepping) this.hover.move();
    else if (this.camera.isMoving) this.point(-1); // what was pointed at is elsewhere now
    this.picture.draw();
  }

  /** Into the address, for a reload or a link: what differs from how the page opens. */
  _remember() {
    const { camera, scene, column, coloring, legend } = this;
    const round = (/** @type {number} */ value) => Number(value.toPrecision(6));
    const changed = (/** @type {"size" | "opacity"} */ name) => (scene[name] === this._usualSize[name] ? undefined : scene[name]);
    writeAddress({
      x: camera.isHome ? undefined : round(camera.center[0]),
      y: camera.isHome ? undefined : round(camera.center[1]),
      zoom: camera.isHome ? undefined : round(camera.zoom),
      color: column?.about.name,
      colors: chosenColorCount(column),
      ...filterOf(coloring, legend.shown),
      view: this.picture.view === "density" ? "density" : undefined,
      labels: input("labels").checked ? undefined : false,
      size: changed("size"),
      opacity: changed("opacity"),
      dark: scene.dark,
      search: input("search").value,
      draw: this.drawing,
    });
  }

  /** What the size was before anybody changed it. */
  keepUsualSize() {
    this._usualSize = { size: this.scene.size, opacity: this.scene.opacity };
  }

  // Colors

  /** @param {string} name "" for none */
  async colorBy(name) {
    const column = name === "" ? null : this.columns.find((one) => one.about.name === name && one.kind.scale !== null) ?? null;
    await column?.load();
    this.column = column;
    /** @type {HTMLSelectElement} */ (element("color")).value = column === null ? "" : name;
    this.recolor();
  }

  recolor() {
    this.coloring = coloringOf(this.column, fitColorCount(this.column));
    this.legend.show(this.coloring);
    this._repaint();
  }

  /** @param {boolean} dark */
  setDark(dark) {
    this.scene.dark = dark;
    document.documentElement.classList.toggle("dark", dark);
    this._repaint();
  }

  /** Colors and what is hidden, once for all points. */
  _repaint() {
    const fronts = [];
    if (this.matches !== null) fronts.push(this.matches);
    if (this.selection.count > 0) fronts.push(this.selection.chosen);
    this._shown = paintScene(this.scene, this.coloring, this.column, this.legend.shown, fronts);
    this._count();
    this.picture.draw();
  }

  _count() {
    const { n } = this.scene;
    const hidden = n - this._shown;
    const parts = [`${n.toLocaleString("en")} rows`];
    if (hidden > 0) parts.push(`${hidden.toLocaleString("en")} hidden`);
    if (this.selection.count > 0) parts.push(`${this.selection.count.toLocaleString("en")} selected`);
    if (this.picture.isThinned) parts.push("fewer drawn while it moves");
    element("counts").textContent = parts.join(" · ");
  }

  // Rows that are meant

  /**
   * Rings a point, and tells its row unless the words are in the table or would cover what is being selected.
   * @param {number} row -1 for none
   * @param {Means} means
   */
  point(row, means = "pointer") {
    const isTold = means === "click" || means === "keys" || (means === "pointer" && this.tool === "pan" && this.selection.count === 0);
    const told = isTold ? row : -1;
    if (row === this.picture.pointed && told === this.hover.row) return;
    this.isStepping = row >= 0 && means === "keys";
    this.picture.pointed = row;
    this.hover.tell(told, this.column, means === "keys");
    this.picture.draw(true);
  }

  /**
   * To the next point in a direction, which is brought into view.
   * @param {[number, number]} direction
   */
  step(direction) {
    const { scene, camera, picture } = this;
    const row = picture.hasPlaces ? nextPoint(scene, camera, this.isStepping ? picture.pointed : -1, direction) : -1;
    if (row < 0) return;
    this.point(row, "keys");
    const [x, y] = placeOnScreen(scene, camera, row);
    const { left, top, right, bottom } = camera.room;
    if (x < left || x > right || y < top || y > bottom) camera.show(camera.toMap(x, y), camera.scale);
  }

  /** Adds the row that keys have led to, or takes it away. */
  choosePointed() {
    const row = this.picture.pointed;
    if (this.isStepping) this.selection.take([row], this.selection.chosen[row] ? "subtract" : "add");
  }

  /** @param {string} typed */
  async search(typed) {
    this.point(-1);
    const number = ++this._searches;
    if (typed.trim() === "") {
      this.matches = null;
      element("found").textContent = "";
      this._repaint();
      return;
    }
    const rows = await findRows(this.columns, this.scene.n, typed, () => number !== this._searches);
    if (rows === null) return;
    this.matches = new Uint8Array(this.scene.n);
    for (const row of rows) this.matches[row] = 1;
    element("found").textContent = `${rows.length.toLocaleString("en")} found`;
    this._repaint();
  }

  _selectionChanged() {
    if (!this.isStepping) this.point(-1);
    const rows = this.selection.rows();
    this.selectedRows.show(rows);
    this._repaint();
    if (this.manifest.server) this.selectedRows.send(rows);
  }

  /** @param {import("./selection.js").Tool} tool */
  setTool(tool) {
    this.tool = tool;
    element("map").classList.toggle("selecting", tool !== "pan");
    for (const button of document.querySelectorAll("[data-tool]")) {
      button.setAttribute("aria-checked", String(/** @type {HTMLElement} */ (button).dataset.tool === tool));
    }
  }
}
