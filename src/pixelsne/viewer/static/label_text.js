// The text of labels: broken into lines, measured, and drawn once into an image that frames reuse.

const LINE_HEIGHT = 1.12; // of the font size
const MAX_LINE_CHARACTERS = 30;
const MIN_BROKEN_CHARACTERS = 15; // of a name that is broken into two lines
const HALO = 5; // CSS pixels around letters
const MAX_IMAGES = 600;
const MAX_NAMES = 4000;
const FONT_FAMILY = "system-ui, -apple-system, 'Segoe UI', sans-serif";

/**
 * @typedef {{lines: string[], size: number, weight: number, align: "left" | "center", width: number, height: number}} TextBlock
 *   size: of the font; width and height: of the block, CSS pixels
 * @typedef {{image: OffscreenCanvas, margin: number}} TextImage margin: device pixels around the block
 */

const measuring = /** @type {OffscreenCanvasRenderingContext2D} */ (new OffscreenCanvas(1, 1).getContext("2d"));
/** @type {Map<string, TextImage>} */
const images = new Map();
/** @type {Map<string, TextBlock>} */
const names = new Map();
let deadline = Infinity; // of `performance.now()`, for new images of this frame
let hasNewImage = false; // whether this frame has drawn one

/**
 * @param {string} text
 * @param {number} limit characters
 */
export function shortenText(text, limit) {
  const characters = [...text.slice(0, 4 * limit)];
  return characters.length > limit ? `${characters.slice(0, limit - 1).join("").trimEnd()}…` : text;
}

/**
 * Break a name into at most two lines of similar lengths.
 * @param {string} text
 */
function breakName(text) {
  const short = shortenText(text, 2 * MAX_LINE_CHARACTERS);
  const separator = short.includes(" · ") ? / · /g : /\s+/g; // words of a phrase stay together
  const gaps = short.length < MIN_BROKEN_CHARACTERS ? [] : [...short.matchAll(separator)];
  const longer = (/** @type {RegExpMatchArray} */ gap) => Math.max(gap.index ?? 0, short.length - (gap.index ?? 0) - gap[0].length);
  const gap = gaps.reduce((best, one) => (longer(one) < longer(best) ? one : best), gaps[0]);
  const lines = gap === undefined ? [short] : [short.slice(0, gap.index), short.slice((gap.index ?? 0) + gap[0].length)];
  return lines.map((line) => shortenText(line.trim(), MAX_LINE_CHARACTERS)).filter((line) => line !== "");
}

/**
 * @param {string} text
 * @param {number} size of the font, CSS pixels
 * @param {number} weight of the font
 * @returns {TextBlock} in one or two lines
 */
export function layOutName(text, size, weight) {
  const key = [size, weight, text].join("\n");
  const known = names.get(key);
  if (known !== undefined) return known;
  if (names.size >= MAX_NAMES) names.clear();
  const block = measureBlock(breakName(text), size, weight, "center");
  names.set(key, block);
  return block;
}

/**
 * @param {string} text
 * @param {number} size of the font, CSS pixels
 * @returns {TextBlock} in one line
 */
export function layOutLine(text, size) {
  return measureBlock([text], size, 400, "left");
}

/**
 * @param {string[]} lines
 * @param {number} size
 * @param {number} weight
 * @param {"left" | "center"} align
 * @returns {TextBlock}
 */
function measureBlock(lines, size, weight, align) {
  measuring.font = `${weight} ${size}px ${FONT_FAMILY}`;
  const width = Math.max(...lines.map((line) => measuring.measureText(line).width));
  return { lines, size, weight, align, width, height: lines.length * size * LINE_HEIGHT };
}

/**
 * Limit the time for new images in this frame; other labels appear in the next one.
 * @param {number} milliseconds
 */
export function limitImageTime(milliseconds) {
  deadline = performance.now() + milliseconds;
  hasNewImage = false;
}

/**
 * Draw a block at a position on whole device pixels, so that it is sharp.
 * @param {CanvasRenderingContext2D} context in CSS pixels
 * @param {TextBlock} block
 * @param {number} left CSS pixels
 * @param {number} top
 * @param {string} color
 * @param {boolean} dark
 * @returns {boolean} whether there was time for it
 */
export function drawBlock(context, block, left, top, color, dark) {
  const ratio = context.getTransform().a;
  const found = imageOf(block, color, dark, ratio);
  if (found === null) return false;
  const { image, margin } = found;
  const [x, y] = [left, top].map((side) => (Math.round(side * ratio) - margin) / ratio);
  context.drawImage(image, x, y, image.width / ratio, image.height / ratio);
  return true;
}

/**
 * @param {TextBlock} block
 * @param {string} color
 * @param {boolean} dark
 * @param {number} ratio device pixels per CSS pixel
 * @returns {TextImage | null} null if there is no time to draw it
 */
function imageOf(block, color, dark, ratio) {
  const key = [ratio, dark, color, block.size, block.weight, ...block.lines].join("\n");
  const known = images.get(key);
  if (known !== undefined) return known;
  if (hasNewImage && performance.now() > deadline) return null; // at least one image per frame
  hasNewImage = true;
  if (images.size >= MAX_IMAGES) images.clear();
  const made = drawImageOf(block, color, dark, ratio);
  images.set(key, made);
  return made;
}

/**
 * @param {TextBlock} block
 * @param {string} color
 * @param {boolean} dark
 * @param {number} ratio
 * @returns {TextImage}
 */
function drawImageOf({ lines, size, weight, align, width, height }, color, dark, ratio) {
  const margin = Math.ceil((HALO + 2) * ratio);
  const image = new OffscreenCanvas(Math.ceil(width * ratio) + 2 * margin, Math.ceil(height * ratio) + 2 * margin);
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (image.getContext("2d"));
  context.setTransform(ratio, 0, 0, ratio, margin, margin);
  context.font = `${weight} ${size}px ${FONT_FAMILY}`;
  context.textAlign = align;
  context.textBaseline = "middle";
  context.lineJoin = "round";
  const x = align === "center" ? width / 2 : 0;
  const y = (/** @type {number} */ line) => (line + 0.5) * size * LINE_HEIGHT;
  for (const [lineWidth, alpha] of [[2 * HALO, 0.45], [HALO, 0.9]]) {
    context.lineWidth = lineWidth;
    context.strokeStyle = dark ? `rgba(18, 18, 23, ${alpha})` : `rgba(255, 255, 255, ${alpha})`;
    lines.forEach((line, index) => context.strokeText(line, x, y(index)));
  }
  context.fillStyle = color;
  lines.forEach((line, index) => context.fillText(line, x, y(index)));
  return { image, margin };
}
