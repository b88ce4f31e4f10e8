// Mouse, touch and keys that move the camera.

const KEY_STEP = 80; // CSS pixels
const KEY_ZOOM = 1.4;
const MAX_REST_TIME = 60; // milliseconds; a finger that rests longer before it is lifted pans without inertia

/**
 * @param {import("./camera.js").Camera} camera
 * @param {KeyboardEvent} event
 * @returns {boolean} whether the key belongs to the camera
 */
export function handleCameraKey(camera, event) {
  const [x, y] = camera.visibleCenter;
  /** @type {Record<string, () => void>} */
  const actions = {
    ArrowLeft: () => camera.pan(KEY_STEP, 0),
    ArrowRight: () => camera.pan(-KEY_STEP, 0),
    ArrowUp: () => camera.pan(0, KEY_STEP),
    ArrowDown: () => camera.pan(0, -KEY_STEP),
    "+": () => camera.zoomAt(KEY_ZOOM, x, y),
    "=": () => camera.zoomAt(KEY_ZOOM, x, y),
    "-": () => camera.zoomAt(1 / KEY_ZOOM, x, y),
    0: () => camera.resetView(),
  };
  const action = actions[event.key];
  action?.();
  return action !== undefined;
}

/**
 * Bind the pointer: one pointer pans, two pointers pinch, the wheel zooms at the pointer.
 * @param {HTMLElement} surface
 * @param {import("./camera.js").Camera} camera
 * @param {(event: PointerEvent) => boolean} startsSelection whether the pointer selects instead
 */
export function bindCamera(surface, camera, startsSelection) {
  surface.addEventListener("wheel", (event) => {
    event.preventDefault();
    const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    camera.zoomAt(Math.exp(-event.deltaY * pixels * (event.ctrlKey ? 0.01 : 0.0018)), event.offsetX, event.offsetY);
  }, { passive: false });
  surface.addEventListener("dblclick", (event) => camera.zoomAt(2.5, event.offsetX, event.offsetY));
  bindDragging(surface, camera, startsSelection);
}

/**
 * @param {HTMLElement} surface
 * @param {import("./camera.js").Camera} camera
 * @param {(event: PointerEvent) => boolean} startsSelection
 */
function bindDragging(surface, camera, startsSelection) {
  /** @type {Map<number, {x: number, y: number, time: number}>} */
  const pointers = new Map();
  let velocity = [0, 0];
  surface.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || startsSelection(event)) return;
    surface.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY, time: event.timeStamp });
    velocity = [0, 0];
  });
  surface.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (before === undefined) return;
    const now = { x: event.offsetX, y: event.offsetY, time: event.timeStamp };
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other === undefined) {
      const passed = Math.max(1, now.time - before.time);
      velocity = [(now.x - before.x) / passed, (now.y - before.y) / passed];
      camera.pan(now.x - before.x, now.y - before.y);
    } else {
      const spread = (/** @type {{x: number, y: number}} */ one) => Math.max(1, Math.hypot(one.x - other.x, one.y - other.y));
      camera.zoomAt(spread(now) / spread(before), (now.x + other.x) / 2, (now.y + other.y) / 2);
      camera.pan((now.x - before.x) / 2, (now.y - before.y) / 2);
    }
    pointers.set(event.pointerId, now);
  });
  const release = (/** @type {PointerEvent} */ event) => {
    const last = pointers.get(event.pointerId);
    if (!pointers.delete(event.pointerId)) return;
    const hasRested = last !== undefined && event.timeStamp - last.time > MAX_REST_TIME;
    if (pointers.size === 0 && event.pointerType === "touch" && !hasRested) camera.panWithInertia(velocity);
  };
  surface.addEventListener("pointerup", release);
  surface.addEventListener("pointercancel", release);
}
