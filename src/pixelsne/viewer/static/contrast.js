// Colors of text that are readable on the background.

const MIN_CONTRAST = 6; // WCAG asks for 4.5; names differ from the points behind them, too
const BACKGROUNDS = { light: [255, 255, 255], dark: [18, 18, 23] };
const STEPS = 24; // from a color to black or white

/** @typedef {import("./colors.js").Rgb} Rgb */

/** @param {number[]} color */
function luminance(color) {
  const [red, green, blue] = color.map((channel) => (channel <= 10 ? channel / 255 / 12.92 : ((channel / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/**
 * The contrast of two colors as WCAG defines it, from 1 to 21.
 * @param {number[]} one
 * @param {number[]} other
 */
export function contrastOf(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((first, second) => first - second);
  return (high + 0.05) / (low + 0.05);
}

/**
 * The color, darker on a light background or lighter on a dark one, so far as text in it needs.
 * @param {Rgb} color
 * @param {boolean} dark
 * @returns {Rgb}
 */
export function readableColor(color, dark) {
  const background = dark ? BACKGROUNDS.dark : BACKGROUNDS.light;
  const end = dark ? 255 : 0;
  for (let step = 0; step < STEPS; step++) {
    const mixed = /** @type {Rgb} */ (color.map((channel) => Math.round(channel + ((end - channel) * step) / STEPS)));
    if (contrastOf(mixed, background) >= MIN_CONTRAST) return mixed;
  }
  return [end, end, end];
}
