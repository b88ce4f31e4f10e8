// What is drawn, whoever draws it.

/**
 * @typedef {{
 *   n: number,
 *   resolution: [number, number],
 *   from: Uint16Array,      // (n, 2) where points come from, while they glide
 *   to: Uint16Array,        // (n, 2) where they are
 *   colors: Uint8Array,     // (n, 4) red, green, blue, and how much of it: 0 hidden, FAINT put back, 255 shown
 *   order: Uint32Array,     // shuffled rows: no category hides another, and the first m are a fair sample
 *   size: number,           // CSS pixels across
 *   opacity: number,        // 0 to 1
 *   dark: boolean,
 *   placesVersion: number,  // counts changes of `to`, so that drawers know what to upload
 *   colorsVersion: number,
 * }} Scene
 * @typedef {{draw: (scene: Scene, camera: import("./camera.js").Camera, glided: number, first: number, end: number) => void,
 *   name: string, canvas: HTMLCanvasElement}} Drawer draws places first to end of the order; from 0 on a clean ground
 */

export const STEPS = 65536; // of a coordinate
export const FAINT = 26; // how much is seen of a point that is put back
export const SHOWN = 255;

/**
 * Before it is known where points are.
 * @param {number} n
 * @param {[number, number]} resolution
 * @param {boolean} dark
 * @returns {Scene}
 */
export function emptyScene(n, resolution, dark) {
  return {
    n,
    resolution,
    from: new Uint16Array(2 * n),
    to: new Uint16Array(2 * n),
    colors: new Uint8Array(4 * n),
    order: shuffled(n),
    size: 3,
    opacity: fittingOpacity(n),
    dark,
    placesVersion: 0,
    colorsVersion: 0,
  };
}

/**
 * Rows in an order that looks random and is always the same.
 * @param {number} n
 */
function shuffled(n) {
  const order = new Uint32Array(n);
  for (let row = 0; row < n; row++) order[row] = row;
  let state = 0x9e3779b9;
  for (let place = n - 1; place > 0; place--) {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5) >>> 0;
    const other = Math.floor(((state ^ (state >>> 13)) >>> 0) / 4294967296 * (place + 1));
    const row = order[place];
    order[place] = order[other];
    order[other] = row;
  }
  return order;
}

/**
 * Dots for a thousand points, texture for a million.
 * @param {number} n
 * @param {number} area CSS pixels
 */
export function fittingSize(n, area) {
  return Math.min(9, Math.max(2, 2 * Math.sqrt((0.1 * area) / Math.max(n, 1) / Math.PI)));
}

/** @param {number} n */
function fittingOpacity(n) {
  return Math.min(0.95, Math.max(0.35, 1.45 - 0.17 * Math.log10(Math.max(n, 10)) * 1.05));
}

/**
 * Points grow with the map, but slower.
 * @param {Scene} scene
 * @param {import("./camera.js").Camera} camera
 */
export function sizeOnScreen(scene, camera) {
  return Math.min(40, scene.size * Math.max(1, camera.zoom) ** 0.4);
}

/**
 * Where the point of a row is.
 * @param {Scene} scene
 * @param {import("./camera.js").Camera} camera
 * @param {number} row
 * @returns {[number, number]} CSS pixels
 */
export function placeOnScreen(scene, camera, row) {
  const [across, down] = scene.resolution;
  return camera.toScreen((scene.to[2 * row] * across) / STEPS, (scene.to[2 * row + 1] * down) / STEPS);
}

/**
 * The smallest box that holds the points of some rows.
 * @param {Scene} scene
 * @param {(row: number) => boolean} isMeant
 * @returns {[number, number, number, number] | null} left, top, right, bottom in pixels of the map; null without rows
 */
export function boxAround(scene, isMeant) {
  let [left, top, right, bottom] = [STEPS, STEPS, -1, -1];
  for (let row = 0; row < scene.n; row++) {
    if (!isMeant(row)) continue;
    left = Math.min(left, scene.to[2 * row]);
    right = Math.max(right, scene.to[2 * row]);
    top = Math.min(top, scene.to[2 * row + 1]);
    bottom = Math.max(bottom, scene.to[2 * row + 1]);
  }
  if (right < 0) return null;
  const [across, down] = scene.resolution.map((side) => side / STEPS);
  return [left * across, top * down, right * across, bottom * down];
}
