// The connection to a live run: it receives position updates and statuses and sends commands.

const FIRST_DELAY = 250; // milliseconds before the first attempt to reconnect
const MAX_DELAY = 5_000;

/**
 * @typedef {{state: "running" | "paused" | "finished" | "stopped" | "failed", phase: string, fraction: number,
 *   iteration: number, max_iter: number, kl: number | null, seconds: number, seconds_left: number | null,
 *   stopped_by: string | null, error: string | null, moves: [number, number][], has_regions: boolean}} Status
 *   moves: (iteration, pixels moved)
 * @typedef {{
 *   onStatus: (status: Status) => void,
 *   onPositions: (positions: Uint16Array) => void,
 *   onConnection: (isOpen: boolean, message: string) => void,
 * }} RunListener
 */

/** @param {Status} status */
export function isEnded({ state }) {
  return state === "finished" || state === "stopped" || state === "failed";
}

/**
 * Connect, and reconnect whenever the connection is lost.
 * @param {RunListener} listener
 */
export function connectToRun(listener) {
  let delay = FIRST_DELAY;
  let hasEnded = false;

  function connect() {
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/live`);
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => {
      delay = FIRST_DELAY;
      listener.onConnection(true, "");
    });
    socket.addEventListener("message", ({ data }) => {
      if (data instanceof ArrayBuffer) {
        listener.onPositions(new Uint16Array(data));
        return;
      }
      const status = /** @type {Status} */ (JSON.parse(data));
      hasEnded = isEnded(status);
      listener.onStatus(status);
    });
    socket.addEventListener("close", () => {
      if (!hasEnded) listener.onConnection(false, "The connection to pixelsne is lost. The map stays on the page; reconnecting …");
      setTimeout(connect, delay);
      delay = Math.min(MAX_DELAY, 2 * delay);
    });
  }

  connect();
}

/** @param {"pause" | "resume" | "stop"} command */
export async function sendCommand(command) {
  const response = await fetch(`/run/${command}`, { method: "POST" });
  if (!response.ok) throw new Error(await response.text());
}
