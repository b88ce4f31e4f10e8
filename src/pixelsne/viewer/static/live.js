// The connection to a run: its frames and its state, and what a page may ask of it.

const LONGEST_WAIT = 5_000; // milliseconds between attempts

/**
 * @typedef {{state: "running" | "paused" | "finished" | "stopped" | "failed", phase: string, fraction: number,
 *   iteration: number, max_iter: number, kl: number | null, seconds: number, seconds_left: number | null,
 *   stopped_by: string | null, error: string | null, moves: [number, number][]}} Status
 */

/**
 * Comes back when the server does.
 * @param {(status: Status) => void} told
 * @param {(places: Uint16Array) => void} moved
 * @param {(isThere: boolean, words: string) => void} connection
 */
export function follow(told, moved, connection) {
  let wait = 250;
  let isOver = false;

  function connect() {
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/live`);
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => {
      wait = 250;
      connection(true, "");
    });
    socket.addEventListener("message", ({ data }) => {
      if (data instanceof ArrayBuffer) {
        moved(new Uint16Array(data));
        return;
      }
      const status = /** @type {Status} */ (JSON.parse(data));
      isOver = status.state === "finished" || status.state === "stopped" || status.state === "failed";
      told(status);
    });
    socket.addEventListener("close", () => {
      if (!isOver) connection(false, "The connection to pixelsne is lost. The picture stays; trying again …");
      setTimeout(connect, wait);
      wait = Math.min(LONGEST_WAIT, 2 * wait);
    });
  }

  connect();
}

/** @param {"pause" | "resume" | "stop"} command */
export async function ask(command) {
  const answer = await fetch(`/run/${command}`, { method: "POST" });
  if (!answer.ok) throw new Error(await answer.text());
}

/** @type {Record<string, string>} */
const STAGES = {
  reduce: "reducing",
  neighbors: "searching neighbors",
  affinities: "weighing neighbors",
  early: "unfolding",
  late: "settling",
};

/** @param {Status} status */
export function stageOf(status) {
  return STAGES[status.phase] ?? status.phase;
}

/**
 * One line about a run.
 * @param {Status} status
 */
export function inWords(status) {
  const isOn = status.state === "running" || status.state === "paused";
  const of = isOn ? ` of ${status.max_iter.toLocaleString("en")}` : "";
  const figures = [
    `iteration ${status.iteration.toLocaleString("en")}${of}`,
    status.kl === null ? "" : `KL ${status.kl.toFixed(3)}`,
    status.moves.length > 0 ? `${status.moves[status.moves.length - 1][1].toFixed(1)} px a step` : "",
  ];
  const isDescent = status.phase === "early" || status.phase === "late";
  const begun = isDescent ? figures : [`${Math.round(100 * status.fraction)} %`];
  switch (status.state) {
    case "failed":
      return `The run failed: ${status.error}`;
    case "finished":
      return ["finished", ...figures, `${status.seconds} s`, ended(status)].filter(Boolean).join(" · ");
    case "stopped":
      return ["stopped, the map is kept", ...figures].filter(Boolean).join(" · ");
    default: {
      const left = status.seconds_left === null ? "" : `${duration(status.seconds_left)} left`;
      return [status.state === "paused" ? "paused" : stageOf(status), ...begun, left].filter(Boolean).join(" · ");
    }
  }
}

/** @param {Status} status */
function ended(status) {
  return status.stopped_by === "tol" ? "the picture stood still" : "";
}

/** @param {number} seconds */
function duration(seconds) {
  return seconds < 90 ? `${Math.max(1, Math.round(seconds))} s` : `${Math.round(seconds / 60)} min`;
}

/**
 * Pixels moved in a step, as a small curve.
 * @param {HTMLCanvasElement} canvas
 * @param {[number, number][]} moves
 * @param {string} color
 */
export function drawCurve(canvas, moves, color) {
  const context = canvas.getContext("2d");
  if (context === null) return;
  const { width, height } = canvas;
  context.clearRect(0, 0, width, height);
  if (moves.length < 2) return;
  const level = (/** @type {number} */ moved) => Math.log10(Math.max(moved, 0.01)) + 2;
  const most = Math.max(...moves.map(([, moved]) => level(moved)), 1);
  const last = moves[moves.length - 1][0];
  context.beginPath();
  for (const [iteration, moved] of moves) context.lineTo((iteration / last) * (width - 2) + 1, height - 3 - (level(moved) / most) * (height - 6));
  context.strokeStyle = color;
  context.lineWidth = 2;
  context.stroke();
}
