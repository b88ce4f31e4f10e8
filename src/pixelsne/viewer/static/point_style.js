// The size and opacity of points: by the number of points in view, unless the user sets them.

import { input } from "./dom.js";
import { QUANTIZATION_LEVELS } from "./scene.js";

// The same numbers as in raster.py: size and opacity of points by the space that a point has.
const DIAMETER_PER_SPACING = 0.62;
const [MIN_DIAMETER, MAX_DIAMETER] = [1.6, 6.5]; // CSS pixels
const [OPAQUE_SPACING, OPACITY_POWER] = [1.7, 2];
const OPACITY_AT_OPAQUE_SPACING = 0.95;
const [FAINTEST, STRONGEST] = [0.12, 0.95];

const STYLE_GRID_SIDE = 256; // cells of the grid in which points are counted
const STYLE_CELL = QUANTIZATION_LEVELS / STYLE_GRID_SIDE; // quantized coordinates
const FILLED_GRID_SIDE = 64; // cells of the grid by which the filled area is measured
const MAX_COUNTED = 200_000; // points; of larger maps a fair sample is counted
const MIN_AREA_FRACTION = 0.05; // of the visible area that the map is assumed to fill at least
const MAX_CHOSEN_SIZE = 40; // CSS pixels, of points whose size the user set

/** @typedef {{diameter: number, opacity: number}} Style diameter: CSS pixels */

/**
 * The style that suits n points in an area, the same as in pictures (automatic_size in raster.py).
 * @param {number} n
 * @param {number} area CSS pixels
 * @returns {Style}
 */
export function automaticStyle(n, area) {
  const spacing = Math.sqrt(area / Math.max(n, 1));
  return {
    diameter: Math.min(MAX_DIAMETER, Math.max(MIN_DIAMETER, DIAMETER_PER_SPACING * spacing)),
    opacity: Math.min(STRONGEST, Math.max(FAINTEST, OPACITY_AT_OPAQUE_SPACING * (spacing / OPAQUE_SPACING) ** OPACITY_POWER)),
  };
}

/** Counts the points in view, in a time that does not depend on their number, so that the style changes smoothly. */
export class PointCounter {
  /**
   * @param {import("./scene.js").Scene} scene
   * @param {import("./camera.js").Camera} camera
   */
  constructor(scene, camera) {
    this.scene = scene;
    this.camera = camera;
    this._sums = new Float64Array((STYLE_GRID_SIDE + 1) ** 2); // points left of and above each corner of a cell
    this._filledCells = 0; // of a coarser grid
    this._version = "";
  }

  /** The points in the visible area that are not hidden. */
  countInView() {
    const { left, top, right, bottom } = this.camera.visibleArea;
    const [x1, y1, x2, y2] = [...this._toGrid(left, top), ...this._toGrid(right, bottom)];
    return Math.max(0, this._sumTo(x2, y2) - this._sumTo(x1, y2) - this._sumTo(x2, y1) + this._sumTo(x1, y1));
  }

  /** The part of the visible area that the map fills, CSS pixels. */
  areaInView() {
    const { camera } = this;
    const { left, top, right, bottom } = camera.visibleArea;
    const [mapLeft, mapTop] = camera.toScreen(camera.defaultBounds[0], camera.defaultBounds[1]);
    const [mapRight, mapBottom] = camera.toScreen(camera.defaultBounds[2], camera.defaultBounds[3]);
    const width = Math.min(right, mapRight) - Math.max(left, mapLeft);
    const height = Math.min(bottom, mapBottom) - Math.max(top, mapTop);
    return Math.max(Math.max(0, width) * Math.max(0, height), MIN_AREA_FRACTION * (right - left) * (bottom - top), 1);
  }

  /** The area that points fill, pixels of the map. */
  filledArea() {
    this._count();
    const [width, height] = this.scene.resolution;
    return Math.max(1, this._filledCells) * (width / FILLED_GRID_SIDE) * (height / FILLED_GRID_SIDE);
  }

  /**
   * The mean distance between neighboring points in view, if they filled it evenly.
   * @returns {number} CSS pixels
   */
  spacing() {
    return Math.sqrt(this.areaInView() / Math.max(1, this.countInView()));
  }

  /** @returns {Style} what is drawn: what the user set, else what suits the view */
  style() {
    const { scene, camera } = this;
    const automatic = automaticStyle(this.countInView(), this.areaInView());
    const diameter = scene.size === null ? automatic.diameter : Math.min(MAX_CHOSEN_SIZE, scene.size * Math.max(1, camera.zoom) ** 0.4);
    return { diameter, opacity: scene.opacity ?? automatic.opacity };
  }

  /**
   * @param {number} x CSS pixels
   * @param {number} y
   * @returns {[number, number]} cells of the grid
   */
  _toGrid(x, y) {
    const [mapX, mapY] = this.camera.toMap(x, y);
    const [width, height] = this.scene.resolution;
    return [(mapX / width) * STYLE_GRID_SIDE, (mapY / height) * STYLE_GRID_SIDE];
  }

  /**
   * The points left of x and above y; points are assumed to fill their cells evenly.
   * @param {number} x cells
   * @param {number} y
   */
  _sumTo(x, y) {
    this._count();
    const column = Math.min(STYLE_GRID_SIDE, Math.max(0, x));
    const row = Math.min(STYLE_GRID_SIDE, Math.max(0, y));
    const [left, top] = [Math.min(STYLE_GRID_SIDE - 1, Math.floor(column)), Math.min(STYLE_GRID_SIDE - 1, Math.floor(row))];
    const [across, down] = [column - left, row - top];
    const corner = top * (STYLE_GRID_SIDE + 1) + left;
    const below = corner + STYLE_GRID_SIDE + 1;
    const sums = this._sums;
    return (sums[corner] * (1 - across) + sums[corner + 1] * across) * (1 - down) + (sums[below] * (1 - across) + sums[below + 1] * across) * down;
  }

  /** Count the points of each cell and sum the counts, if points or filters have changed. */
  _count() {
    const { positions, colors, order, n, positionsVersion, colorsVersion } = this.scene;
    const version = `${positionsVersion} ${colorsVersion}`;
    if (version === this._version) return;
    this._version = version;
    const sums = this._sums.fill(0);
    const side = STYLE_GRID_SIDE + 1;
    const counted = Math.min(n, MAX_COUNTED);
    const filled = new Uint8Array(FILLED_GRID_SIDE ** 2);
    for (let index = 0; index < counted; index++) {
      const row = order[index];
      filled[((positions[2 * row + 1] * FILLED_GRID_SIDE) >> 16) * FILLED_GRID_SIDE + ((positions[2 * row] * FILLED_GRID_SIDE) >> 16)] = 1;
      if (colors[4 * row + 3] === 0) continue;
      sums[(Math.floor(positions[2 * row + 1] / STYLE_CELL) + 1) * side + Math.floor(positions[2 * row] / STYLE_CELL) + 1] += n / counted;
    }
    this._filledCells = filled.reduce((sum, one) => sum + one, 0);
    for (let corner = side; corner < sums.length; corner++) {
      if (corner % side > 0) sums[corner] += sums[corner - 1];
    }
    for (let corner = side; corner < sums.length; corner++) sums[corner] += sums[corner - side];
  }
}

/**
 * Show the automatic size and opacity in the sliders that the user has not moved.
 * @param {import("./scene.js").Scene} scene
 */
export function showAutomaticStyle({ size, opacity, style }) {
  if (size === null) input("size").value = String(style.diameter);
  if (opacity === null) input("opacity").value = String(style.opacity);
}
