// All points by the graphics processor.

import { sizeOnScreen } from "./scene.js";

const VERTEX = `#version 300 es
layout(location = 0) in vec2 from;
layout(location = 1) in vec2 to;
layout(location = 2) in vec4 color;
uniform vec2 scale;
uniform vec2 shift;
uniform float glided;
uniform float size;
uniform float opacity;
out vec4 shown;
void main() {
  vec2 place = mix(from, to, glided) * scale + shift;
  gl_Position = color.a == 0.0 ? vec4(2.0, 2.0, 2.0, 1.0) : vec4(place, 0.0, 1.0);
  gl_PointSize = size;
  shown = vec4(color.rgb, color.a * opacity);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
in vec4 shown;
uniform float size;
out vec4 painted;
void main() {
  float outside = length(gl_PointCoord - 0.5) * size - 0.5 * size + 1.0;
  float alpha = shown.a * (size < 2.5 ? 1.0 : clamp(1.0 - outside, 0.0, 1.0));
  painted = vec4(shown.rgb * alpha, alpha);
}`;

/**
 * @param {WebGL2RenderingContext} gl
 * @param {number} kind
 * @param {string} text
 */
function compiled(gl, kind, text) {
  const shader = gl.createShader(kind);
  if (shader === null) throw new Error("no shader");
  gl.shaderSource(shader, text);
  gl.compileShader(shader);
  if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader) ?? "no shader");
  return shader;
}

/** @param {WebGL2RenderingContext} gl */
function linkedProgram(gl) {
  const program = gl.createProgram();
  gl.attachShader(program, compiled(gl, gl.VERTEX_SHADER, VERTEX));
  gl.attachShader(program, compiled(gl, gl.FRAGMENT_SHADER, FRAGMENT));
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program) ?? "no program");
  return program;
}

/**
 * Sends what has changed since the last time.
 * @param {WebGL2RenderingContext} gl
 * @returns {(scene: import("./scene.js").Scene) => void}
 */
function uploader(gl) {
  const buffers = { from: gl.createBuffer(), to: gl.createBuffer(), color: gl.createBuffer(), order: gl.createBuffer() };
  const sent = { places: -1, colors: -1, order: 0 };
  const upload = (
    /** @type {WebGLBuffer} */ buffer, /** @type {number} */ location, /** @type {Uint16Array | Uint8Array} */ content,
    /** @type {number} */ width, /** @type {number} */ kind,
  ) => {
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, content, gl.DYNAMIC_DRAW);
    gl.enableVertexAttribArray(location);
    gl.vertexAttribPointer(location, width, kind, true, 0, 0);
  };
  return (scene) => {
    if (sent.places !== scene.placesVersion) {
      upload(buffers.from, 0, scene.from, 2, gl.UNSIGNED_SHORT);
      upload(buffers.to, 1, scene.to, 2, gl.UNSIGNED_SHORT);
      sent.places = scene.placesVersion;
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
 * @param {boolean} isForced also where WebGL is software, which takes longer than writing pixels ourselves
 * @returns {import("./scene.js").Drawer | null} null where there is no WebGL2
 */
export function webglDrawer(canvas, isForced) {
  const gl = canvas.getContext("webgl2", {
    antialias: false,
    preserveDrawingBuffer: true,
    failIfMajorPerformanceCaveat: !isForced,
  });
  if (gl === null) return null;
  const program = linkedProgram(gl);
  const place = (/** @type {string} */ name) => gl.getUniformLocation(program, name);
  const uniforms = { scale: place("scale"), shift: place("shift"), glided: place("glided"), size: place("size"), opacity: place("opacity") };
  const uploadChanged = uploader(gl);

  return {
    name: "webgl",
    canvas,
    draw(scene, camera, glided, first, end) {
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clearColor(0, 0, 0, 0);
      if (first === 0) gl.clear(gl.COLOR_BUFFER_BIT);
      gl.useProgram(program);
      gl.enable(gl.BLEND);
      gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
      uploadChanged(scene);
      const [across, down] = scene.resolution;
      const [x, y] = camera.toScreen(0, 0);
      gl.uniform2f(uniforms.scale, (2 * across * camera.scale) / camera.width, (-2 * down * camera.scale) / camera.height);
      gl.uniform2f(uniforms.shift, (2 * x) / camera.width - 1, 1 - (2 * y) / camera.height);
      gl.uniform1f(uniforms.glided, glided);
      gl.uniform1f(uniforms.size, sizeOnScreen(scene, camera) * (canvas.width / camera.width));
      gl.uniform1f(uniforms.opacity, scene.opacity);
      gl.drawElements(gl.POINTS, end - first, gl.UNSIGNED_INT, 4 * first);
    },
  };
}
