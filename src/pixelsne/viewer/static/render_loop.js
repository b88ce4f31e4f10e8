// The render loop: when the map is drawn, and how much of it in each frame.

import { computeDensity } from "./density.js";
import { FrameBudget } from "./frame_budget.js";
import { drawOverlay } from "./overlay.js";
import { showAutomaticStyle } from "./point_style.js";

export const TRANSITION_TIME = 180; // milliseconds in which points move from one position update of a run to the next

/**
 * @typedef {{
 *   drawLabels: (context: CanvasRenderingContext2D, progress: number, isFinal: boolean) => boolean,
 *   getClasses: () => import("./color_scale.js").ColorScale | null,
 *   onSampledChange: () => void,
 *   onDraw: () => void,
 * }} RenderCallbacks
 *   drawLabels: returns whether labels are still appearing or disappearing; getClasses: those by which the density view is
 *   colored; onSampledChange: `isSampled` has changed; onDraw: called after every frame
 */

export class RenderLoop {
  /**
   * @param {import("./scene.js").Scene} scene
   * @param {import("./camera.js").Camera} camera
   * @param {import("./renderer.js").Renderer} renderer
   * @param {HTMLCanvasElement} overlay
   * @param {import("./point_style.js").PointCounter} counter
   * @param {RenderCallbacks} callbacks
   */
  constructor(scene, camera, renderer, overlay, counter, callbacks) {
    this.scene = scene;
    this.camera = camera;
    this.renderer = renderer;
    this.overlay = /** @type {CanvasRenderingContext2D} */ (overlay.getContext("2d"));
    this.counter = counter;
    this.callbacks = callbacks;
    this.budget = new FrameBudget(scene.n, renderer.name === "webgl");
    this.layer = "points"; // or "density"
    this.highlighted = -1; // row
    /** @type {[number, number][]} */
    this.lasso = []; // corners, CSS pixels
    this.isSampled = false; // whether only some points are drawn because the map moves
    /** @type {import("./density.js").Density | null} */
    this._density = null;
    this._drawnCount = 0; // points of scene.order drawn since the map last changed
    this._transitionStart = 0;
    this._isQueued = false;
    this._frames = 0;
    this._areLabelsFading = false;
  }

  /** Whether there are positions; a run has none while it prepares. */
  get hasPositions() {
    return this.scene.positionsVersion > 0;
  }

  /**
   * @param {number} width CSS pixels
   * @param {number} height
   */
  resize(width, height) {
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    for (const canvas of [this.renderer.canvas, this.overlay.canvas]) {
      canvas.width = Math.max(1, Math.round(width * ratio));
      canvas.height = Math.max(1, Math.round(height * ratio));
    }
  }

  /**
   * @param {Uint16Array} positions (n, 2) quantized
   * @param {boolean} animate
   */
  setPositions(positions, animate) {
    const { scene } = this;
    const hasTransition = animate && this.hasPositions && this.budget.isFast; // skip the animation when frames are slow
    scene.previousPositions = hasTransition ? scene.positions : positions;
    scene.positions = positions;
    scene.positionsVersion++;
    this._transitionStart = hasTransition ? performance.now() : 0;
    document.documentElement.dataset.positions = String(scene.positionsVersion);
    this.draw();
  }

  /**
   * Queue a frame.
   * @param {boolean} keepsPoints whether the points drawn so far stay; the frame then adds the missing ones and redraws the
   *   overlay
   */
  draw(keepsPoints = false) {
    if (!keepsPoints) this._drawnCount = 0;
    if (this._isQueued) return;
    this._isQueued = true;
    requestAnimationFrame((now) => {
      this._isQueued = false;
      this._drawFrame(now);
    });
  }

  /** @param {number} now */
  _drawFrame(now) {
    const began = performance.now();
    const prefersReducedMotion = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const progress = prefersReducedMotion ? 1 : Math.min(1, (now - this._transitionStart) / TRANSITION_TIME);
    const isMoving = this.camera.isMoving || progress < 1;
    const isComplete = this._drawPoints(progress, isMoving);
    this._areLabelsFading = false;
    drawOverlay(this.overlay, this.scene, this.camera, this.hasPositions ? this.overlayContent(progress) : null);
    this._exposeCounts();
    this._setSampled(!isComplete && (isMoving || this.isSampled));
    if (progress < 1) this.draw();
    else if (!isMoving && !isComplete) this.draw(true);
    else if (this._areLabelsFading) this.draw(this._drawnCount > 0);
    this.budget.record(performance.now() - began, isMoving);
    showAutomaticStyle(this.scene);
    this.callbacks.onDraw();
  }

  /**
   * Draw as many points as the budget allows. While the map rests, each frame adds more points.
   * @param {number} progress
   * @param {boolean} isMoving
   * @returns {boolean} whether all are drawn
   */
  _drawPoints(progress, isMoving) {
    const { scene, camera } = this;
    if (!this.hasPositions) return true;
    if (this._drawnCount === 0) scene.style = this.counter.style();
    if (this.layer === "density") {
      if (this._drawnCount === 0) {
        this.renderer.draw(scene, camera, 1, 0, 0);
        this._density?.image.close();
        this._density = computeDensity(scene, camera, this.counter.spacing(), isMoving, this.callbacks.getClasses());
      }
      this._drawnCount = scene.n;
    } else if (this._drawnCount < scene.n) {
      const end = Math.min(scene.n, this._drawnCount + this.budget.pointsForNextFrame(isMoving));
      this.renderer.draw(scene, camera, progress, this._drawnCount, end);
      this._drawnCount = end;
    }
    return this._drawnCount === scene.n;
  }

  /**
   * @param {number} progress
   * @param {boolean} isFinal whether no label may be half visible
   * @returns {import("./overlay.js").OverlayContent}
   */
  overlayContent(progress, isFinal = false) {
    return {
      density: this.layer === "density" ? this._density : null,
      drawLabels: (context) => { this._areLabelsFading = this.callbacks.drawLabels(context, progress, isFinal); },
      highlighted: this.highlighted,
      lasso: this.lasso,
    };
  }

  /** @param {boolean} isSampled */
  _setSampled(isSampled) {
    if (isSampled === this.isSampled) return;
    this.isSampled = isSampled;
    this.callbacks.onSampledChange();
  }

  /** Write counts to the page for tests and benchmarks. */
  _exposeCounts() {
    const { dataset } = document.documentElement;
    dataset.frames = String(++this._frames);
    dataset.drawnPoints = String(this._drawnCount);
    dataset.allPoints = String(this.scene.n);
    if (this.hasPositions) dataset.firstFrameTime ??= String(performance.now());
  }
}
