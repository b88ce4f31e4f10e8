// The density view: the number of points per area as a smooth surface with contour lines, on a logarithmic scale.

import { magma, toCss } from "./colors.js";
import { addContour } from "./contours.js";
import { blurField, countOnGrid, createGrid } from "./density_grid.js";

const MAX_RATIO = 25; // of the highest density to the lowest that is visible
const CONTOURS = [0.14, 0.3, 0.45, 0.6, 0.74, 0.87]; // on the logarithmic scale from 0 to 1
const CLASS_CONTOURS = [0.2, 0.45, 0.7, 0.9];
const FADE = 0.2; // on this scale, up to which the surface becomes opaque
const CLASS_OPACITY = 0.72; // of the surface by classes at its highest
const DIMMED_OPACITY = 0.1;
export const LEGEND_SIDE = 10; // CSS pixels; the legend says how many points are in such a square

/** @typedef {{color: import("./colors.js").Rgb, path: Path2D}} ContourLines */
/**
 * @typedef {{
 *   image: ImageBitmap,     // as large as the screen
 *   scale: DensityScale,
 *   hasClasses: boolean,    // whether it has the colors of classes
 * }} Density
 */

/** The logarithmic scale of the surface. */
export class DensityScale {
  /**
   * @param {number} max points per cell
   * @param {number} cell side, CSS pixels
   */
  constructor(max, cell) {
    this.max = Math.max(max, 1e-9);
    this.low = this.max / MAX_RATIO;
    this.perSquare = (LEGEND_SIDE / cell) ** 2; // cells in a square of the legend
  }

  /** @param {number} value points per cell */
  toFraction(value) {
    return Math.log1p(value / this.low) / Math.log1p(MAX_RATIO);
  }

  /** @param {number} fraction */
  toValue(fraction) {
    return this.low * Math.expm1(fraction * Math.log1p(MAX_RATIO));
  }

  /** Powers of ten for the legend: points per square of it. */
  ticks() {
    const highest = this.max * this.perSquare;
    const powers = Array.from({ length: 4 }, (_, index) => 10 ** (Math.floor(Math.log10(highest)) - index));
    const counts = powers.filter((count) => this.toFraction(count / this.perSquare) > FADE);
    return counts.map((count) => ({ fraction: this.toFraction(count / this.perSquare), label: String(Number(count.toPrecision(1))) }));
  }
}

/**
 * @param {import("./scene.js").Scene} scene
 * @param {import("./camera.js").Camera} camera
 * @param {number} spacing mean distance between neighboring points, CSS pixels
 * @param {boolean} isMoving
 * @param {import("./color_scale.js").ColorScale | null} classes the surface has the colors of their entries; null for one
 *   color map
 * @returns {Density}
 */
export function computeDensity(scene, camera, spacing, isMoving, classes) {
  const grid = createGrid(camera, spacing);
  const colors = classes?.entries.map((entry) => entry.color) ?? [];
  const fields = countOnGrid(scene, camera, grid, isMoving, colors.length > 0 ? classes?.entryIndices ?? null : null, Math.max(1, colors.length));
  for (const field of fields) if (field.some((value) => value !== 0)) blurField(field, grid);
  const dimmed = /** @type {Float32Array} */ (fields.pop());
  const total = fields.length === 1 ? fields[0] : sumFields(fields);
  const scale = new DensityScale(total.reduce((max, value) => Math.max(max, value), 0), grid.cell);
  const image = new ImageData(grid.columns, grid.rows);
  if (colors.length > 0) paintClasses(image, fields, total, scale, colors);
  else paintSurface(image, total, scale, scene.dark);
  paintDimmed(image, dimmed, scene.dark);
  return { image: drawSurface(image, traceContours(fields, grid, scale, colors, scene.dark), grid, camera), scale, hasClasses: colors.length > 0 };
}

/** @param {Float32Array[]} fields */
function sumFields(fields) {
  const total = new Float32Array(fields[0].length);
  for (const field of fields) for (let at = 0; at < total.length; at++) total[at] += field[at];
  return total;
}

/** @param {number} fraction */
const fadeIn = (fraction) => Math.min(1, fraction / FADE) ** 2 * (3 - 2 * Math.min(1, fraction / FADE));

/**
 * @param {ImageData} image
 * @param {Float32Array} total
 * @param {DensityScale} scale
 * @param {boolean} dark
 */
function paintSurface({ data }, total, scale, dark) {
  const shades = Array.from({ length: 256 }, (_, step) => densityColor(step / 255, dark));
  for (let at = 0; at < total.length; at++) {
    if (total[at] === 0) continue;
    const fraction = scale.toFraction(total[at]);
    data.set(shades[Math.min(255, Math.round(255 * fraction))], 4 * at);
    data[4 * at + 3] = 255 * fadeIn(fraction);
  }
}

/**
 * Mix the colors of the classes by their densities.
 * @param {ImageData} image
 * @param {Float32Array[]} fields
 * @param {Float32Array} total
 * @param {DensityScale} scale
 * @param {import("./colors.js").Rgb[]} colors
 */
function paintClasses({ data }, fields, total, scale, colors) {
  for (let at = 0; at < total.length; at++) {
    if (total[at] === 0) continue;
    const mixed = [0, 0, 0];
    fields.forEach((field, index) => colors[index].forEach((channel, axis) => { mixed[axis] += (channel * field[at]) / total[at]; }));
    const fraction = scale.toFraction(total[at]);
    data.set(mixed, 4 * at);
    data[4 * at + 3] = 255 * fadeIn(fraction) * CLASS_OPACITY * (0.35 + 0.65 * fraction);
  }
}

/**
 * Show where dimmed points are.
 * @param {ImageData} image
 * @param {Float32Array} dimmed
 * @param {boolean} dark
 */
function paintDimmed({ data }, dimmed, dark) {
  const scale = new DensityScale(dimmed.reduce((max, value) => Math.max(max, value), 0), 1);
  for (let at = 0; at < dimmed.length; at++) {
    if (dimmed[at] === 0) continue;
    const alpha = DIMMED_OPACITY * fadeIn(scale.toFraction(dimmed[at])) * 255;
    if (alpha <= data[4 * at + 3]) continue;
    data.fill(dark ? 255 : 0, 4 * at, 4 * at + 3);
    data[4 * at + 3] = alpha;
  }
}

/**
 * @param {Float32Array[]} fields
 * @param {import("./density_grid.js").Grid} grid
 * @param {DensityScale} scale
 * @param {import("./colors.js").Rgb[]} colors of classes; none for one color map
 * @param {boolean} dark
 * @returns {ContourLines[]}
 */
function traceContours(fields, grid, scale, colors, dark) {
  return fields.map((field, index) => {
    const path = new Path2D();
    for (const fraction of colors.length > 0 ? CLASS_CONTOURS : CONTOURS) addContour(path, field, grid, scale.toValue(fraction));
    const ink = /** @type {import("./colors.js").Rgb} */ (dark ? [255, 255, 255] : [20, 10, 40]);
    return { color: colors[index] ?? ink, path };
  });
}

/**
 * Draw the surface and its contour lines without the GPU, which is slow at long paths.
 * @param {ImageData} surface a pixel for each cell
 * @param {ContourLines[]} contours
 * @param {import("./density_grid.js").Grid} grid
 * @param {import("./camera.js").Camera} camera
 */
function drawSurface(surface, contours, grid, camera) {
  const cells = new OffscreenCanvas(grid.columns, grid.rows);
  /** @type {OffscreenCanvasRenderingContext2D} */ (cells.getContext("2d", { willReadFrequently: true })).putImageData(surface, 0, 0);
  const ratio = Math.min(2, window.devicePixelRatio || 1);
  const image = new OffscreenCanvas(Math.round(camera.width * ratio), Math.round(camera.height * ratio));
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (image.getContext("2d", { willReadFrequently: true }));
  context.scale(ratio, ratio);
  context.imageSmoothingQuality = "high";
  context.drawImage(cells, grid.left, grid.top, grid.columns * grid.cell, grid.rows * grid.cell);
  context.globalAlpha = contours.length > 1 ? 0.9 : 0.3;
  for (const { color, path } of contours) {
    context.strokeStyle = toCss(color);
    context.stroke(path);
  }
  return image.transferToImageBitmap();
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Density} density
 * @param {import("./camera.js").Camera} camera
 */
export function drawDensity(context, { image }, camera) {
  context.drawImage(image, 0, 0, camera.width, camera.height);
}

/**
 * @param {number} fraction 0 for no points, 1 for the highest density
 * @param {boolean} dark
 */
export function densityColor(fraction, dark) {
  const position = 0.15 + 0.77 * fraction;
  return magma(dark ? position : 1 - position);
}
