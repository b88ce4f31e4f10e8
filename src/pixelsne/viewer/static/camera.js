// The camera: which part of the map is on the screen.

const MAX_ZOOM = 2000; // relative to the default view: a pixel of the map would fill the screen
const MIN_ZOOM = 1 / 4;
const VIEW_MARGIN = 24; // CSS pixels around the bounds that are shown
const FRICTION = 0.004; // of inertia, per millisecond
const MIN_BOUNDS_FRACTION = 1 / 200; // of the map's side: a single point is shown with its surroundings
const ANIMATION_TIME = 350; // milliseconds
const SETTLE_TIME = 140; // milliseconds without a change after which the camera rests

/**
 * @typedef {{left: number, top: number, right: number, bottom: number}} Area CSS pixels
 * @typedef {[number, number, number, number]} Bounds left, top, right, bottom in pixels of the map
 */

export class Camera {
  /**
   * @param {[number, number]} resolution of the map, pixels
   * @param {() => void} onChange called after every change
   */
  constructor(resolution, onChange) {
    this.resolution = resolution;
    this.onChange = onChange;
    this.width = 1;
    this.height = 1;
    /** @type {Area} the part of the screen that no control covers */
    this.visibleArea = { left: 0, top: 0, right: 1, bottom: 1 };
    /** @type {Bounds} what the default view shows */
    this.defaultBounds = [0, 0, ...resolution];
    this.center = [resolution[0] / 2, resolution[1] / 2]; // of the visible area, pixels of the map
    this.scale = 1; // CSS pixels per pixel of the map
    this.isMoving = false;
    this.isDefaultView = true;
    this._animation = 0;
    this._settleTimer = 0;
  }

  /**
   * @param {number} width CSS pixels
   * @param {number} height
   * @param {Area} visibleArea
   */
  resize(width, height, visibleArea) {
    const isFirst = this.width === 1;
    const isSameScreen = width === this.width && height === this.height;
    const isSameArea = Object.entries(this.visibleArea).every(([side, value]) => visibleArea[/** @type {keyof Area} */ (side)] === value);
    if (isSameScreen && isSameArea) return;
    const before = this.visibleCenter;
    [this.width, this.height, this.visibleArea] = [width, height, visibleArea];
    const shift = this.visibleCenter.map((value, axis) => (value - before[axis]) / this.scale);
    if (isSameScreen) this.center = this.center.map((value, axis) => value + shift[axis]); // points keep their screen positions
    if (this.isDefaultView) this.resetView(isSameScreen && !isFirst);
    else this.onChange();
  }

  /**
   * @param {Bounds} bounds
   * @param {boolean} animate
   */
  setDefaultBounds(bounds, animate) {
    this.defaultBounds = bounds;
    if (this.isDefaultView) this.resetView(animate);
  }

  /** The center of the visible area, CSS pixels. */
  get visibleCenter() {
    const { left, top, right, bottom } = this.visibleArea;
    return [(left + right) / 2, (top + bottom) / 2];
  }

  /**
   * The scale at which bounds fill the visible area.
   * @param {Bounds} bounds
   */
  _scaleFor([left, top, right, bottom]) {
    const area = this.visibleArea;
    const [areaWidth, areaHeight] = [area.right - area.left - 2 * VIEW_MARGIN, area.bottom - area.top - 2 * VIEW_MARGIN];
    const [width, height] = [right - left, bottom - top].map((side, axis) => Math.max(side, this.resolution[axis] * MIN_BOUNDS_FRACTION));
    return Math.max(1e-3, Math.min(areaWidth / width, areaHeight / height));
  }

  get defaultScale() {
    return this._scaleFor(this.defaultBounds);
  }

  /** The scale relative to the default view. */
  get zoom() {
    return this.scale / this.defaultScale;
  }

  /** @param {boolean} animate */
  resetView(animate = true) {
    this.fitBounds(this.defaultBounds, animate);
    this.isDefaultView = true;
  }

  /**
   * Clamp a scale. The minimum is low enough to show points far outside of the default bounds.
   * @param {number} scale
   */
  _clampScale(scale) {
    const minScale = MIN_ZOOM * Math.min(this.defaultScale, this._scaleFor([0, 0, ...this.resolution]));
    return Math.min(Math.max(scale, minScale), this.defaultScale * MAX_ZOOM);
  }

  /**
   * @param {number[]} center
   * @param {number} scale
   * @param {boolean} animate
   */
  moveTo(center, scale, animate = true) {
    cancelAnimationFrame(this._animation);
    this.isDefaultView = false;
    const target = this._clampScale(scale);
    const isAtTarget = Math.abs(target / this.scale - 1) < 1e-6 && Math.hypot(center[0] - this.center[0], center[1] - this.center[1]) * target < 0.5;
    if (!animate || isAtTarget || matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.center = [...center];
      this.scale = target;
      this._notify();
      return;
    }
    this._notify();
    this._animateTo(center, target);
  }

  /**
   * @param {number[]} center
   * @param {number} scale
   */
  _animateTo(center, scale) {
    const from = { center: this.center, scale: this.scale, time: performance.now() };
    const step = (/** @type {number} */ now) => {
      const progress = Math.min(1, Math.max(0, (now - from.time) / ANIMATION_TIME));
      const eased = 1 - (1 - progress) ** 3;
      this.scale = from.scale * (scale / from.scale) ** eased;
      this.center = from.center.map((value, axis) => value + (center[axis] - value) * eased);
      this._notify();
      if (progress < 1) this._animation = requestAnimationFrame(step);
    };
    this._animation = requestAnimationFrame(step);
  }

  /**
   * Show bounds of the map in the visible area.
   * @param {Bounds} bounds
   * @param {boolean} animate
   */
  fitBounds(bounds, animate = true) {
    this.moveTo([(bounds[0] + bounds[2]) / 2, (bounds[1] + bounds[3]) / 2], this._scaleFor(bounds), animate);
  }

  /**
   * @param {number} dx CSS pixels
   * @param {number} dy
   */
  pan(dx, dy) {
    cancelAnimationFrame(this._animation);
    this.isDefaultView = false;
    this.center = [this.center[0] - dx / this.scale, this.center[1] - dy / this.scale];
    this._notify();
  }

  /**
   * Zoom with (x, y) as the fixed point.
   * @param {number} factor
   * @param {number} x CSS pixels
   * @param {number} y
   */
  zoomAt(factor, x, y) {
    cancelAnimationFrame(this._animation);
    this.isDefaultView = false;
    const before = this.toMap(x, y);
    this.scale = this._clampScale(this.scale * factor);
    const after = this.toMap(x, y);
    this.center = this.center.map((value, axis) => value + before[axis] - after[axis]);
    this._notify();
  }

  /**
   * Pan on after a finger was lifted, more and more slowly.
   * @param {number[]} velocity CSS pixels per millisecond
   */
  panWithInertia(velocity) {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches || Math.hypot(...velocity) < 0.05) return;
    let last = performance.now();
    const step = (/** @type {number} */ now) => {
      const passed = now - last;
      last = now;
      velocity = velocity.map((value) => value * Math.exp(-FRICTION * passed));
      this.center = this.center.map((value, axis) => value - (velocity[axis] * passed) / this.scale);
      this._notify();
      if (Math.hypot(...velocity) > 0.02) this._animation = requestAnimationFrame(step);
    };
    this._animation = requestAnimationFrame(step);
  }

  /**
   * @param {number} x CSS pixels
   * @param {number} y
   * @returns {[number, number]} pixels of the map
   */
  toMap(x, y) {
    const [centerX, centerY] = this.visibleCenter;
    return [this.center[0] + (x - centerX) / this.scale, this.center[1] + (y - centerY) / this.scale];
  }

  /**
   * @param {number} x pixels of the map
   * @param {number} y
   * @returns {[number, number]} CSS pixels
   */
  toScreen(x, y) {
    const [centerX, centerY] = this.visibleCenter;
    return [(x - this.center[0]) * this.scale + centerX, (y - this.center[1]) * this.scale + centerY];
  }

  _notify() {
    this.isMoving = true;
    clearTimeout(this._settleTimer);
    this._settleTimer = window.setTimeout(() => {
      this.isMoving = false;
      this.onChange();
    }, SETTLE_TIME);
    this.onChange();
  }
}
