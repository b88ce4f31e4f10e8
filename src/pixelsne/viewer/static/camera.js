// The part of the map that is on the screen, and the hands that move it.

/** Zoomed in so far, a pixel of the map would fill the screen. */
const MOST_ZOOM = 2000;
const MARGIN = 24; // CSS pixels around the whole map
const BAR = 40; // above it
const FRICTION = 0.004; // of inertia, per millisecond
const KEY_STEP = 80; // CSS pixels

export class Camera {
  /**
   * @param {[number, number]} resolution of the map, pixels
   * @param {() => void} moved called after every change
   */
  constructor(resolution, moved) {
    this.resolution = resolution;
    this.moved = moved;
    this.width = 1;
    this.height = 1;
    this.center = [resolution[0] / 2, resolution[1] / 2];
    this.scale = 1; // CSS pixels for a pixel of the map
    this.isMoving = false;
    /** @type {number} */
    this._animation = 0;
    this._settle = 0;
    this.isHome = true;
  }

  /**
   * @param {number} width
   * @param {number} height
   */
  resize(width, height) {
    this.width = width;
    this.height = height;
    if (this.isHome) this.home(false);
    else this.moved();
  }

  get homeScale() {
    const [across, down] = this.resolution;
    return Math.max(1e-3, Math.min((this.width - 2 * MARGIN) / across, (this.height - 2 * MARGIN - BAR) / down));
  }

  /** The whole map below the bar. */
  get homeCenter() {
    return [this.resolution[0] / 2, this.resolution[1] / 2 - BAR / 2 / this.homeScale];
  }

  /** How much larger than when the whole map is shown. */
  get zoom() {
    return this.scale / this.homeScale;
  }

  /** @param {boolean} glide */
  home(glide = true) {
    this.show(this.homeCenter, this.homeScale, glide);
    this.isHome = true;
  }

  /**
   * @param {number[]} center
   * @param {number} scale
   * @param {boolean} glide
   */
  show(center, scale, glide = true) {
    cancelAnimationFrame(this._animation);
    this.isHome = false;
    const target = Math.min(Math.max(scale, this.homeScale / 4), this.homeScale * MOST_ZOOM);
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (!glide || still) {
      this.center = [...center];
      this.scale = target;
      this._changed();
      return;
    }
    const from = { center: this.center, scale: this.scale, at: performance.now() };
    const step = (/** @type {number} */ now) => {
      const share = Math.min(1, (now - from.at) / 350);
      const eased = 1 - (1 - share) ** 3;
      this.scale = from.scale * (target / from.scale) ** eased;
      this.center = from.center.map((value, axis) => value + (center[axis] - value) * eased);
      this._changed();
      if (share < 1) this._animation = requestAnimationFrame(step);
    };
    this._animation = requestAnimationFrame(step);
  }

  /**
   * All of a box of the map, with some room around it.
   * @param {[number, number, number, number]} box left, top, right, bottom in pixels of the map
   */
  showBox([left, top, right, bottom]) {
    const across = Math.max(right - left, this.resolution[0] / 200);
    const down = Math.max(bottom - top, this.resolution[1] / 200);
    const scale = 0.8 * Math.min(this.width / across, this.height / down);
    this.show([(left + right) / 2, (top + bottom) / 2], scale);
  }

  /**
   * @param {number} across CSS pixels
   * @param {number} down
   */
  pan(across, down) {
    cancelAnimationFrame(this._animation);
    this.isHome = false;
    this.center = [this.center[0] - across / this.scale, this.center[1] - down / this.scale];
    this._changed();
  }

  /**
   * What is under (x, y) stays there.
   * @param {number} factor
   * @param {number} x CSS pixels
   * @param {number} y
   */
  zoomAt(factor, x, y) {
    cancelAnimationFrame(this._animation);
    this.isHome = false;
    const before = this.toMap(x, y);
    this.scale = Math.min(Math.max(this.scale * factor, this.homeScale / 4), this.homeScale * MOST_ZOOM);
    const after = this.toMap(x, y);
    this.center = this.center.map((value, axis) => value + before[axis] - after[axis]);
    this._changed();
  }

  /**
   * @param {number} x CSS pixels
   * @param {number} y
   * @returns {[number, number]} pixels of the map
   */
  toMap(x, y) {
    return [this.center[0] + (x - this.width / 2) / this.scale, this.center[1] + (y - this.height / 2) / this.scale];
  }

  /**
   * @param {number} x pixels of the map
   * @param {number} y
   * @returns {[number, number]} CSS pixels
   */
  toScreen(x, y) {
    return [(x - this.center[0]) * this.scale + this.width / 2, (y - this.center[1]) * this.scale + this.height / 2];
  }

  _changed() {
    this.isMoving = true;
    clearTimeout(this._settle);
    this._settle = window.setTimeout(() => {
      this.isMoving = false;
      this.moved();
    }, 140);
    this.moved();
  }

  /**
   * @param {number[]} velocity CSS pixels a millisecond
   */
  glide(velocity) {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches || Math.hypot(...velocity) < 0.05) return;
    let last = performance.now();
    const step = (/** @type {number} */ now) => {
      const passed = now - last;
      last = now;
      velocity = velocity.map((value) => value * Math.exp(-FRICTION * passed));
      this.center = this.center.map((value, axis) => value - (velocity[axis] * passed) / this.scale);
      this._changed();
      if (Math.hypot(...velocity) > 0.02) this._animation = requestAnimationFrame(step);
    };
    this._animation = requestAnimationFrame(step);
  }

  /**
   * @param {KeyboardEvent} event
   * @returns {boolean} whether the key was one of these
   */
  key(event) {
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowLeft: () => this.pan(KEY_STEP, 0),
      ArrowRight: () => this.pan(-KEY_STEP, 0),
      ArrowUp: () => this.pan(0, KEY_STEP),
      ArrowDown: () => this.pan(0, -KEY_STEP),
      "+": () => this.zoomAt(1.4, this.width / 2, this.height / 2),
      "=": () => this.zoomAt(1.4, this.width / 2, this.height / 2),
      "-": () => this.zoomAt(1 / 1.4, this.width / 2, this.height / 2),
      0: () => this.home(),
    };
    const action = keys[event.key];
    action?.();
    return action !== undefined;
  }
}

/**
 * Mouse, pen and fingers. One pans, two pinch, a wheel zooms at the pointer.
 * @param {HTMLElement} surface
 * @param {Camera} camera
 * @param {(event: PointerEvent) => boolean} isTaken whether somebody else (a lasso) follows this pointer
 */
export function holdCamera(surface, camera, isTaken) {
  /** @type {Map<number, {x: number, y: number, at: number}>} */
  const fingers = new Map();
  let velocity = [0, 0];

  surface.addEventListener("wheel", (event) => {
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    camera.zoomAt(Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0018)), event.offsetX, event.offsetY);
  }, { passive: false });

  surface.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || isTaken(event)) return;
    surface.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY, at: event.timeStamp });
    velocity = [0, 0];
  });

  surface.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (before === undefined) return;
    const now = { x: event.offsetX, y: event.offsetY, at: event.timeStamp };
    const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
    if (other === undefined) {
      const passed = Math.max(1, now.at - before.at);
      velocity = [(now.x - before.x) / passed, (now.y - before.y) / passed];
      camera.pan(now.x - before.x, now.y - before.y);
    } else {
      const spread = (/** @type {{x: number, y: number}} */ one) => Math.max(1, Math.hypot(one.x - other.x, one.y - other.y));
      camera.zoomAt(spread(now) / spread(before), (now.x + other.x) / 2, (now.y + other.y) / 2);
      camera.pan((now.x - before.x) / 2, (now.y - before.y) / 2);
    }
    fingers.set(event.pointerId, now);
  });

  const release = (/** @type {PointerEvent} */ event) => {
    const last = fingers.get(event.pointerId);
    if (!fingers.delete(event.pointerId)) return;
    const rested = last !== undefined && event.timeStamp - last.at > 60;
    if (fingers.size === 0 && event.pointerType === "touch" && !rested) camera.glide(velocity);
  };
  surface.addEventListener("pointerup", release);
  surface.addEventListener("pointercancel", release);
  surface.addEventListener("dblclick", (event) => camera.zoomAt(2.5, event.offsetX, event.offsetY));
}
