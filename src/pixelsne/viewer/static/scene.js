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
export const FAINT = 26;

/**
 * Rows in an order that looks random and is always the same.
 * @param {number} n
 */
export function shuffled(n) {
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
export function fittingOpacity(n) {
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
