// The status of a live run as text and as a curve.

/** @typedef {import("./run_connection.js").Status} RunStatus */

/** @type {Record<string, string>} */
const STAGES = {
  reduce: "reducing",
  neighbors: "searching neighbors",
  affinities: "computing affinities",
  early: "unfolding",
  late: "settling",
};

/** @param {RunStatus} status */
export function stageName(status) {
  return STAGES[status.phase] ?? status.phase;
}

/**
 * One line about a run.
 * @param {RunStatus} status
 */
export function statusText(status) {
  const isActive = status.state === "running" || status.state === "paused";
  const total = isActive ? ` of ${status.max_iter.toLocaleString("en")}` : "";
  const figures = [
    `iteration ${status.iteration.toLocaleString("en")}${total}`,
    status.kl === null ? "" : `KL ${status.kl.toFixed(3)}`,
    status.moves.length > 0 ? `${status.moves[status.moves.length - 1][1].toFixed(1)} px per iteration` : "",
  ];
  const isDescent = status.phase === "early" || status.phase === "late";
  const progress = isDescent ? figures : [`${Math.round(100 * status.fraction)} %`];
  switch (status.state) {
    case "failed":
      return `The run failed: ${status.error}`;
    case "finished":
      return ["finished", ...figures, `${status.seconds} s`, reasonForEnd(status)].filter(Boolean).join(" · ");
    case "stopped":
      return ["stopped, the map is kept", ...figures].filter(Boolean).join(" · ");
    default: {
      const left = status.seconds_left === null ? "" : `${formatDuration(status.seconds_left)} left`;
      return [status.state === "paused" ? "paused" : stageName(status), ...progress, left].filter(Boolean).join(" · ");
    }
  }
}

/** @param {RunStatus} status */
function reasonForEnd(status) {
  return status.stopped_by === "tol" ? "converged" : "";
}

/** @param {number} seconds */
function formatDuration(seconds) {
  return seconds < 90 ? `${Math.max(1, Math.round(seconds))} s` : `${Math.round(seconds / 60)} min`;
}

/**
 * Draw the pixels moved per iteration as a small curve, on a logarithmic scale.
 * @param {HTMLCanvasElement} canvas
 * @param {[number, number][]} moves
 * @param {string} color
 */
export function drawMovement(canvas, moves, color) {
  const context = canvas.getContext("2d");
  if (context === null) return;
  const { width, height } = canvas;
  context.clearRect(0, 0, width, height);
  if (moves.length < 2) return;
  const level = (/** @type {number} */ moved) => Math.log10(Math.max(moved, 0.01)) + 2;
  const maxLevel = Math.max(...moves.map(([, moved]) => level(moved)), 1);
  const last = moves[moves.length - 1][0];
  context.beginPath();
  for (const [iteration, moved] of moves) context.lineTo((iteration / last) * (width - 2) + 1, height - 3 - (level(moved) / maxLevel) * (height - 6));
  context.strokeStyle = color;
  context.lineWidth = 2;
  context.stroke();
}
