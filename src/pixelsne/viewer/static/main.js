// The page: brings the parts together.

import { readAddress, writeAddress } from "./address.js";
import { Camera, holdCamera } from "./camera.js";
import { coloringOf, paintPoints } from "./colors.js";
import { Column, openSource } from "./data.js";
import { densityImage, drawDensity } from "./density.js";
import { drawLabels, findLabels } from "./labels.js";
import { Legend } from "./legend.js";
import { ask, drawCurve, follow, inWords, stageOf } from "./live.js";
import { Grid } from "./picking.js";
import { canvasDrawer } from "./points_canvas.js";
import { webglDrawer } from "./points_webgl.js";
import { FAINT, STEPS, fittingOpacity, fittingSize, shuffled } from "./scene.js";
import { findRows } from "./search.js";
import { Selection, holdLasso, rowsWithin } from "./selection.js";
import { Table, asCsv, download } from "./table.js";

const GLIDE = 180; // milliseconds between two frames of a run
const REACH = 12; // CSS pixels from the pointer to a point it means
const FEWEST_WHILE_MOVING = 20_000;
const MOST_AT_FIRST = 100_000; // points drawn while the map moves, until it is known how many can be
const FRAMES_TO_REST = 8; // after a move, all points are drawn within so many frames
const QUICK = 6; // milliseconds a picture may take for points to glide between frames of a run
const FRAME = 1000 / 30; // milliseconds a frame may take while the map moves
const REST = 4_000; // milliseconds after which the bar fades

/**
 * @template {HTMLElement} Kind
 * @param {string} id
 * @returns {Kind}
 */
const element = (id) => /** @type {Kind} */ (document.getElementById(id));
const input = (/** @type {string} */ id) => /** @type {HTMLInputElement} */ (element(id));

/** @param {unknown} error */
function complain(error) {
  const place = element("message");
  place.textContent = error instanceof Error ? error.message : String(error);
  place.hidden = false;
}

class App {
  /**
   * @param {import("./data.js").Source} source
   * @param {import("./data.js").Manifest} manifest
   * @param {import("./address.js").View} address
   */
  constructor(source, manifest, address) {
    this.address = address;
    this.manifest = manifest;
    this.source = source;
    this.columns = manifest.columns.map((about, place) => new Column(source, about, place, manifest.n));
    /** @type {import("./scene.js").Scene} */
    this.scene = {
      n: manifest.n,
      resolution: manifest.resolution,
      from: new Uint16Array(2 * manifest.n),
      to: new Uint16Array(2 * manifest.n),
      colors: new Uint8Array(4 * manifest.n),
      order: shuffled(manifest.n),
      size: 3,
      opacity: fittingOpacity(manifest.n),
      dark: matchMedia("(prefers-color-scheme: dark)").matches,
      placesVersion: 0,
      colorsVersion: 0,
    };
    this.hasPlaces = false;
    this.camera = new Camera(manifest.resolution, () => {
      if (this.camera.isMoving) this._point(-1); // what was pointed at is elsewhere now
      this.draw();
    });
    this.grid = new Grid(this.scene);
    this.selection = new Selection(manifest.n, () => this._selectionChanged());
    this.legend = new Legend(element("legend"), () => this._repaint());
    this.table = new Table(element("table"), this.columns, (row) => this._point(row));
    const webgl = address.draw === "canvas" ? null : webglDrawer(element("points"), address.draw === "webgl");
    this.drawer = webgl ?? canvasDrawer(replaced(element("points")));
    this.overlay = /** @type {CanvasRenderingContext2D} */ (/** @type {HTMLCanvasElement} */ (element("overlay")).getContext("2d"));
    /** @type {Column | null} */
    this.column = null;
    this.coloring = coloringOf(null);
    this.view = "points";
    this.tool = /** @type {"pan" | "box" | "lasso"} */ ("pan");
    /** @type {[number, number][]} */
    this.lasso = [];
    this.pointed = -1;
    /** @type {Uint8Array | null} */
    this.matches = null;
    /** @type {ReturnType<typeof findLabels>} */
    this.labels = [];
    this.labelsVersion = "";
    this.isQueued = false;
    this.most = Math.min(manifest.n, MOST_AT_FIRST); // points drawn while the map moves
    this.cost = 0; // milliseconds of the last drawing
    this.glideFrom = 0;
    this.frames = 0; // drawn so far, for those who measure
    this.searches = 0;
    this.gridWaits = 0;
    this.isThinned = false;
    this.drawnTo = 0; // points of the present view
    /** @type {OffscreenCanvas | null} */
    this.density = null;
  }

  // Drawing

  /** @param {boolean} isOver whether only what lies over the points has changed */
  draw(isOver = false) {
    if (!isOver) this.drawnTo = 0;
    if (this.isQueued) return;
    this.isQueued = true;
    requestAnimationFrame((now) => {
      this.isQueued = false;
      this._drawNow(now);
    });
  }

  /** @param {number} now */
  _drawNow(now) {
    const began = performance.now();
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const glided = still ? 1 : Math.min(1, (now - this.glideFrom) / GLIDE);
    const isMoving = this.camera.isMoving || glided < 1;
    const isWhole = this._drawPoints(glided, isMoving);
    this._drawOverlay(glided);
    this._tellMeasurers();
    if (!isMoving && !isWhole) this.draw(true);
    if (isMoving && !isWhole !== this.isThinned) {
      this.isThinned = !isWhole;
      this._count();
    }
    if (glided < 1) this.draw();
    this.cost = performance.now() - began;
    if (isMoving) this._adapt(this.cost);
    this._remember();
  }

  /**
   * As many points as there is time for; the others follow when the map rests, some with every frame.
   * @param {number} glided
   * @param {boolean} isMoving
   * @returns {boolean} whether all are drawn
   */
  _drawPoints(glided, isMoving) {
    const { scene, camera } = this;
    if (!this.hasPlaces) return true;
    if (this.view === "density") {
      if (this.drawnTo === 0) {
        this.drawer.draw(scene, camera, 1, 0, 0);
        this.density = densityImage(scene, camera);
      }
      this.drawnTo = scene.n;
    } else if (this.drawnTo < scene.n) {
      const some = isMoving ? this.most : Math.max(this.most, Math.ceil(scene.n / FRAMES_TO_REST));
      const end = Math.min(scene.n, this.drawnTo + some);
      this.drawer.draw(scene, camera, glided, this.drawnTo, end);
      this.drawnTo = end;
      if (!isMoving && this.isThinned && end === scene.n) {
        this.isThinned = false;
        this._count();
      }
    }
    return this.drawnTo === scene.n;
  }

  /** What tests and benchmarks look at. */
  _tellMeasurers() {
    const told = document.documentElement.dataset;
    told.frames = String(++this.frames);
    told.drawn = String(this.drawnTo);
    told.all = String(this.scene.n);
    if (this.hasPlaces && this.coloring.name === (this.column?.about.name ?? "")) told.painted ??= String(performance.now());
  }

  /**
   * Draws as many points while the map moves as the machine can.
   * @param {number} spent milliseconds
   */
  _adapt(spent) {
    if (this.drawer.name === "webgl") {
      const now = performance.now();
      const gap = now - (this.lastMove ?? now);
      this.lastMove = now;
      if (gap > 0 && gap < 500) spent = Math.max(spent, gap - 16);
    }
    const factor = spent > FRAME ? Math.max(0.4, FRAME / spent) : spent < FRAME / 3 ? 1.25 : 1;
    this.most = Math.round(Math.min(this.scene.n, Math.max(FEWEST_WHILE_MOVING, this.most * factor)));
  }

  /** @param {number} glided */
  _drawOverlay(glided) {
    const { overlay, camera, scene } = this;
    const ratio = overlay.canvas.width / camera.width;
    overlay.setTransform(ratio, 0, 0, ratio, 0, 0);
    overlay.clearRect(0, 0, camera.width, camera.height);
    if (!this.hasPlaces) return;
    if (this.view === "density" && this.density !== null) drawDensity(overlay, this.density);
    if (input("labels").checked && this.coloring.kind === "category" && glided === 1) {
      this._findLabels();
      drawLabels(overlay, this.labels, scene, camera);
    }
    this._ring(this.pointed);
    if (this.lasso.length > 1) {
      overlay.beginPath();
      for (const [x, y] of this.lasso) overlay.lineTo(x, y);
      overlay.closePath();
      overlay.fillStyle = scene.dark ? "rgba(144, 188, 255, 0.16)" : "rgba(43, 87, 208, 0.12)";
      overlay.fill();
      overlay.lineWidth = 1.5;
      overlay.strokeStyle = scene.dark ? "#90bcff" : "#2b57d0";
      overlay.stroke();
    }
  }

  /** @param {number} row */
  _ring(row) {
    if (row < 0) return;
    const [x, y] = this._placeOf(row);
    this.overlay.beginPath();
    this.overlay.arc(x, y, 7, 0, 2 * Math.PI);
    this.overlay.lineWidth = 2;
    this.overlay.strokeStyle = this.scene.dark ? "#ffffff" : "#000000";
    this.overlay.stroke();
  }

  /** @param {number} row */
  _placeOf(row) {
    const { scene, camera } = this;
    const [across, down] = scene.resolution;
    return camera.toScreen((scene.to[2 * row] * across) / STEPS, (scene.to[2 * row + 1] * down) / STEPS);
  }

  _findLabels() {
    const version = `${this.scene.placesVersion} ${this.scene.colorsVersion} ${this.coloring.name}`;
    if (version === this.labelsVersion) return;
    const { hidden } = this.legend.shown;
    const names = new Set(this.coloring.entries.filter((_, place) => hidden.has(place)).map((entry) => entry.name));
    this.labels = findLabels(this.scene, this.coloring).filter((label) => !names.has(label.name));
    this.labelsVersion = version;
  }

  // What changes the picture

  /**
   * @param {Uint16Array} places
   * @param {boolean} glides
   */
  take(places, glides) {
    const { scene } = this;
    if (places.length !== scene.to.length) return;
    glides = glides && this.hasPlaces && this.cost < QUICK; // a machine that is busy drawing has no time for grace
    scene.from = glides ? scene.to : places;
    scene.to = places;
    scene.placesVersion++;
    this.hasPlaces = true;
    this.glideFrom = glides ? performance.now() : 0;
    document.documentElement.dataset.places = String(scene.placesVersion);
    clearTimeout(this.gridWaits);
    this.gridWaits = window.setTimeout(() => this.grid.build(), 2 * GLIDE); // ready before somebody points
    this.draw();
  }

  /** @param {string} name "" for none */
  async colorBy(name) {
    const column = name === "" ? null : this.columns.find((one) => one.about.name === name && one.about.kind !== "text") ?? null;
    await column?.load();
    this.column = column;
    /** @type {HTMLSelectElement} */ (element("color")).value = column === null ? "" : name;
    this._recolor();
  }

  _recolor() {
    const names = this.column?.about.names.length ?? 0;
    const field = input("shown");
    element("shown-field").hidden = this.column?.about.kind !== "category" || names <= 2;
    field.max = String(Math.min(30, Math.max(2, names)));
    if (field.value === "" || field.dataset.column !== this.column?.about.name) {
      field.value = String(Math.min(20, names));
      field.dataset.column = this.column?.about.name ?? "";
    }
    const shown = Math.min(Number(field.max), Math.max(2, Math.round(Number(field.value)) || 20));
    this.coloring = coloringOf(this.column, shown);
    this.legend.show(this.coloring);
    this._repaint();
  }

  /** Colors and what is hidden, once for all points. */
  _repaint() {
    const { scene } = this;
    paintPoints(scene.colors, this.coloring, this.column, scene.dark ? [144, 188, 255] : [55, 100, 222]);
    const { hidden, range } = this.legend.shown;
    const { group } = this.coloring;
    let shown = 0;
    for (let row = 0; row < scene.n; row++) {
      let strength = 255;
      if (group !== null && hidden.has(group[row])) strength = 0;
      if (range !== null && this.column !== null) {
        const number = this.column.numbers[row];
        if (!(number >= range[0] && number <= range[1])) strength = 0;
      }
      if (strength > 0) shown++;
      const isBack = (this.matches !== null && !this.matches[row]) || (this.selection.count > 0 && !this.selection.chosen[row]);
      scene.colors[4 * row + 3] = strength > 0 && isBack ? FAINT : strength;
    }
    this.shown = shown;
    scene.colorsVersion++;
    this._count();
    this.draw();
  }

  _count() {
    const { n } = this.scene;
    const hidden = n - (this.shown ?? n);
    const parts = [`${n.toLocaleString("en")} rows`];
    if (hidden > 0) parts.push(`${hidden.toLocaleString("en")} hidden`);
    if (this.selection.count > 0) parts.push(`${this.selection.count.toLocaleString("en")} selected`);
    if (this.isThinned) parts.push("fewer drawn while it moves");
    element("counts").textContent = parts.join(" · ");
  }

  /** @param {boolean} dark */
  setDark(dark) {
    this.scene.dark = dark;
    document.documentElement.classList.toggle("dark", dark);
    this._repaint();
  }

  // Pointing

  /** @param {number} row */
  _point(row) {
    if (row === this.pointed) return;
    this.pointed = row;
    this._tell(row);
    this.draw(true);
  }

  /** @param {number} row */
  async _tell(row) {
    const place = element("hover");
    place.hidden = row < 0;
    if (row < 0) return;
    const write = () => {
      const list = document.createElement("dl");
      for (const [name, words] of [["row", String(row)], ...this.columns.map((one) => [one.about.name, one.words(row)])]) {
        const [term, told] = [document.createElement("dt"), document.createElement("dd")];
        term.textContent = name;
        told.textContent = words.length > 240 ? `${words.slice(0, 239)}…` : words;
        list.append(term, told);
      }
      place.replaceChildren(list);
      const [x, y] = this._placeOf(row);
      const { offsetWidth, offsetHeight } = place;
      place.style.left = `${Math.max(8, Math.min(x + 16, this.camera.width - offsetWidth - 8))}px`;
      place.style.top = `${Math.max(50, y + 16 + offsetHeight > this.camera.height ? y - offsetHeight - 16 : y + 16)}px`;
      place.dataset.row = String(row);
    };
    write();
    if (this.columns.some((one) => !one.isLoaded)) {
      await Promise.all(this.columns.map((one) => one.load().catch(complain)));
      if (this.pointed === row) write();
    }
  }

  // Searching and selecting

  /** @param {string} typed */
  async search(typed) {
    const number = ++this.searches;
    if (typed === "") {
      this.matches = null;
      element("found").textContent = "";
      this._repaint();
      return;
    }
    const rows = await findRows(this.columns, this.scene.n, typed, () => number !== this.searches);
    if (rows === null) return;
    this.matches = new Uint8Array(this.scene.n);
    for (const row of rows) this.matches[row] = 1;
    element("found").textContent = `${rows.length.toLocaleString("en")} found`;
    this._repaint();
  }

  /** @param {(row: number) => boolean} isMeant */
  zoomTo(isMeant) {
    const { scene } = this;
    let [left, top, right, bottom] = [STEPS, STEPS, -1, -1];
    for (let row = 0; row < scene.n; row++) {
      if (!isMeant(row)) continue;
      left = Math.min(left, scene.to[2 * row]);
      right = Math.max(right, scene.to[2 * row]);
      top = Math.min(top, scene.to[2 * row + 1]);
      bottom = Math.max(bottom, scene.to[2 * row + 1]);
    }
    if (right < 0) return;
    const [across, down] = scene.resolution.map((side) => side / STEPS);
    this.camera.showBox([left * across, top * down, right * across, bottom * down]);
  }

  _selectionChanged() {
    const rows = this.selection.rows();
    element("drawer").hidden = rows.length === 0;
    element("selected").textContent = `${rows.length.toLocaleString("en")} rows selected`;
    if (rows.length > 0) this.table.show(rows).catch(complain);
    this._repaint();
    if (this.manifest.server) {
      this.sent = fetch("/selection", { method: "POST", body: rows }).then((answer) => {
        if (!answer.ok) throw new Error("the selection did not reach pixelsne");
      });
      this.sent.catch(complain);
    }
  }

  /** @param {"pan" | "box" | "lasso"} tool */
  setTool(tool) {
    this.tool = tool;
    element("map").classList.toggle("selecting", tool !== "pan");
    for (const button of document.querySelectorAll("[data-tool]")) {
      button.setAttribute("aria-checked", String(/** @type {HTMLElement} */ (button).dataset.tool === tool));
    }
  }

  // Saving

  async savePicture() {
    const { drawer, overlay, scene, camera } = this;
    const made = document.createElement("canvas");
    made.width = drawer.canvas.width;
    made.height = drawer.canvas.height;
    const context = /** @type {CanvasRenderingContext2D} */ (made.getContext("2d"));
    context.fillStyle = scene.dark ? "#121217" : "#ffffff";
    context.fillRect(0, 0, made.width, made.height);
    drawer.draw(scene, camera, 1, 0, this.view === "points" ? scene.n : 0); // all of them, also while it moves
    context.drawImage(drawer.canvas, 0, 0);
    context.drawImage(overlay.canvas, 0, 0);
    const content = await new Promise((resolve) => made.toBlob(resolve, "image/png"));
    if (content instanceof Blob) download(content, "map.png");
  }

  async saveMap() {
    const answer = await fetch("/map.parquet");
    if (!answer.ok) throw new Error(await answer.text());
    download(await answer.blob(), "map.parquet");
  }

  /** @param {"csv" | "parquet" | "ids"} kind */
  async saveRows(kind) {
    const rows = this.selection.rows();
    if (kind === "ids") {
      download(new Blob([`${[...rows].join("\n")}\n`], { type: "text/plain" }), "rows.txt");
    } else if (kind === "csv") {
      download(new Blob([await asCsv(this.columns, rows)], { type: "text/csv" }), "selection.csv");
    } else {
      await this.sent;
      const answer = await fetch("/selection.parquet");
      if (!answer.ok) throw new Error(await answer.text());
      download(await answer.blob(), "selection.parquet");
    }
  }

  // The address

  _remember() {
    const { camera } = this;
    const isHome = camera.isHome;
    const round = (/** @type {number} */ value) => Number(value.toPrecision(6));
    writeAddress({
      x: isHome ? undefined : round(camera.center[0]),
      y: isHome ? undefined : round(camera.center[1]),
      zoom: isHome ? undefined : round(camera.zoom),
      color: this.column?.about.name,
      view: this.view === "density" ? "density" : undefined,
      dark: this.scene.dark,
      search: input("search").value,
      draw: this.address.draw,
    });
  }
}

/**
 * A canvas that was asked for WebGL gives no other context any more.
 * @param {HTMLElement} canvas
 */
function replaced(canvas) {
  const other = /** @type {HTMLCanvasElement} */ (canvas.cloneNode());
  canvas.replaceWith(other);
  return other;
}

/** @param {App} app */
function fitCanvases(app) {
  const surface = element("map");
  const ratio = Math.min(2, window.devicePixelRatio || 1);
  for (const canvas of [app.drawer.canvas, app.overlay.canvas]) {
    canvas.width = Math.max(1, Math.round(surface.clientWidth * ratio));
    canvas.height = Math.max(1, Math.round(surface.clientHeight * ratio));
  }
  app.camera.resize(surface.clientWidth, surface.clientHeight);
}

/** @param {App} app */
function holdPanel(app) {
  const select = /** @type {HTMLSelectElement} */ (element("color"));
  select.append(new Option("nothing", ""));
  for (const { about } of app.columns) if (about.kind !== "text") select.append(new Option(about.name, about.name));
  select.addEventListener("change", () => app.colorBy(select.value).catch(complain));
  input("shown").addEventListener("change", () => app._recolor());
  for (const radio of document.querySelectorAll("input[name=view]")) {
    radio.addEventListener("change", () => {
      app.view = /** @type {HTMLInputElement} */ (radio).value;
      app.draw();
    });
  }
  input("labels").addEventListener("change", () => app.draw(true));
  for (const name of /** @type {const} */ (["size", "opacity"])) {
    input(name).value = String(app.scene[name]);
    input(name).addEventListener("input", () => {
      app.scene[name] = Number(input(name).value);
      app.draw();
    });
  }
  element("picture").addEventListener("click", () => app.savePicture().catch(complain));
  element("keys").addEventListener("click", () => /** @type {HTMLDialogElement} */ (element("help")).showModal());
}

function foldPanel() {
  const panel = element("panel");
  const set = (/** @type {boolean} */ isOpen) => {
    panel.hidden = !isOpen;
    element("fold").setAttribute("aria-expanded", String(isOpen));
    remember("panel", String(isOpen));
  };
  set(recall("panel") === null ? innerWidth > 640 : recall("panel") === "true");
  const toggle = () => set(panel.hidden === true);
  element("fold").addEventListener("click", toggle);
  return { toggle };
}

/**
 * Files opened from disk may have no storage.
 * @param {string} name
 * @param {string} value
 */
function remember(name, value) {
  try {
    localStorage.setItem(`pixelsne-${name}`, value);
  } catch {
    // then it is forgotten
  }
}

/** @param {string} name */
function recall(name) {
  try {
    return localStorage.getItem(`pixelsne-${name}`);
  } catch {
    return null;
  }
}

/**
 * @param {App} app
 * @param {{toggle: () => void}} panel
 */
function holdKeys(app, panel) {
  const field = input("search");
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      if (/** @type {HTMLDialogElement} */ (element("help")).open) return; // which closes itself
      event.preventDefault();
      leave(app);
      return;
    }
    const target = /** @type {HTMLElement} */ (event.target);
    const isTyping = target instanceof HTMLInputElement || target instanceof HTMLSelectElement || event.ctrlKey || event.metaKey || event.altKey;
    if (isTyping || (target.closest("button, dialog, #table") !== null && event.key !== "/" && event.key !== "?")) return;
    /** @type {Record<string, () => void>} */
    const keys = {
      "/": () => field.focus(),
      "?": () => /** @type {HTMLDialogElement} */ (element("help")).showModal(),
      v: () => app.setTool("pan"),
      b: () => app.setTool("box"),
      l: () => app.setTool("lasso"),
      d: () => app.setDark(!app.scene.dark),
      p: () => panel.toggle(),
    };
    const action = keys[event.key.toLowerCase()];
    if (action !== undefined) action();
    if (action !== undefined || app.camera.key(event)) event.preventDefault();
  });
}

/**
 * Escape leads out, one thing at a time.
 * @param {App} app
 */
function leave(app) {
  const field = input("search");
  element("message").hidden = true;
  if (app.tool !== "pan") app.setTool("pan");
  else if (app.selection.count > 0) app.selection.clear();
  else if (field.value !== "") {
    field.value = "";
    app.search("").catch(complain);
  } else if (!app.legend.reset()) {
    app.camera.home();
  }
  element("map").focus();
}

/** @param {App} app */
function holdMap(app) {
  const surface = element("map");
  const isTaken = holdLasso(surface, () => app.tool, (line) => {
    app.lasso = line;
    app.draw(true);
  }, (line, how) => app.selection.take(rowsWithin(app.grid, app.camera, line), how));
  holdCamera(surface, app.camera, isTaken);
  surface.addEventListener("pointermove", (event) => {
    if (event.buttons !== 0 || !app.hasPlaces) return;
    app._point(app.grid.nearest(app.camera, event.offsetX, event.offsetY, REACH));
  });
  surface.addEventListener("pointerleave", () => app._point(-1));
  surface.addEventListener("click", (event) => {
    if (app.tool === "pan" && app.hasPlaces) app._point(app.grid.nearest(app.camera, event.offsetX, event.offsetY, 2 * REACH));
  });
  new ResizeObserver(() => fitCanvases(app)).observe(surface);
}

/** @param {App} app */
function holdBar(app) {
  const bar = element("bar");
  let resting = 0;
  const wake = () => {
    bar.classList.remove("resting");
    clearTimeout(resting);
    resting = window.setTimeout(() => bar.classList.add("resting"), REST);
  };
  document.addEventListener("pointermove", wake);
  document.addEventListener("keydown", wake);
  wake();
  element("home").addEventListener("click", () => app.camera.home());
  element("dark").addEventListener("click", () => app.setDark(!app.scene.dark));
  for (const button of document.querySelectorAll("[data-tool]")) {
    const { tool } = /** @type {HTMLElement} */ (button).dataset;
    button.addEventListener("click", () => app.setTool(/** @type {"pan" | "box" | "lasso"} */ (tool)));
  }
  const field = input("search");
  let typing = 0;
  field.addEventListener("input", () => {
    clearTimeout(typing);
    typing = window.setTimeout(() => app.search(field.value).catch(complain), 120);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && app.matches !== null) app.zoomTo((row) => app.matches?.[row] === 1);
  });
}

/** @param {App} app */
function holdDrawer(app) {
  element("zoom-selected").addEventListener("click", () => app.zoomTo((row) => app.selection.chosen[row] === 1));
  element("save-csv").addEventListener("click", () => app.saveRows("csv").catch(complain));
  element("save-ids").addEventListener("click", () => app.saveRows("ids").catch(complain));
  element("save-parquet").addEventListener("click", () => app.saveRows("parquet").catch(complain));
  element("save-parquet").hidden = !app.manifest.exports;
  element("unselect").addEventListener("click", () => app.selection.clear());
}

/** @param {App} app */
function followRun(app) {
  element("live").hidden = false;
  let state = "";
  const isOver = () => state === "finished" || state === "stopped" || state === "failed";
  follow((status) => {
    state = status.state;
    document.documentElement.dataset.run = state;
    element("status").textContent = inWords(status);
    const stage = state === "running" ? stageOf(status) : inWords(status); // told aloud when it changes, not ten times a second
    if (element("stage").textContent !== stage) element("stage").textContent = stage;
    const bar = /** @type {HTMLProgressElement} */ (element("progress"));
    bar.value = status.fraction;
    bar.hidden = isOver();
    element("pause").textContent = state === "paused" ? "Resume" : "Pause";
    element("pause").hidden = element("stop").hidden = isOver();
    drawCurve(/** @type {HTMLCanvasElement} */ (element("curve")), status.moves, getComputedStyle(document.documentElement).getPropertyValue("--accent"));
  }, (places) => {
    if (places.length !== 2 * app.scene.n) location.reload(); // another run, of other rows
    app.take(places, true);
  }, (isThere, words) => {
    document.documentElement.dataset.connection = isThere ? "open" : "lost";
    const place = element("message");
    place.textContent = words;
    place.hidden = isThere;
  });
  element("pause").addEventListener("click", () => ask(state === "paused" ? "resume" : "pause").catch(complain));
  element("stop").addEventListener("click", () => ask("stop").catch(complain));
  element("save-map").hidden = !app.manifest.exports;
  element("save-map").addEventListener("click", () => app.saveMap().catch(complain));
}

async function main() {
  const source = openSource();
  const manifest = await source.manifest();
  const address = readAddress();
  const app = new App(source, manifest, address);
  document.title = `${manifest.title} · pixelsne`;
  element("title").textContent = manifest.title;
  const surface = element("map");
  app.scene.size = fittingSize(manifest.n, surface.clientWidth * surface.clientHeight);
  holdPanel(app);
  const panel = foldPanel();
  holdKeys(app, panel);
  holdMap(app);
  holdBar(app);
  holdDrawer(app);
  fitCanvases(app);
  app.setDark(address.dark ?? manifest.dark ?? app.scene.dark);
  if (!manifest.live) app.take(new Uint16Array(await source.part("positions")), false);
  await app.colorBy(address.color ?? manifest.color ?? "");
  if (address.view === "density") /** @type {HTMLInputElement} */ (document.querySelector("input[value=density]")).click();
  if (address.zoom !== undefined && address.x !== undefined && address.y !== undefined) {
    app.camera.show([address.x, address.y], app.camera.homeScale * address.zoom, false);
  }
  if (address.search !== undefined) {
    input("search").value = address.search;
    await app.search(address.search);
  }
  if (manifest.live) followRun(app);
  document.documentElement.dataset.ready = app.drawer.name;
}

main().catch(complain);
