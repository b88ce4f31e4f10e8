// The state of the page, and all operations that change it. Controls call these operations.

import { Camera } from "./camera.js";
import { chosenColorCount, fitColorCount } from "./color_count.js";
import { createColorScale } from "./color_scale.js";
import { createColumns } from "./data.js";
import { computeDefaultBounds, isOutdated } from "./default_bounds.js";
import { element, input } from "./dom.js";
import { ExampleLabels } from "./example_labels.js";
import { Labels } from "./labels.js";
import { Legend } from "./legend.js";
import { PointGrid } from "./picking.js";
import { colorPoints } from "./point_colors.js";
import { findNextPoint } from "./point_navigation.js";
import { PointCounter } from "./point_style.js";
import { RegionScale } from "./region_scale.js";
import { MapRegions, showRegionsChoice } from "./regions.js";
import { RenderLoop, TRANSITION_TIME } from "./render_loop.js";
import { createRenderer } from "./renderer.js";
import { computeBounds, createScene, screenPosition } from "./scene.js";
import { findRows } from "./search.js";
import { SelectedRows } from "./selected_rows.js";
import { Selection } from "./selection.js";
import { Tooltip } from "./tooltip.js";
import { filterState, writeUrlState } from "./url_state.js";

/** @typedef {"hover" | "click" | "keys" | "table"} HighlightTrigger how the user reached a row */

export class App {
  /**
   * @param {import("./data.js").Source} source
   * @param {import("./data.js").Manifest} manifest
   * @param {string | undefined} rendererName "webgl" or "canvas"; undefined for the faster one
   */
  constructor(source, manifest, rendererName) {
    const { n, resolution } = manifest;
    this.manifest = manifest;
    this.rendererName = rendererName;
    this.source = source;
    this.columns = createColumns(source, manifest);
    this.regions = new MapRegions(source, manifest);
    this.scene = createScene(n, resolution, matchMedia("(prefers-color-scheme: dark)").matches);
    this.camera = new Camera(resolution, () => this._handleCameraChange());
    const counter = new PointCounter(this.scene, this.camera);
    this.renderLoop = new RenderLoop(this.scene, this.camera, createRenderer(element("points"), rendererName), element("overlay"), counter, {
      drawLabels: (context, progress, isFinal) => this._drawLabels(context, progress, isFinal),
      getClasses: () => (this.hasDensityByClass ? this.colorScale : null),
      onSampledChange: () => this._showCounts(),
      onDraw: () => this._saveUrlState(),
    });
    this.grid = new PointGrid(this.scene);
    const examples = new ExampleLabels(this.scene, this.camera, this.grid, counter, () => this.renderLoop.draw(true));
    examples.column = this.columns.find(({ name }) => name === manifest.textColumn) ?? null;
    this.labels = new Labels(this.scene, this.camera, counter, examples);
    this.labels.regions = this.regions.list;
    this.legend = new Legend(element("legend"), () => this._updateColors());
    this.tooltip = new Tooltip(element("tooltip"), element("announcement"), this.columns, this.scene, this.camera);
    this.selection = new Selection(n, () => this._handleSelectionChange());
    this.selectedRows = new SelectedRows(this.columns, (row) => this.highlight(row, "table"));
    /** @type {import("./data.js").Column | null} */
    this.colorColumn = null; // the column that colors the points
    this.colorScale = createColorScale(null);
    this.hasDensityByClass = false; // whether the density view has the colors of categories or regions
    this.tool = /** @type {import("./selection.js").Tool} */ ("pan");
    /** @type {Uint8Array | null} */
    this.matches = null; // 1 for each row that the search found; null without a search
    this._searchNumber = 0;
    this._shownCount = n; // points that are not hidden; dimmed points count
    /** @type {import("./url_state.js").UrlState} */
    this._initialView = {};
    this.isKeyboardHighlight = false; // whether the highlighted row was reached with the keyboard
  }

  // Positions and camera

  /**
   * Show this part of the map instead of all of it as soon as there are positions.
   * @param {import("./url_state.js").UrlState} state
   */
  setInitialView(state) {
    this._initialView = state;
  }

  /**
   * @param {Uint16Array} positions (n, 2) quantized
   * @param {boolean} animate
   */
  setPositions(positions, animate) {
    if (positions.length !== this.scene.positions.length || positions.length === 0) return;
    const isFirst = !this.renderLoop.hasPositions;
    this.renderLoop.setPositions(positions, animate);
    this.grid.scheduleBuild(2 * TRANSITION_TIME);
    const bounds = computeDefaultBounds(this.scene);
    if (isFirst || isOutdated(this.camera.defaultBounds, bounds)) this.camera.setDefaultBounds(bounds, !isFirst);
    const { x, y, zoom } = this._initialView;
    if (isFirst && x !== undefined && y !== undefined && zoom !== undefined) {
      this.camera.moveTo([x, y], this.camera.defaultScale * zoom, false);
    }
  }

  /**
   * @param {number} width CSS pixels
   * @param {number} height
   * @param {import("./camera.js").Area} visibleArea
   */
  resize(width, height, visibleArea) {
    if (width !== this.camera.width || height !== this.camera.height) this.renderLoop.resize(width, height);
    this.camera.resize(width, height, visibleArea);
  }

  /**
   * Show all points of some rows.
   * @param {(row: number) => boolean} isIncluded
   */
  zoomTo(isIncluded) {
    const bounds = computeBounds(this.scene, isIncluded);
    if (bounds !== null) this.camera.fitBounds(bounds);
  }

  _handleCameraChange() {
    const { scale, isMoving } = this.camera;
    document.documentElement.dataset.camera = [Number(isMoving), scale, ...this.camera.toScreen(0, 0)].join(" "); // for tests
    if (this.isKeyboardHighlight) this.tooltip.updatePosition();
    else if (isMoving) this.highlight(-1); // another point may be under the pointer now
    this.renderLoop.draw();
  }

  /** Write everything that differs from the initial page into the URL, for a reload or a link. */
  _saveUrlState() {
    const { camera, scene, colorColumn, colorScale, legend } = this;
    const round = (/** @type {number} */ value) => Number(value.toPrecision(6));
    writeUrlState({
      x: camera.isDefaultView ? undefined : round(camera.center[0]),
      y: camera.isDefaultView ? undefined : round(camera.center[1]),
      zoom: camera.isDefaultView ? undefined : round(camera.zoom),
      color: colorScale.name || (this.defaultColor === "" ? undefined : ""),
      colors: chosenColorCount(colorColumn),
      ...filterState(colorScale, legend.filter),
      view: this.renderLoop.layer === "density" ? "density" : undefined,
      classes: this.hasDensityByClass ? true : undefined,
      labels: input("labels").checked ? undefined : false,
      size: scene.size ?? undefined,
      opacity: scene.opacity ?? undefined,
      dark: scene.dark,
      search: input("search").value || undefined,
      renderer: this.rendererName,
    });
  }

  // Colors

  /** What colors the map at first: the name of a column or of the regions; "" for nothing. */
  get defaultColor() {
    return this.manifest.color ?? (this.regions.list.length > 0 ? this.regions.name : "");
  }

  /** @param {string} name of a column or of the regions; "" for nothing */
  async colorBy(name) {
    const hasRegions = this.regions.list.length > 0 && name === this.regions.name;
    const column = name === "" || hasRegions ? null : this.columns.find((one) => one.name === name && one.type.colorScale !== null) ?? null;
    await (hasRegions ? this.regions.load() : column?.load());
    this.colorColumn = column;
    /** @type {HTMLSelectElement} */ (element("color")).value = hasRegions || column !== null ? name : "";
    this.updateColorScale(hasRegions);
  }

  /**
   * Apply the current column and number of colors, or the regions.
   * @param {boolean} hasRegions
   */
  updateColorScale(hasRegions = false) {
    const count = fitColorCount(this.colorColumn);
    this.colorScale = hasRegions ? new RegionScale(this.regions) : createColorScale(this.colorColumn, count);
    this.legend.show(this.colorScale);
    this._updateColors();
  }

  /** Take over the regions of a run that has ended, and color by them unless something else colors the map. */
  async loadRegions() {
    const wasDefault = this.colorScale.name === this.defaultColor;
    this.regions = new MapRegions(this.source, await this.source.manifest());
    this.labels.regions = this.regions.list;
    showRegionsChoice(this.regions);
    if (wasDefault) await this.colorBy(this.defaultColor);
    this.renderLoop.draw(true);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {number} progress of the transition
   * @param {boolean} isFinal
   */
  _drawLabels(context, progress, isFinal) {
    const { colorScale, legend, renderLoop, hasDensityByClass } = this;
    const view = { colorScale, hidden: legend.filter.hidden, progress, isFinal, hasInk: renderLoop.layer === "density" && !hasDensityByClass };
    return input("labels").checked ? this.labels.draw(context, view) : this.labels.clear();
  }

  /** @param {boolean} dark */
  setDark(dark) {
    this.scene.dark = dark;
    document.documentElement.classList.toggle("dark", dark);
    this._updateColors();
  }

  /** Compute the color and visibility of all points. */
  _updateColors() {
    const masks = [];
    if (this.matches !== null) masks.push(this.matches);
    if (this.selection.count > 0) masks.push(this.selection.mask);
    this._shownCount = colorPoints(this.scene, this.colorScale, this.legend.filter, masks);
    this._showCounts();
    this.renderLoop.draw();
  }

  _showCounts() {
    const { n } = this.scene;
    const hidden = n - this._shownCount;
    const parts = [`${n.toLocaleString("en")} rows`];
    if (hidden > 0) parts.push(`${hidden.toLocaleString("en")} hidden`);
    if (this.selection.count > 0) parts.push(`${this.selection.count.toLocaleString("en")} selected`);
    if (this.renderLoop.isSampled) parts.push("fewer points drawn while the map moves");
    element("row-counts").textContent = parts.join(" · ");
  }

  // Rows

  /**
   * Draw a ring around a point. Show its tooltip, too, unless the table already shows the row or the tooltip would cover
   * what the user is selecting.
   * @param {number} row -1 for none
   * @param {HighlightTrigger} trigger
   */
  highlight(row, trigger = "hover") {
    const hasTooltip = trigger === "click" || trigger === "keys" || (trigger === "hover" && this.tool === "pan" && this.selection.count === 0);
    const tooltipRow = hasTooltip ? row : -1;
    if (row === this.renderLoop.highlighted && tooltipRow === this.tooltip.row) return;
    this.isKeyboardHighlight = row >= 0 && trigger === "keys";
    this.renderLoop.highlighted = row;
    this.tooltip.show(tooltipRow, this.colorColumn, trigger === "keys");
    this.renderLoop.draw(true);
  }

  /**
   * Highlight the next point in a direction, and center it if it is not visible.
   * @param {[number, number]} direction
   */
  highlightNext(direction) {
    const { scene, camera, renderLoop } = this;
    const row = renderLoop.hasPositions ? findNextPoint(scene, camera, this.isKeyboardHighlight ? renderLoop.highlighted : -1, direction) : -1;
    if (row < 0) return;
    this.highlight(row, "keys");
    const [x, y] = screenPosition(scene, camera, row);
    const { left, top, right, bottom } = camera.visibleArea;
    if (x < left || x > right || y < top || y > bottom) camera.moveTo(camera.toMap(x, y), camera.scale);
  }

  /** Select or unselect the row that was reached with the keyboard. */
  toggleHighlightedSelection() {
    const row = this.renderLoop.highlighted;
    if (this.isKeyboardHighlight) this.selection.update([row], this.selection.mask[row] ? "subtract" : "add");
  }

  /** @param {string} query */
  async search(query) {
    this.highlight(-1);
    const number = ++this._searchNumber;
    if (query.trim() === "") {
      this.matches = null;
      element("match-count").textContent = "";
      this._updateColors();
      return;
    }
    const rows = await findRows(this.columns, this.scene.n, query, () => number !== this._searchNumber);
    if (rows === null) return;
    this.matches = new Uint8Array(this.scene.n);
    for (const row of rows) this.matches[row] = 1;
    element("match-count").textContent = `${rows.length.toLocaleString("en")} found`;
    this._updateColors();
  }

  _handleSelectionChange() {
    if (!this.isKeyboardHighlight) this.highlight(-1);
    const rows = this.selection.rows();
    this.selectedRows.show(rows);
    this._updateColors();
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
