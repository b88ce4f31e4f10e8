// The part of the map that is on the screen, and the hands that move it.

const MOST_ZOOM = 2000; // of the whole map: a pixel of the map would fill the screen
const LEAST_ZOOM = 1 / 4;
const MARGIN = 24; // CSS pixels around the whole map
const FRICTION = 0.004; // of inertia, per millisecond
const KEY_STEP = 80; // CSS pixels
const SMALLEST_BOX = 1 / 200; // of the map's side: a single point is shown with what is around it

/**
 * @typedef {{left: number, top: number, right: number, bottom: number}} Room CSS pixels
 * @typedef {[number, number, number, number]} Box left, top, right, bottom in pixels of the map
 */

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
    /** @type {Room} the part of the screen that nothing covers */
    this.room = { left: 0, top: 0, right: 1, bottom: 1 };
    /** @type {Box} what "the whole map" means */
    this.homeBox = [0, 0, ...resolution];
    this.center = [resolution[0] / 2, resolution[1] / 2]; // in the middle of the room, pixels of the map
    this.scale = 1; // CSS pixels for a pixel of the map
    this.isMoving = false;
    /** @type {number} */
    this._animation = 0;
    this._settle = 0;
    this.isHome = true;
  }

  /**
   * @param {number} width CSS pixels
   * @param {number} height
   * @param {Room} room
   */
  resize(width, height, room) {
    const isFirst = this.width === 1;
    const isSameScreen = width === this.width && height === this.height;
    if (isSameScreen && Object.entries(this.room).every(([side, value]) => room[/** @type {keyof Room} */ (side)] === value)) return;
    const before = this.middle;
    [this.width, this.height, this.room] = [width, height, room];
    const shift = this.middle.map((value, axis) => (value - before[axis]) / this.scale);
    if (isSameScreen) this.center = this.center.map((value, axis) => value + shift[axis]); // the map stays where it is
    if (this.isHome) this.home(isSameScreen && !isFirst);
    else this.moved();
  }

  /**
   * What the whole map is from now on.
   * @param {Box} box
   * @param {boolean} glides
   */
  setHome(box, glides) {
    this.homeBox = box;
    if (this.isHome) this.home(glides);
  }

  /** The middle of the room. */
  get middle() {
    const { left, top, right, bottom } = this.room;
    return [(left + right) / 2, (top + bottom) / 2];
  }

  /** @param {Box} box */
  _scaleFor([left, top, right, bottom]) {
    const [across, down] = [this.room.right - this.room.left - 2 * MARGIN, this.room.bottom - this.room.top - 2 * MARGIN];
    const [width, height] = [right - left, bottom - top].map((side, axis) => Math.max(side, this.resolution[axis] * SMALLEST_BOX));
    return Math.max(1e-3, Math.min(across / width, down / height));
  }

  get homeScale() {
    return this._scaleFor(this.homeBox);
  }

  /** How much larger than when the whole map is shown. */
  get zoom() {
    return this.scale / this.homeScale;
  }

  /** @param {boolean} glides */
  home(glides = true) {
    this.showBox(this.homeBox, glides);
    this.isHome = true;
  }

  /**
   * Within the room; what lies far outside of the whole map is within reach.
   * @param {number} scale
   */
  _limited(scale) {
    const least = LEAST_ZOOM * Math.min(this.homeScale, this._scaleFor([0, 0, ...this.resolution]));
    return Math.min(Math.max(scale, least), this.homeScale * MOST_ZOOM);
  }

  /**
   * @param {number[]} center
   * @param {number} scale
   * @param {boolean} glides
   */
  show(center, scale, glides = true) {
    cancelAnimationFrame(this._animation);
    this.isHome = false;
    const target = this._limited(scale);
    const isThere = Math.abs(target / this.scale - 1) < 1e-6 && Math.hypot(center[0] - this.center[0], center[1] - this.center[1]) * target < 0.5;
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (!glides || still || isThere) {
      this.center = [...center];
      this.scale = target;
      this._changed();
      return;
    }
    this._changed();
    const from = { center: this.center, scale: this.scale, at: performance.now() };
    const step = (/** @type {number} */ now) => {
      const share = Math.min(1, Math.max(0, (now - from.at) / 350));
      const eased = 1 - (1 - share) ** 3;
      this.scale = from.scale * (target / from.scale) ** eased;
      this.center = from.center.map((value, axis) => value + (center[axis] - value) * eased);
      this._changed();
      if (share < 1) this._animation = requestAnimationFrame(step);
    };
    this._animation = requestAnimationFrame(step);
  }

  /**
   * All of a box of the map, in the middle of the room.
   * @param {Box} box
   * @param {boolean} glides
   */
  showBox(box, glides = true) {
    this.show([(box[0] + box[2]) / 2, (box[1] + box[3]) / 2], this._scaleFor(box), glides);
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
    this.scale = this._limited(this.scale * factor);
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
    const [middleX, middleY] = this.middle;
    return [this.center[0] + (x - middleX) / this.scale, this.center[1] + (y - middleY) / this.scale];
  }

  /**
   * @param {number} x pixels of the map
   * @param {number} y
   * @returns {[number, number]} CSS pixels
   */
  toScreen(x, y) {
    const [middleX, middleY] = this.middle;
    return [(x - this.center[0]) * this.scale + middleX, (y - this.center[1]) * this.scale + middleY];
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
    const [x, y] = this.middle;
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowLeft: () => this.pan(KEY_STEP, 0),
      ArrowRight: () => this.pan(-KEY_STEP, 0),
      ArrowUp: () => this.pan(0, KEY_STEP),
      ArrowDown: () => this.pan(0, -KEY_STEP),
      "+": () => this.zoomAt(1.4, x, y),
      "=": () => this.zoomAt(1.4, x, y),
      "-": () => this.zoomAt(1 / 1.4, x, y),
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
