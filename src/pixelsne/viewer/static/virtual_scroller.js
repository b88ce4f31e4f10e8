// A scroller for lists that are taller than browsers let an element be. Beyond that height the scroll bar moves
// proportionally, while wheel and keys still move by pixels.

const MAX_HEIGHT = 8_000_000; // CSS pixels; browsers limit the height of an element, Firefox to 17 million, others to 33 million

export class VirtualScroller {
  /**
   * @param {HTMLElement} root the element that scrolls
   * @param {HTMLElement} body the element inside it, as tall as the list but at most MAX_HEIGHT
   * @param {number} lineHeight CSS pixels
   * @param {() => void} onScroll
   */
  constructor(root, body, lineHeight, onScroll) {
    this.root = root;
    this.body = body;
    this.lineHeight = lineHeight;
    this.onScroll = onScroll;
    this.count = 0;
    this.top = 0; // CSS pixels of the whole list above the viewport
    this._lastScrollTop = 0;
    root.addEventListener("scroll", () => this._followScrollBar());
    root.addEventListener("wheel", (event) => this._wheel(event), { passive: false });
    root.addEventListener("keydown", (event) => this._key(event));
  }

  /** @param {number} count lines */
  setCount(count) {
    this.count = count;
    this.body.style.height = `${Math.min(count * this.lineHeight, MAX_HEIGHT)}px`;
    this.scrollTo(0);
  }

  /** Whether the list is taller than the body. */
  get isScaled() {
    return this.count * this.lineHeight > MAX_HEIGHT;
  }

  /** CSS pixels of lines that are visible at once. */
  get viewportHeight() {
    return this.root.clientHeight - this.body.offsetTop;
  }

  /** The largest value of `top`. */
  get maxTop() {
    return Math.max(0, this.count * this.lineHeight - this.viewportHeight);
  }

  get _maxScrollTop() {
    return Math.max(1, this.root.scrollHeight - this.root.clientHeight);
  }

  /** @param {number} top */
  scrollTo(top) {
    this.top = Math.min(Math.max(0, top), this.maxTop);
    this.root.scrollTop = this.isScaled ? (this.top / this.maxTop) * this._maxScrollTop : this.top;
    this._lastScrollTop = this.root.scrollTop;
    this.onScroll();
  }

  /**
   * The position of a line within the body.
   * @param {number} index
   * @returns {number} CSS pixels
   */
  positionOf(index) {
    return this.isScaled ? index * this.lineHeight - this.top + this.root.scrollTop : index * this.lineHeight;
  }

  /** A small change, by touch, moves by pixels; a large one, by the scroll bar, moves proportionally. */
  _followScrollBar() {
    const { scrollTop } = this.root;
    const moved = scrollTop - this._lastScrollTop;
    if (Math.abs(moved) < 1 && this.isScaled) return; // set by scrollTo
    this._lastScrollTop = scrollTop;
    const isStep = this.isScaled && Math.abs(moved) < this.viewportHeight && scrollTop > 0 && scrollTop < this._maxScrollTop - 1;
    const top = isStep ? this.top + moved : this.isScaled ? (scrollTop / this._maxScrollTop) * this.maxTop : scrollTop;
    this.top = Math.min(Math.max(0, top), this.maxTop);
    this.onScroll();
  }

  /** @param {WheelEvent} event */
  _wheel(event) {
    if (!this.isScaled || event.deltaY === 0 || event.ctrlKey) return;
    event.preventDefault();
    const { DOM_DELTA_LINE, DOM_DELTA_PAGE } = WheelEvent;
    const unit = event.deltaMode === DOM_DELTA_LINE ? this.lineHeight : event.deltaMode === DOM_DELTA_PAGE ? this.viewportHeight : 1;
    this.scrollTo(this.top + event.deltaY * unit);
  }

  /** @param {KeyboardEvent} event */
  _key(event) {
    /** @type {Record<string, number>} */
    const targets = {
      ArrowUp: this.top - this.lineHeight,
      ArrowDown: this.top + this.lineHeight,
      PageUp: this.top - this.viewportHeight,
      PageDown: this.top + this.viewportHeight,
      Home: 0,
      End: this.maxTop,
    };
    const target = targets[event.key];
    if (target === undefined || !this.isScaled) return;
    event.preventDefault();
    this.scrollTo(target);
  }
}
