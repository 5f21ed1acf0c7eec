/* A small WebGL 2 stage: shaded solids, flat shadows, crisp lines, a ground grid, an orbiting camera. */
(() => {
"use strict";
const P = (window.Polhode = window.Polhode || {});

/* ---- vectors, quaternions (w, x, y, z) and column-major matrices ---- */
const add = (a, b, s = 1) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const norm = (a) => Math.hypot(a[0], a[1], a[2]);
const unit = (a) => { const n = norm(a) || 1; return [a[0] / n, a[1] / n, a[2] / n]; };
const qmul = (a, b) => [
  a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
  a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
  a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
  a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]];
const qexp = (r) => { // of a rotation vector
  const angle = norm(r), s = angle > 1e-9 ? Math.sin(angle / 2) / angle : 0.5;
  return [Math.cos(angle / 2), r[0] * s, r[1] * s, r[2] * s];
};
const qlog = (q) => { // the shorter rotation vector
  const sign = q[0] < 0 ? -1 : 1, s = Math.hypot(q[1], q[2], q[3]);
  const f = s > 1e-9 ? (2 * Math.atan2(s, Math.abs(q[0]))) / s : 2;
  return [sign * f * q[1], sign * f * q[2], sign * f * q[3]];
};
const rotate = (q, v) => {
  const u = [q[1], q[2], q[3]], t = cross(u, v).map((x) => 2 * x);
  return add(add(v, t, q[0]), cross(u, t));
};
const pose = (p, q) => {
  const x = rotate(q, [1, 0, 0]), y = rotate(q, [0, 1, 0]), z = rotate(q, [0, 0, 1]);
  return [...x, 0, ...y, 0, ...z, 0, ...p, 1];
};
const mul = (a, b) => {
  const out = new Array(16);
  for (let c = 0; c < 4; c++) for (let r = 0; r < 4; r++) {
    let s = 0;
    for (let k = 0; k < 4; k++) s += a[4 * k + r] * b[4 * c + k];
    out[4 * c + r] = s;
  }
  return out;
};
/* the rotation that takes z to a direction */
const fromZ = (direction) => {
  const d = unit(direction);
  if (d[2] < -0.999999) return [0, 1, 0, 0];
  const q = [1 + d[2], -d[1], d[0], 0], n = Math.hypot(...q);
  return q.map((x) => x / n);
};
Object.assign(P, { add, dot, cross, norm, unit, qmul, qexp, qlog, rotate, pose, mul, fromZ });

/* ---- meshes: positions and normals, interleaved; triangles ---- */
function grid(rows, columns, at) {
  const data = [], index = [];
  for (let i = 0; i <= rows; i++) for (let j = 0; j <= columns; j++) data.push(...at(i / rows, j / columns));
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) {
    const a = i * (columns + 1) + j, b = a + columns + 1;
    index.push(a, b, a + 1, a + 1, b, b + 1);
  }
  return { data, index };
}
/* a profile of (r, z, n_r, n_z) turned about z */
function lathe(profile, columns = 40) {
  return grid(profile.length - 1, columns, (i, j) => {
    const [r, z, nr, nz] = profile[Math.round(i * (profile.length - 1))];
    const c = Math.cos(2 * Math.PI * j), s = Math.sin(2 * Math.PI * j);
    return [r * c, r * s, z, nr * c, nr * s, nz];
  });
}
function arc(r0, z0, radius, from, to, steps) {
  const out = [];
  for (let k = 0; k <= steps; k++) {
    const a = from + ((to - from) * k) / steps;
    out.push([r0 + radius * Math.cos(a), z0 + radius * Math.sin(a), Math.cos(a), Math.sin(a)]);
  }
  return out;
}
const HALF = Math.PI / 2;
P.shapes = {
  cylinder({ r, h }) { // with a rounded rim
    const b = Math.min(0.18 * r, 0.3 * h), z = h / 2 - b;
    return lathe([[0, -h / 2, 0, -1], ...arc(r - b, -z, b, -HALF, 0, 5), ...arc(r - b, z, b, 0, HALF, 5), [0, h / 2, 0, 1]], 56);
  },
  capsule({ r, h }) { // h between the centres of its ends
    return lathe([...arc(0, -h / 2, r, -HALF, 0, 8), ...arc(0, h / 2, r, 0, HALF, 8)], 24);
  },
  ellipsoid({ size }) { // semi-axes
    const [a, b, c] = size;
    return grid(64, 96, (i, j) => {
      const t = Math.PI * (i - 0.5), p = 2 * Math.PI * j, n = [Math.cos(t) * Math.cos(p), Math.cos(t) * Math.sin(p), Math.sin(t)];
      return [a * n[0], b * n[1], c * n[2], ...unit([n[0] / a, n[1] / b, n[2] / c])];
    });
  },
  cone({ r, h }) { // its tip at z = h
    const n = Math.hypot(r, h);
    return lathe([[0, 0, 0, -1], [r, 0, 0, -1], [r, 0, h / n, r / n], [0, h, h / n, r / n]], 24);
  },
  box({ size }) { // with rounded edges
    const half = size.map((x) => x / 2), r = 0.16 * Math.min(...half) + 0.02 * Math.max(...half);
    const radius = Math.min(r, 0.95 * Math.min(...half)), core = half.map((x) => x - radius), data = [], index = [];
    const steps = [-1, -0.9, -0.72, -0.45, 0.45, 0.72, 0.9, 1], n = steps.length - 1;
    for (let axis = 0; axis < 3; axis++) for (const side of [-1, 1]) {
      const first = data.length / 6, u = (axis + 1) % 3, v = (axis + 2) % 3;
      for (let i = 0; i <= n; i++) for (let j = 0; j <= n; j++) {
        const bend = (k) => (Math.abs(k) <= 0.45 ? 0 : Math.sign(k) * Math.tan(((Math.abs(k) - 0.45) / 0.55) * (Math.PI / 4)));
        const d = [0, 0, 0];
        d[axis] = side; d[u] = bend(steps[i]); d[v] = bend(steps[j]);
        const normal = unit(d), p = [0, 0, 0];
        p[axis] = side * core[axis] + radius * normal[axis];
        p[u] = Math.sign(steps[i]) * core[u] + radius * normal[u];
        p[v] = Math.sign(steps[j]) * core[v] + radius * normal[v];
        data.push(...p, ...normal);
      }
      for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) {
        const a = first + i * (n + 1) + j, b = a + n + 1;
        index.push(...(side > 0 ? [a, b, a + 1, a + 1, b, b + 1] : [a, a + 1, b, b, a + 1, b + 1]));
      }
    }
    return { data, index };
  },
};

/* ---- shaders ---- */
const HEAD = "#version 300 es\nprecision highp float;\n";
const SOLID_V = `${HEAD}
in vec3 p; in vec3 n; uniform mat4 view, proj, model; out vec3 N, V, L;
void main() {
  vec4 x = view * model * vec4(p, 1.0);
  L = p; V = -x.xyz; N = mat3(view) * mat3(model) * n;
  gl_Position = proj * x;
}`;
const SOLID_F = `${HEAD}
in vec3 N, V, L; out vec4 o; uniform vec3 colour, key, up; uniform float pattern, tone, alpha, gloss;
void main() {
  vec3 n = normalize(N), v = normalize(V);
  if (dot(n, v) < 0.0) n = -n;
  vec3 c = pow(colour, vec3(2.2));
  if (pattern > 0.0) {
    float w = L.x * L.y * (pattern > 1.5 ? L.z : 1.0), e = fwidth(w) + 1e-12;
    c *= mix(1.0, tone, smoothstep(-e, e, w));
  }
  float hemi = 0.5 + 0.5 * dot(n, up), lit = max(dot(n, key), 0.0), face = max(dot(n, v), 0.0);
  vec3 light = mix(vec3(0.20, 0.20, 0.23), vec3(0.52, 0.55, 0.60), hemi) + 0.56 * lit + 0.12 * face;
  float spec = pow(max(dot(n, normalize(key + v)), 0.0), 48.0), rim = pow(1.0 - face, 4.0);
  c = c * light + gloss * (0.22 * spec + 0.08 * rim);
  o = vec4(pow(min(c, vec3(1.0)), vec3(1.0 / 2.2)) * alpha, alpha);
}`;
const PAINTED_V = SOLID_V.replace("in vec3 n;", "in vec3 n; in vec3 c; out vec3 C;").replace("L = p;", "L = p; C = c;"); // a colour at each corner
const PAINTED_F = SOLID_F.replace("in vec3 N, V, L;", "in vec3 N, V, L, C;").replace("uniform vec3 colour, key", "uniform vec3 key").replace("pow(colour,", "pow(C,");
const FLAT_V = `${HEAD} in vec3 p; uniform mat4 all; void main() { gl_Position = all * vec4(p, 1.0); }`;
const FLAT_F = `${HEAD} uniform vec4 colour; out vec4 o; void main() { o = vec4(colour.rgb * colour.a, colour.a); }`;
const LINE_V = `${HEAD}
in vec4 a, b; uniform mat4 all; uniform vec2 size; uniform float width, lift; out vec2 at; out float len, s;
void main() {
  vec4 A = all * vec4(a.xyz, 1.0), B = all * vec4(b.xyz, 1.0);
  float near = 1e-4;
  if (A.w < near && B.w < near) { gl_Position = vec4(2.0, 2.0, 2.0, 1.0); return; }
  if (A.w < near) A = mix(A, B, (near - A.w) / (B.w - A.w));
  if (B.w < near) B = mix(B, A, (near - B.w) / (A.w - B.w));
  vec2 pa = A.xy / A.w * size * 0.5, pb = B.xy / B.w * size * 0.5, d = pb - pa;
  len = length(d);
  vec2 e = len > 1e-6 ? d / len : vec2(1.0, 0.0), m = vec2(-e.y, e.x);
  float r = width * 0.5 + 1.0, u = float(gl_VertexID & 1), w = float(gl_VertexID >> 1) * 2.0 - 1.0;
  at = vec2(mix(-r, len + r, u), w * r);
  vec2 px = pa + e * at.x + m * at.y;
  vec4 C = u < 0.5 ? A : B;
  s = mix(a.w, b.w, u);
  gl_Position = vec4(px / (size * 0.5) * C.w, C.z - lift * C.w, C.w);
}`;
const LINE_F = `${HEAD}
in vec2 at; in float len, s; out vec4 o; uniform vec4 colour; uniform float width; uniform vec2 span;
void main() {
  if (s < span.x || s > span.y) discard;
  float d = length(vec2(at.x - clamp(at.x, 0.0, len), at.y)), k = clamp(width * 0.5 + 0.5 - d, 0.0, 1.0) * colour.a;
  if (k < 0.02) discard;
  o = vec4(colour.rgb * k, k);
}`;
const GROUND_V = `${HEAD}
in vec3 p; uniform mat4 all; uniform vec3 origin, e1, e2; uniform float extent; out vec2 g;
void main() { g = p.xy * extent; gl_Position = all * vec4(origin + e1 * g.x + e2 * g.y, 1.0); }`;
const GROUND_F = `${HEAD}
in vec2 g; out vec4 o; uniform vec4 colour; uniform vec2 shift; uniform float cell, extent;
float lines(vec2 x, float w) {
  vec2 f = fwidth(x), d = abs(fract(x - 0.5) - 0.5) / max(f, vec2(1e-6));
  vec2 k = clamp(w + 0.5 - d, 0.0, 1.0) * (1.0 - smoothstep(0.25, 0.6, f));
  return max(k.x, k.y);
}
void main() {
  vec2 x = (g + shift) / cell;
  float k = max(0.45 * lines(x, 0.5), lines(x / 5.0, 0.6)), fade = 1.0 - smoothstep(0.25, 1.0, length(g) / extent);
  k *= fade * colour.a;
  o = vec4(colour.rgb * k, k);
}`;

/* ---- the stage ---- */
const TALL = Math.tan(0.25); // half the field of view
P.Stage = class {
  constructor(canvas, { up = [0, 0, 1], target = [0, 0, 0], radius = 1, look = [0.6, 0.7, 0.35] }) {
    const gl = canvas.getContext("webgl2", { antialias: true, stencil: true, alpha: true });
    if (!gl) throw new Error("WebGL 2 is not available");
    Object.assign(this, { canvas, gl, up: unit(up), target, radius, zoom: 1, pan: [0, 0], offset: [0, 0, 0], cloud: null, far: (radius * 1.06) / Math.sin(0.25) });
    const other = Math.abs(this.up[2]) > 0.8 ? [1, 0, 0] : [0, 0, 1];
    this.e2 = unit(cross(this.up, other));
    this.e1 = cross(this.e2, this.up);
    const seen = unit(look);
    this.yaw = Math.atan2(dot(seen, this.e2), dot(seen, this.e1)); this.pitch = Math.asin(dot(seen, this.up));
    this.home = { yaw: this.yaw, pitch: this.pitch, target };
    const program = (v, f) => {
      const made = gl.createProgram();
      for (const [kind, text] of [[gl.VERTEX_SHADER, v], [gl.FRAGMENT_SHADER, f]]) {
        const shader = gl.createShader(kind);
        gl.shaderSource(shader, text); gl.compileShader(shader);
        if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
        gl.attachShader(made, shader);
      }
      ["p", "n", "a", "b"].forEach((name, k) => gl.bindAttribLocation(made, k % 2, name));
      gl.bindAttribLocation(made, 2, "c");
      gl.linkProgram(made);
      const where = {};
      const count = gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS);
      for (let k = 0; k < count; k++) { const { name } = gl.getActiveUniform(made, k); where[name] = gl.getUniformLocation(made, name); }
      return { made, where };
    };
    this.programs = { solid: program(SOLID_V, SOLID_F), painted: program(PAINTED_V, PAINTED_F), flat: program(FLAT_V, FLAT_F), line: program(LINE_V, LINE_F), ground: program(GROUND_V, GROUND_F) };
    this.square = this.mesh({ data: [-1, -1, 0, 0, 0, 1, 1, -1, 0, 0, 0, 1, -1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1], index: [0, 1, 2, 2, 1, 3] });
    this.listeners = [];
    this._listen();
  }
  mesh({ data, index }) {
    const { gl } = this, vao = gl.createVertexArray();
    gl.bindVertexArray(vao);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(data), gl.STATIC_DRAW);
    gl.enableVertexAttribArray(0); gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 24, 0);
    gl.enableVertexAttribArray(1); gl.vertexAttribPointer(1, 3, gl.FLOAT, false, 24, 12);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, new Uint32Array(index), gl.STATIC_DRAW);
    gl.bindVertexArray(null);
    return { vao, count: index.length };
  }
  /* triangles whose corners change: positions, normals and colours, filled by fill() */
  surface(index) {
    const { gl } = this, vao = gl.createVertexArray(), buffer = gl.createBuffer();
    gl.bindVertexArray(vao);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    for (const k of [0, 1, 2]) { gl.enableVertexAttribArray(k); gl.vertexAttribPointer(k, 3, gl.FLOAT, false, 36, 12 * k); }
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, new Uint32Array(index), gl.STATIC_DRAW);
    gl.bindVertexArray(null);
    return { vao, buffer, count: index.length };
  }
  fill(surface, data) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, surface.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
  }
  painted(surface, model) {
    const { gl } = this;
    gl.enable(gl.DEPTH_TEST); gl.depthFunc(gl.LEQUAL);
    this.use("painted", { view: this.view, proj: this.proj, model, key: this.key, up: this.upView, pattern: 0, tone: 1, alpha: 1, gloss: 0.5 });
    this._draw(surface);
  }
  /* points: x, y, z, parameter; `dynamic` ones are filled again by set() */
  line(points) {
    const { gl } = this, vao = gl.createVertexArray(), buffer = gl.createBuffer();
    gl.bindVertexArray(vao);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    for (const k of [0, 1]) {
      gl.enableVertexAttribArray(k); gl.vertexAttribPointer(k, 4, gl.FLOAT, false, 16, 16 * k); gl.vertexAttribDivisor(k, 1);
    }
    gl.bindVertexArray(null);
    const made = { vao, buffer, count: 0 };
    if (points) this.set(made, points);
    return made;
  }
  set(line, points) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, line.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(points), gl.DYNAMIC_DRAW);
    line.count = points.length / 4 - 1;
  }
  use(name, uniforms) {
    const { gl } = this, { made, where } = this.programs[name];
    gl.useProgram(made);
    for (const key in uniforms) {
      const value = uniforms[key], at = where[key];
      if (at === undefined) continue;
      if (typeof value === "number") gl.uniform1f(at, value);
      else if (value.length === 16) gl.uniformMatrix4fv(at, false, value);
      else gl[`uniform${value.length}fv`](at, value);
    }
  }
  axes(yaw, pitch) {
    const cp = Math.cos(pitch), level = add(this.e1.map((x) => x * cp * Math.cos(yaw)), this.e2, cp * Math.sin(yaw));
    const back = add(level, this.up, Math.sin(pitch)), right = unit(cross(this.up, back));
    return { back, right, above: cross(back, right) };
  }
  /* stand where the whole cloud of (x, y, z, radius), about the target at home, just fills the picture seen from home */
  fit(aspect) {
    const { back, right, above } = this.axes(this.home.yaw, this.home.pitch);
    this.fitted = aspect; this.offset = [0, 0, 0];
    for (let round = 0; round < 4; round++) {
      let far = 0, sides = [1e30, -1e30, 1e30, -1e30];
      const placed = this.cloud.map((p) => { const x = add(add(p, this.home.target, -1), this.offset, -1); return [dot(x, right), dot(x, above), dot(x, back), p[3] || 0]; });
      for (const [x, y, z, r] of placed) far = Math.max(far, z + (Math.abs(x) + r) / (TALL * aspect), z + (Math.abs(y) + r) / TALL, z + 2 * r);
      for (const [x, y, z, r] of placed) {
        const d = Math.max(far - z, 1e-9);
        sides = [Math.min(sides[0], (x - r) / d), Math.max(sides[1], (x + r) / d), Math.min(sides[2], (y - r) / d), Math.max(sides[3], (y + r) / d)];
      }
      this.far = far * 1.09;
      if (round < 3) this.offset = add(add(this.offset, right, ((sides[0] + sides[1]) / 2) * far), above, ((sides[2] + sides[3]) / 2) * far);
    }
    this.radius = this.far * TALL;
  }
  begin(width, height, ratio) {
    const { gl, canvas } = this;
    const w = Math.max(2, Math.round(width * ratio)), h = Math.max(2, Math.round(height * ratio));
    if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
    this.size = [w, h]; this.css = [width, height]; this.ratio = ratio;
    const aspect = w / h, tall = TALL;
    if (this.cloud && Math.abs(aspect - (this.fitted || 0)) > 0.02) this.fit(aspect);
    this.distance = this.far * this.zoom;
    const { back, right, above } = this.axes(this.yaw, this.pitch);
    const centre = add(add(add(this.target, this.offset), right, this.pan[0]), above, this.pan[1]);
    const eye = add(centre, back, this.distance);
    this.eye = eye; this.right = right; this.above = above; this.back = back;
    this.view = [right[0], above[0], back[0], 0, right[1], above[1], back[1], 0, right[2], above[2], back[2], 0, -dot(right, eye), -dot(above, eye), -dot(back, eye), 1];
    const near = this.distance * 0.02, far = this.distance * 12, f = 1 / tall;
    this.proj = [f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, (2 * far * near) / (near - far), 0];
    this.all = mul(this.proj, this.view);
    const world = (v) => [dot(right, v), dot(above, v), dot(back, v)];
    this.upView = world(this.up);
    this.keyWorld = unit(add(add(add([0, 0, 0], this.up, 1.0), right, -0.45), back, 0.55));
    this.key = world(this.keyWorld);
    gl.viewport(0, 0, w, h);
    gl.clearColor(0, 0, 0, 0); gl.clearStencil(0);
    gl.depthMask(true);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    gl.enable(gl.BLEND); gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }
  ground(height, cell, colour) {
    const { gl } = this, centre = add(this.target, this.up, height - dot(this.target, this.up)), extent = 5.5 * this.radius;
    gl.disable(gl.DEPTH_TEST);
    this.use("ground", { all: this.all, origin: centre, e1: this.e1, e2: this.e2, extent, cell, colour, shift: [dot(centre, this.e1), dot(centre, this.e2)] });
    this._draw(this.square);
  }
  /* everything that `casters` draws, flattened onto the ground along the up direction */
  shadows(height, alpha, casters) {
    const { gl, up } = this, l = unit(add(up.map((x) => x * 1.6), add(this.e1.map((x) => x * 0.25), this.e2, 0.35), 1)), k = dot(l, up);
    if (dot(this.eye, up) < height) return;
    const flat = new Array(16).fill(0); // x − l (u·x − h)/(u·l)
    for (let c = 0; c < 3; c++) for (let r = 0; r < 3; r++) flat[4 * c + r] = (c === r ? 1 : 0) - (l[r] * up[c]) / k;
    for (let r = 0; r < 3; r++) flat[12 + r] = (l[r] * height) / k;
    flat[15] = 1;
    const all = mul(this.all, flat);
    gl.disable(gl.DEPTH_TEST);
    gl.enable(gl.STENCIL_TEST); gl.stencilFunc(gl.EQUAL, 0, 255); gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
    casters((mesh, model) => { this.use("flat", { all: mul(all, model), colour: [0, 0, 0, alpha] }); this._draw(mesh); });
    gl.disable(gl.STENCIL_TEST);
  }
  solid(mesh, model, colour, { pattern = 0, tone = 0.62, alpha = 1, gloss = 1, over = false } = {}) {
    const { gl } = this;
    if (over) gl.disable(gl.DEPTH_TEST); else { gl.enable(gl.DEPTH_TEST); gl.depthFunc(gl.LEQUAL); }
    this.use("solid", { view: this.view, proj: this.proj, model, colour, key: this.key, up: this.upView, pattern, tone, alpha, gloss });
    gl.depthMask(alpha === 1);
    this._draw(mesh);
    gl.depthMask(true);
  }
  stroke(line, colour, width, { span = [-1e30, 1e30], lift = 0, over = false } = {}) {
    const { gl } = this;
    if (line.count < 1) return;
    if (over) gl.disable(gl.DEPTH_TEST); else { gl.enable(gl.DEPTH_TEST); gl.depthFunc(gl.LEQUAL); }
    gl.depthMask(false); // a soft edge must not hide what comes after
    this.use("line", { all: this.all, size: this.size, width: width * this.ratio, colour, span, lift });
    gl.bindVertexArray(line.vao);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, line.count);
    gl.bindVertexArray(null);
    gl.depthMask(true);
  }
  _draw(mesh) {
    const { gl } = this;
    gl.bindVertexArray(mesh.vao);
    gl.drawElements(gl.TRIANGLES, mesh.count, gl.UNSIGNED_INT, 0);
    gl.bindVertexArray(null);
  }
  project(p) {
    const m = this.all, w = m[3] * p[0] + m[7] * p[1] + m[11] * p[2] + m[15];
    const x = m[0] * p[0] + m[4] * p[1] + m[8] * p[2] + m[12], y = m[1] * p[0] + m[5] * p[1] + m[9] * p[2] + m[13];
    return [(0.5 + x / w / 2) * this.css[0], (0.5 - y / w / 2) * this.css[1], w];
  }
  changed() { this.listeners.forEach((f) => f()); }
  reset() { this.yaw = this.home.yaw; this.pitch = this.home.pitch; this.zoom = 1; this.pan = [0, 0]; this.changed(); }
  turn(dx, dy) {
    this.yaw -= dx; this.pitch = Math.max(-1.5, Math.min(1.5, this.pitch + dy)); this.changed();
  }
  scale(factor) { this.zoom = Math.max(0.15, Math.min(6, this.zoom * factor)); this.changed(); }
  _listen() {
    const { canvas } = this, down = new Map();
    const spread = () => { const [a, b] = [...down.values()]; return Math.hypot(a.x - b.x, a.y - b.y); };
    canvas.addEventListener("pointerdown", (e) => {
      down.set(e.pointerId, { x: e.clientX, y: e.clientY });
      canvas.setPointerCapture(e.pointerId);
    });
    canvas.addEventListener("pointermove", (e) => {
      const last = down.get(e.pointerId);
      if (!last) return;
      const dx = e.clientX - last.x, dy = e.clientY - last.y, before = down.size === 2 ? spread() : 0;
      last.x = e.clientX; last.y = e.clientY;
      const size = canvas.clientHeight || 1;
      if (down.size === 2) { this.scale(before / Math.max(spread(), 1)); this.turn(0, (dy * 1.5) / size); }
      else if (e.shiftKey || e.buttons & 6) {
        const k = (this.distance * 0.51) / size;
        this.pan = [this.pan[0] - dx * k, this.pan[1] + dy * k]; this.changed();
      } else this.turn((dx * 3.2) / size, (dy * 3.2) / size);
    });
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (e) => down.delete(e.pointerId));
    canvas.addEventListener("contextmenu", (e) => e.preventDefault());
    canvas.addEventListener("wheel", (e) => { // the page keeps the wheel until the picture was clicked
      if (!(e.ctrlKey || document.activeElement === canvas)) return;
      e.preventDefault(); this.scale(Math.exp(e.deltaY * 0.0012));
    }, { passive: false });
    canvas.addEventListener("dblclick", () => this.reset());
    canvas.addEventListener("keydown", (e) => {
      const keys = { ArrowLeft: [-0.08, 0], ArrowRight: [0.08, 0], ArrowUp: [0, 0.08], ArrowDown: [0, -0.08] };
      if (keys[e.key]) this.turn(...keys[e.key]);
      else if (e.key === "+" || e.key === "=") this.scale(0.9);
      else if (e.key === "-") this.scale(1.1);
      else if (e.key === "0") this.reset();
      else return;
      e.preventDefault();
    });
  }
};
})();
