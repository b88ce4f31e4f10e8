// The map on the screen: when it is drawn anew, and how much of it with every frame.

import { densityOf } from "./density.js";
import { drawOverlay } from "./overlay.js";
import { Pace } from "./pace.js";

export const GLIDE = 180; // milliseconds between two frames of a run

/**
 * Whom a picture asks and tells.
 * @typedef {{
 *   labels: (glided: number) => import("./labels.js").Label[], // what is to be written over the points
 *   thinned: () => void,                         // points begin or cease to be left out
 *   drawn: () => void,                           // after every frame
 * }} Watcher
 */

export class Picture {
  /**
   * @param {import("./scene.js").Scene} scene
   * @param {import("./camera.js").Camera} camera
   * @param {import("./scene.js").Drawer} drawer
   * @param {HTMLCanvasElement} overlay
   * @param {Watcher} watcher
   */
  constructor(scene, camera, drawer, overlay, watcher) {
    this.scene = scene;
    this.camera = camera;
    this.drawer = drawer;
    this.overlay = /** @type {CanvasRenderingContext2D} */ (overlay.getContext("2d"));
    this.watcher = watcher;
    this.pace = new Pace(scene.n, drawer.name === "webgl");
    this.view = "points"; // or "density"
    this.pointed = -1;
    /** @type {[number, number][]} */
    this.lasso = [];
    this.isThinned = false;
    /** @type {import("./density.js").Density | null} */
    this._density = null;
    this._drawnTo = 0; // points of the present view
    this._glideFrom = 0;
    this._isQueued = false;
    this._frames = 0;
  }

  /** Whether it is known where points are; those of a run come later. */
  get hasPlaces() {
    return this.scene.placesVersion > 0;
  }

  /**
   * @param {number} width CSS pixels
   * @param {number} height
   */
  resize(width, height) {
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    for (const canvas of [this.drawer.canvas, this.overlay.canvas]) {
      canvas.width = Math.max(1, Math.round(width * ratio));
      canvas.height = Math.max(1, Math.round(height * ratio));
    }
  }

  /**
   * @param {Uint16Array} places (n, 2) steps
   * @param {boolean} glides
   */
  move(places, glides) {
    const { scene } = this;
    const isGliding = glides && this.hasPlaces && this.pace.isQuick; // a machine that is busy drawing has no time for grace
    scene.from = isGliding ? scene.to : places;
    scene.to = places;
    scene.placesVersion++;
    this._glideFrom = isGliding ? performance.now() : 0;
    document.documentElement.dataset.places = String(scene.placesVersion);
    this.draw();
  }

  /** @param {boolean} isOver whether only what lies over the points has changed */
  draw(isOver = false) {
    if (!isOver) this._drawnTo = 0;
    if (this._isQueued) return;
    this._isQueued = true;
    requestAnimationFrame((now) => {
      this._isQueued = false;
      this._drawNow(now);
    });
  }

  /** @param {number} now */
  _drawNow(now) {
    const began = performance.now();
    const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const glided = isStill ? 1 : Math.min(1, (now - this._glideFrom) / GLIDE);
    const isMoving = this.camera.isMoving || glided < 1;
    const isWhole = this._drawPoints(glided, isMoving);
    drawOverlay(this.overlay, this.scene, this.camera, this.hasPlaces ? this.over(glided) : null);
    this._tellMeasurers();
    this._noteThinning(isMoving, isWhole);
    if (glided < 1) this.draw();
    else if (!isMoving && !isWhole) this.draw(true);
    this.pace.note(performance.now() - began, isMoving);
    this.watcher.drawn();
  }

  /**
   * As many points as there is time for; the others follow when the map rests, some with every frame.
   * @param {number} glided
   * @param {boolean} isMoving
   * @returns {boolean} whether all are drawn
   */
  _drawPoints(glided, isMoving) {
    const { scene, camera } = this;
    if (!this.hasPlaces) return true;
    if (this.view === "density") {
      if (this._drawnTo === 0) {
        this.drawer.draw(scene, camera, 1, 0, 0);
        this._density = densityOf(scene, camera);
      }
      this._drawnTo = scene.n;
    } else if (this._drawnTo < scene.n) {
      const end = Math.min(scene.n, this._drawnTo + this.pace.next(isMoving));
      this.drawer.draw(scene, camera, glided, this._drawnTo, end);
      this._drawnTo = end;
    }
    return this._drawnTo === scene.n;
  }

  /**
   * @param {number} glided
   * @returns {import("./overlay.js").Over}
   */
  over(glided) {
    return {
      density: this.view === "density" ? this._density : null,
      labels: this.watcher.labels(glided),
      pointed: this.pointed,
      lasso: this.lasso,
    };
  }

  /**
   * Points left out while the map moves are told as such until all are there.
   * @param {boolean} isMoving
   * @param {boolean} isWhole
   */
  _noteThinning(isMoving, isWhole) {
    const isThinned = !isWhole && (isMoving || this.isThinned);
    if (isThinned === this.isThinned) return;
    this.isThinned = isThinned;
    this.watcher.thinned();
  }

  /** What tests and benchmarks look at. */
  _tellMeasurers() {
    const told = document.documentElement.dataset;
    told.frames = String(++this._frames);
    told.drawn = String(this._drawnTo);
    told.all = String(this.scene.n);
    if (this.hasPlaces) told.painted ??= String(performance.now());
  }
}
