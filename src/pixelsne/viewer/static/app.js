// What the page shows, and every change that can be made to it, whoever asks for one.

import { writeAddress } from "./address.js";
import { Camera } from "./camera.js";
import { fitColorCount } from "./color_count.js";
import { coloringOf } from "./colors.js";
import { Column } from "./data.js";
import { element, input } from "./elements.js";
import { Hover } from "./hover.js";
import { Labels } from "./labels.js";
import { Legend } from "./legend.js";
import { paintScene } from "./painting.js";
import { Grid } from "./picking.js";
import { GLIDE, Picture } from "./picture.js";
import { drawerOn } from "./points.js";
import { boxAround, emptyScene } from "./scene.js";
import { findRows } from "./search.js";
import { SelectedRows } from "./selected_rows.js";
import { Selection } from "./selection.js";

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
    this.columns = manifest.columns.map((about, place) => new Column(source, about, place, n));
    this.scene = emptyScene(n, resolution, matchMedia("(prefers-color-scheme: dark)").matches);
    this.camera = new Camera(resolution, () => this._cameraMoved());
    this.picture = new Picture(this.scene, this.camera, drawerOn(element("points"), drawing), element("overlay"), {
      labels: () => (input("labels").checked ? this.labels.of(this.coloring, this.legend.shown.hidden) : []),
      thinned: () => this._count(),
      drawn: () => this._remember(),
    });
    this.grid = new Grid(this.scene);
    this.labels = new Labels(this.scene);
    this.legend = new Legend(element("legend"), () => this._repaint());
    this.hover = new Hover(element("hover"), this.columns, this.scene, this.camera);
    this.selection = new Selection(n, () => this._selectionChanged());
    this.selectedRows = new SelectedRows(this.columns, (row) => this.point(row));
    /** @type {Column | null} */
    this.column = null;
    this.coloring = coloringOf(null);
    this.tool = /** @type {import("./selection.js").Tool} */ ("pan");
    /** @type {Uint8Array | null} */
    this.matches = null; // 1 for each row that was searched for
    this._searches = 0;
    this._shown = n; // points that are not hidden
  }

  // Where points are

  /**
   * @param {Uint16Array} places (n, 2) steps
   * @param {boolean} glides
   */
  take(places, glides) {
    if (places.length !== this.scene.to.length) return;
    this.picture.move(places, glides);
    this.grid.buildAfter(2 * GLIDE);
  }

  /** @param {(row: number) => boolean} isMeant */
  zoomTo(isMeant) {
    const box = boxAround(this.scene, isMeant);
    if (box !== null) this.camera.showBox(box);
  }

  _cameraMoved() {
    if (this.camera.isMoving) this.point(-1); // what was pointed at is elsewhere now
    this.picture.draw();
  }

  /** Into the address, for a reload or a link. */
  _remember() {
    const { camera } = this;
    const { isHome } = camera;
    const round = (/** @type {number} */ value) => Number(value.toPrecision(6));
    writeAddress({
      x: isHome ? undefined : round(camera.center[0]),
      y: isHome ? undefined : round(camera.center[1]),
      zoom: isHome ? undefined : round(camera.zoom),
      color: this.column?.about.name,
      view: this.picture.view === "density" ? "density" : undefined,
      dark: this.scene.dark,
      search: input("search").value,
      draw: this.drawing,
    });
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

  /** @param {number} row -1 for none */
  point(row) {
    if (row === this.picture.pointed) return;
    this.picture.pointed = row;
    this.hover.tell(row);
    this.picture.draw(true);
  }

  /** @param {string} typed */
  async search(typed) {
    const number = ++this._searches;
    if (typed === "") {
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
