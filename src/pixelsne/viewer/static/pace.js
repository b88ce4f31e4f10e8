// How many points a frame may have: as many as the machine can draw while the map moves.

const FEWEST_WHILE_MOVING = 20_000;
const MOST_AT_FIRST = 100_000; // until it is known how many can be drawn
const FRAMES_TO_REST = 8; // after a move, all points are drawn within so many frames
const FRAME = 1000 / 30; // milliseconds a frame may take while the map moves
const QUICK = 6; // milliseconds a frame may take for points to glide between those of a run

export class Pace {
  /**
   * @param {number} n
   * @param {boolean} isGraphicsProcessor whether one draws, which goes on when we have finished
   */
  constructor(n, isGraphicsProcessor) {
    this.n = n;
    this.isGraphicsProcessor = isGraphicsProcessor;
    this.most = Math.min(n, MOST_AT_FIRST); // points drawn while the map moves
    this.cost = 0; // milliseconds of the last frame
    /** @type {number | null} */
    this.lastMove = null;
  }

  /** Whether there is time for more frames than have to be. */
  get isQuick() {
    return this.cost < QUICK;
  }

  /**
   * Points that the next frame may draw.
   * @param {boolean} isMoving
   */
  next(isMoving) {
    return isMoving ? this.most : Math.max(this.most, Math.ceil(this.n / FRAMES_TO_REST));
  }

  /**
   * Takes down what a frame has cost.
   * @param {number} spent milliseconds
   * @param {boolean} isMoving
   */
  note(spent, isMoving) {
    this.cost = spent;
    if (isMoving) this._adapt(this.isGraphicsProcessor ? Math.max(spent, this._waited()) : spent);
  }

  /** Milliseconds that the last frame came late: what a graphics processor takes is seen only so. */
  _waited() {
    const now = performance.now();
    const gap = now - (this.lastMove ?? now);
    this.lastMove = now;
    return gap > 0 && gap < 500 ? gap - 16 : 0;
  }

  /** @param {number} spent milliseconds */
  _adapt(spent) {
    const factor = spent > FRAME ? Math.max(0.4, FRAME / spent) : spent < FRAME / 3 ? 1.25 : 1;
    this.most = Math.round(Math.min(this.n, Math.max(FEWEST_WHILE_MOVING, this.most * factor)));
  }
}
