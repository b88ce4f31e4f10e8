// Contour lines of a field on a grid, by marching squares.

const CORNERS = [[0, 0], [1, 0], [1, 1], [0, 1]]; // of a cell, clockwise

/**
 * Add the lines along which a field has a value to a path.
 * @param {Path2D} path CSS pixels
 * @param {Float32Array} field
 * @param {import("./density_grid.js").Grid} grid
 * @param {number} value
 */
export function addContour(path, field, grid, value) {
  const { columns, rows } = grid;
  for (let row = 0; row + 1 < rows; row++) {
    for (let column = 0; column + 1 < columns; column++) {
      const at = row * columns + column;
      const isAbove = field[at] >= value;
      if (isAbove === field[at + 1] >= value && isAbove === field[at + columns + 1] >= value && isAbove === field[at + columns] >= value) continue;
      addSegments(path, grid, column, row, [field[at], field[at + 1], field[at + columns + 1], field[at + columns]], value);
    }
  }
}


/**
 * @param {Path2D} path
 * @param {import("./density_grid.js").Grid} grid
 * @param {number} column
 * @param {number} row
 * @param {number[]} corners values
 * @param {number} value
 */
function addSegments(path, { left, top, cell }, column, row, corners, value) {
  const crossings = [0, 1, 2, 3].filter((side) => corners[side] >= value !== corners[(side + 1) % 4] >= value);
  crossings.forEach((side, index) => {
    const next = (side + 1) % 4;
    const fraction = (value - corners[side]) / (corners[next] - corners[side]);
    const x = column + CORNERS[side][0] + fraction * (CORNERS[next][0] - CORNERS[side][0]);
    const y = row + CORNERS[side][1] + fraction * (CORNERS[next][1] - CORNERS[side][1]);
    const screen = /** @type {[number, number]} */ ([left + (x + 0.5) * cell, top + (y + 0.5) * cell]);
    if (index % 2 === 0) path.moveTo(...screen);
    else path.lineTo(...screen);
  });
}
