// A list that is longer than browsers let an element be: its scroll bar stands for shares of it, wheel and keys move by
// pixels.

const TALLEST = 8_000_000; // CSS pixels; Firefox ends at 17 million, others at 33 million

export class LongList {
  /**
   * @param {HTMLElement} root that scrolls
   * @param {HTMLElement} body that is as high as the list, or as high as it can be
   * @param {number} line CSS pixels
   * @param {() => void} moved
   */
  constructor(root, body, line, moved) {
    this.root = root;
    this.body = body;
    this.line = line;
    this.moved = moved;
    this.count = 0;
    this.top = 0; // CSS pixels of the whole list above what is seen
    this._scrolled = 0; // of the element, when we last looked
    root.addEventListener("scroll", () => this._follow());
    root.addEventListener("wheel", (event) => this._wheel(event), { passive: false });
    root.addEventListener("keydown", (event) => this._key(event));
  }

  /** @param {number} count lines */
  setCount(count) {
    this.count = count;
    this.body.style.height = `${Math.min(count * this.line, TALLEST)}px`;
    this.moveTo(0);
  }

  get isShortened() {
    return this.count * this.line > TALLEST;
  }

  /** CSS pixels of lines that are seen at once. */
  get seen() {
    return this.root.clientHeight - this.body.offsetTop;
  }

  /** The furthest that `top` can be. */
  get last() {
    return Math.max(0, this.count * this.line - this.seen);
  }

  get _furthestScroll() {
    return Math.max(1, this.root.scrollHeight - this.root.clientHeight);
  }

  /** @param {number} top */
  moveTo(top) {
    this.top = Math.min(Math.max(0, top), this.last);
    this.root.scrollTop = this.isShortened ? (this.top / this.last) * this._furthestScroll : this.top;
    this._scrolled = this.root.scrollTop;
    this.moved();
  }

  /**
   * Where a line is within the body.
   * @param {number} index
   * @returns {number} CSS pixels
   */
  positionOf(index) {
    return this.isShortened ? index * this.line - this.top + this.root.scrollTop : index * this.line;
  }

  /** A scroll bar jumps, a finger moves by pixels. */
  _follow() {
    const at = this.root.scrollTop;
    const moved = at - this._scrolled;
    if (Math.abs(moved) < 1 && this.isShortened) return; // our own doing
    this._scrolled = at;
    const isStep = this.isShortened && Math.abs(moved) < this.seen && at > 0 && at < this._furthestScroll - 1;
    const top = isStep ? this.top + moved : this.isShortened ? (at / this._furthestScroll) * this.last : at;
    this.top = Math.min(Math.max(0, top), this.last);
    this.moved();
  }

  /** @param {WheelEvent} event */
  _wheel(event) {
    if (!this.isShortened || event.deltaY === 0 || event.ctrlKey) return;
    event.preventDefault();
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? this.line : event.deltaMode === WheelEvent.DOM_DELTA_PAGE ? this.seen : 1;
    this.moveTo(this.top + event.deltaY * unit);
  }

  /** @param {KeyboardEvent} event */
  _key(event) {
    /** @type {Record<string, number>} */
    const targets = {
      ArrowUp: this.top - this.line,
      ArrowDown: this.top + this.line,
      PageUp: this.top - this.seen,
      PageDown: this.top + this.seen,
      Home: 0,
      End: this.last,
    };
    const target = targets[event.key];
    if (target === undefined || !this.isShortened) return;
    event.preventDefault();
    this.moveTo(target);
  }
}
