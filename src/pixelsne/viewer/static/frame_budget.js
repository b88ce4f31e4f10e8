// The frame budget: how many points a frame draws while the map moves.

const MIN_POINTS = 20_000;
const INITIAL_POINTS = 100_000; // until a frame has been measured
const FRAMES_TO_COMPLETE = 8; // after a move, all points are drawn within so many frames
const MAX_FRAME_TIME = 1000 / 30; // milliseconds, while the map moves
const FAST_FRAME_TIME = 6; // milliseconds; slower renderers show the position updates of a run without transitions
const REFRESH_TIME = 16; // milliseconds between two frames at 60 Hz
const MAX_FRAME_GAP = 500; // milliseconds; after a longer gap, a new move has begun

export class FrameBudget {
  /**
   * @param {number} n
   * @param {boolean} usesGpu whether drawing continues after the call has returned
   */
  constructor(n, usesGpu) {
    this.n = n;
    this.usesGpu = usesGpu;
    this.maxPoints = Math.min(n, INITIAL_POINTS); // drawn while the map moves
    this.frameTime = 0; // milliseconds of the last frame
    /** @type {number | null} */
    this.lastMovingFrame = null; // time of the last frame in which the map moved, milliseconds
  }

  /** Whether there is time for transitions. */
  get isFast() {
    return this.frameTime < FAST_FRAME_TIME;
  }

  /**
   * The number of points that the next frame may draw.
   * @param {boolean} isMoving
   */
  pointsForNextFrame(isMoving) {
    return isMoving ? this.maxPoints : Math.max(this.maxPoints, Math.ceil(this.n / FRAMES_TO_COMPLETE));
  }

  /**
   * Record the time of a frame and adapt the number of points.
   * @param {number} spent milliseconds
   * @param {boolean} isMoving
   */
  record(spent, isMoving) {
    this.frameTime = spent;
    if (isMoving) this._adapt(this.usesGpu ? Math.max(spent, this._delay()) : spent);
  }

  /** The milliseconds by which this frame is late; only this shows how long a GPU draws. */
  _delay() {
    const now = performance.now();
    const gap = now - (this.lastMovingFrame ?? now);
    this.lastMovingFrame = now;
    return gap > 0 && gap < MAX_FRAME_GAP ? gap - REFRESH_TIME : 0;
  }

  /** @param {number} spent milliseconds */
  _adapt(spent) {
    const factor = spent > MAX_FRAME_TIME ? Math.max(0.4, MAX_FRAME_TIME / spent) : spent < MAX_FRAME_TIME / 3 ? 1.25 : 1;
    this.maxPoints = Math.round(Math.min(this.n, Math.max(MIN_POINTS, this.maxPoints * factor)));
  }
}
