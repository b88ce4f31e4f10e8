// The renderer with WebGL: one draw call of indexed points.

const SOFT_EDGE = 2; // device pixels by which the square of a point is larger than the point, for its soft edge

const VERTEX_SOURCE = `#version 300 es
layout(location = 0) in vec2 from;
layout(location = 1) in vec2 to;
layout(location = 2) in vec4 color;
uniform vec2 scale;
uniform vec2 shift;
uniform float progress;
uniform float size;
uniform float margin;
uniform float opacity;
out vec4 pointColor;
void main() {
  vec2 position = mix(from, to, progress) * scale + shift;
  gl_Position = color.a == 0.0 ? vec4(2.0, 2.0, 2.0, 1.0) : vec4(position, 0.0, 1.0);
  gl_PointSize = size + margin;
  pointColor = vec4(color.rgb, color.a * opacity);
}`;

const FRAGMENT_SOURCE = `#version 300 es
precision highp float;
in vec4 pointColor;
uniform float size;
uniform float margin;
out vec4 fragment;
void main() {
  float distance = length(gl_PointCoord - 0.5) * (size + margin);
  float alpha = pointColor.a * clamp(0.5 * size + 0.5 - distance, 0.0, 1.0);
  fragment = vec4(pointColor.rgb * alpha, alpha);
}`;

/**
 * @param {WebGL2RenderingContext} gl
 * @param {number} type
 * @param {string} source
 */
function compileShader(gl, type, source) {
  const shader = gl.createShader(type);
  if (shader === null) throw new Error("the shader cannot be compiled");
  gl.shaderSource(shader, source);
  gl.compileShader(shader);
  if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader) ?? "the shader cannot be compiled");
  return shader;
}

/** @param {WebGL2RenderingContext} gl */
function linkProgram(gl) {
  const program = gl.createProgram();
  gl.attachShader(program, compileShader(gl, gl.VERTEX_SHADER, VERTEX_SOURCE));
  gl.attachShader(program, compileShader(gl, gl.FRAGMENT_SHADER, FRAGMENT_SOURCE));
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program) ?? "the shaders cannot be linked");
  return program;
}

/**
 * Return a function that uploads what has changed since its last call.
 * @param {WebGL2RenderingContext} gl
 * @returns {(scene: import("./scene.js").Scene) => void}
 */
function createUploader(gl) {
  const buffers = { from: gl.createBuffer(), to: gl.createBuffer(), color: gl.createBuffer(), order: gl.createBuffer() };
  const sent = { positions: -1, colors: -1, order: 0 };
  const upload = (
    /** @type {WebGLBuffer} */ buffer, /** @type {number} */ location, /** @type {Uint16Array | Uint8Array} */ content,
    /** @type {number} */ size, /** @type {number} */ type,
  ) => {
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, content, gl.DYNAMIC_DRAW);
    gl.enableVertexAttribArray(location);
    gl.vertexAttribPointer(location, size, type, true, 0, 0);
  };
  return (scene) => {
    if (sent.positions !== scene.positionsVersion) {
      upload(buffers.from, 0, scene.previousPositions, 2, gl.UNSIGNED_SHORT);
      upload(buffers.to, 1, scene.positions, 2, gl.UNSIGNED_SHORT);
      sent.positions = scene.positionsVersion;
    }
    if (sent.colors !== scene.colorsVersion) {
      upload(buffers.color, 2, scene.colors, 4, gl.UNSIGNED_BYTE);
      sent.colors = scene.colorsVersion;
    }
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffers.order);
    if (sent.order !== scene.n) {
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, scene.order, gl.STATIC_DRAW);
      sent.order = scene.n;
    }
  };
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {boolean} allowsSoftware accept WebGL that runs in software, which is slower than the canvas renderer
 * @returns {import("./renderer.js").Renderer | null} null without WebGL2, or if it would run in software and allowsSoftware
 *   is false
 */
export function createWebglRenderer(canvas, allowsSoftware) {
  const gl = canvas.getContext("webgl2", {
    antialias: false,
    preserveDrawingBuffer: true,
    failIfMajorPerformanceCaveat: !allowsSoftware,
  });
  if (gl === null) return null;
  const program = linkProgram(gl);
  const locate = (/** @type {string} */ name) => gl.getUniformLocation(program, name);
  const uniforms = {
    scale: locate("scale"), shift: locate("shift"), progress: locate("progress"), size: locate("size"), margin: locate("margin"),
    opacity: locate("opacity"),
  };
  const uploadChanged = createUploader(gl);

  return {
    name: "webgl",
    canvas,
    draw(scene, camera, progress, first, end) {
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clearColor(0, 0, 0, 0);
      if (first === 0) gl.clear(gl.COLOR_BUFFER_BIT);
      gl.useProgram(program);
      gl.enable(gl.BLEND);
      gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
      uploadChanged(scene);
      const [mapWidth, mapHeight] = scene.resolution;
      const [x, y] = camera.toScreen(0, 0);
      gl.uniform2f(uniforms.scale, (2 * mapWidth * camera.scale) / camera.width, (-2 * mapHeight * camera.scale) / camera.height);
      gl.uniform2f(uniforms.shift, (2 * x) / camera.width - 1, 1 - (2 * y) / camera.height);
      gl.uniform1f(uniforms.progress, progress);
      gl.uniform1f(uniforms.size, scene.style.diameter * (canvas.width / camera.width));
      gl.uniform1f(uniforms.margin, SOFT_EDGE);
      gl.uniform1f(uniforms.opacity, scene.style.opacity);
      gl.drawElements(gl.POINTS, end - first, gl.UNSIGNED_INT, 4 * first);
    },
  };
}
