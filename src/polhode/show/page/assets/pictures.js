/* The pictures: the machine in motion, and the polhode on the inertia ellipsoid with its herpolhode. */
(() => {
"use strict";
const P = window.Polhode;
const { add, rotate, qmul, qexp, pose, mul, fromZ, norm, unit } = P;
const { data, $, arrays, INKS, paper, ink, rgb, mixed, shown, clock, before } = P;

/* ---- motion between the stored poses ---- */
function motion(scene) {
  const time = arrays[scene.time], r = arrays[scene.position], p = arrays[scene.attitude], turn = arrays[scene.turn], n = scene.bodies.length;
  const vec = (a, k) => [a[k], a[k + 1], a[k + 2]];
  const slope = (i, b) => { // of the path, by its neighbours
    const a = Math.max(0, i - 1), c = Math.min(time.length - 1, i + 1), h = time[c] - time[a] || 1;
    return add(vec(r, 3 * (c * n + b)), vec(r, 3 * (a * n + b)), -1).map((x) => x / h);
  };
  return {
    at(t) {
      const i = Math.min(before(time, t), Math.max(0, time.length - 2)), h = time[i + 1] - time[i] || 1;
      return { i, s: time.length < 2 ? 0 : Math.min(1, Math.max(0, (t - time[i]) / h)), h };
    },
    body(b, { i, s, h }) {
      const k = i * n + b, q0 = [p[4 * k], p[4 * k + 1], p[4 * k + 2], p[4 * k + 3]], x0 = vec(r, 3 * k);
      if (s === 0) return { x: x0, q: q0 };
      const q = qmul(q0, qexp(vec(turn, 3 * k).map((x) => x * s)));
      const x1 = vec(r, 3 * (k + n)), a = 2 * s ** 3 - 3 * s ** 2 + 1, m0 = slope(i, b), m1 = slope(i + 1, b); // Hermite's cubic
      const x = x0.map((_, j) => a * x0[j] + (1 - a) * x1[j] + h * ((s ** 3 - 2 * s ** 2 + s) * m0[j] + (s ** 3 - s ** 2) * m1[j]));
      return { x, q };
    },
    omega(index, { i, s }) {
      const w = arrays[index], a = vec(w, 3 * i);
      return s === 0 ? a : add(a, add(vec(w, 3 * (i + 1)), a, -1), s);
    },
  };
}

const pictures = []; // {stage, paint(t, colours), host, canvas}
function picture(host, settings, make) {
  const canvas = $("canvas", host);
  let stage;
  try { stage = new P.Stage(canvas, settings); } catch (error) {
    host.classList.add("without");
    $(".fallback", host).hidden = false;
    return null;
  }
  const item = { host, canvas, stage, ...make(stage) };
  let waiting = false;
  item.draw = () => {
    const box = canvas.getBoundingClientRect();
    if (!box.width || paper.on) return;
    if (item.aim) item.aim(clock.t);
    stage.begin(box.width, box.height, Math.min(3, devicePixelRatio || 1));
    item.paint(clock.t, ink(), true);
  };
  item.ask = () => { if (!waiting) { waiting = true; requestAnimationFrame(() => { waiting = false; item.draw(); }); } };
  item.still = (t, width, height) => { // for paper, in light colours
    if (item.aim) item.aim(t);
    stage.begin(width, height, 2);
    item.paint(t, INKS.light, false);
    return canvas.toDataURL("image/png");
  };
  stage.listeners.push(item.ask);
  clock.listeners.push(item.ask);
  new ResizeObserver(item.ask).observe(canvas);
  canvas.addEventListener("webglcontextlost", () => { $(".fallback", host).hidden = false; });
  pictures.push(item);
  return item;
}
function label(host, text, kind = "") {
  const made = document.createElement("span");
  made.className = `tag ${kind}`;
  made.textContent = text;
  $(".tags", host).append(made);
  return made;
}
function put(stage, tag, point, visible = true) {
  const [x, y, w] = stage.project(point);
  tag.style.display = visible && w > 0 ? "" : "none";
  tag.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
}
function oriented(part) {
  const at = part.at || [0, 0, 0];
  return pose(at, part.toward ? fromZ(part.toward) : part.turn || [1, 0, 0, 0]);
}
const switches = {};
function option(name) { return switches[name] ? switches[name].checked : false; }

/* ---- the animation ---- */
const scene = data.scene;
const shade = () => { const chosen = $("#shade"); return chosen ? chosen.value : ""; }; // what beams are coloured by
let move = null;
if (scene) {
  move = motion(scene);
  const host = $("#scene");
  picture(host, { up: scene.up, target: scene.target, radius: scene.radius, look: scene.look }, (stage) => {
    const meshes = new Map(); // equal shapes share theirs
    const mesh = (part) => {
      const key = JSON.stringify([part.kind, part.r, part.h, part.size, part.mesh]);
      const given = (data) => ({ data, index: Array.from({ length: data.length / 6 }, (_, k) => k) });
      if (!meshes.has(key)) meshes.set(key, stage.mesh(part.kind === "mesh" ? given(arrays[part.mesh]) : P.shapes[part.kind](part)));
      return meshes.get(key);
    };
    const built = (part) => ({ mesh: mesh(part), local: oriented(part), tone: part.tone, pattern: part.pattern || 0, shade: part.kind === "box" ? 0.84 : 0.62 });
    const bodies = scene.bodies.map((body) => ({ ...body, parts: body.parts.map(built) })), stands = scene.stands.map(built);
    const trails = scene.trails.map(({ body, point }) => {
      const count = Math.min(3000, Math.max(2, 4 * arrays[scene.time].length)), points = [];
      for (let k = 0; k < count; k++) {
        const t = clock.start + ((clock.end - clock.start) * k) / (count - 1), { x, q } = move.body(body, move.at(t));
        points.push(...add(x, rotate(q, point)), t);
      }
      return { points, line: stage.line(points), colour: scene.bodies[body].colour };
    });
    const ties = (scene.ties || []).map((tie) => ({ ...tie, line: stage.line() }));
    const tied = ({ bodies: ends, points, path }, poses) => { // a path of unit length between two points
      const [a, b] = ends.map((k, side) => (k < 0 ? points[side] : add(poses[k].x, rotate(poses[k].q, points[side]))));
      const way = add(b, a, -1), turn = norm(way) > 0 ? fromZ(way) : [1, 0, 0, 0];
      return path.flatMap(([x, y, z], k) => [...add(add(a, way, z), rotate(turn, [x, y, 0])), k]);
    };
    const beams = scene.beams.length ? new P.Beams(stage, scene.beams, scene.steps) : null, world = pose([0, 0, 0], [1, 0, 0, 0]);
    const paint = (c, { i, s }) => { // the colour of a beam at a part of its length
      const chosen = scene.loads && scene.loads[shade()];
      if (!chosen) return (k) => mixed(rgb(c.series[scene.beams[k].colour]), [1, 1, 1], 0.12);
      const a = arrays[chosen.values], [low, high] = chosen.range, n = scene.beams.length;
      const at = (row, k, side) => a[2 * (row * n + k) + side], now = (k, side) => (s === 0 ? at(i, k, side) : (1 - s) * at(i, k, side) + s * at(i + 1, k, side));
      return (k, part) => P.tone(chosen.colours, ((1 - part) * now(k, 0) + part * now(k, 1) - low) / (high - low));
    };
    const segment = stage.line(), head = stage.mesh(P.shapes.cone({ r: 1, h: 2.6 }));
    const needles = ["x", "y", "z"].map((name) => $(`.needle-${name}`, host));
    const compass = ({ right, above, back }) => [0, 1, 2].forEach((k) => {
      const x = 36 + 24 * right[k], y = 36 - 24 * above[k], [line, text] = needles[k].children;
      line.setAttribute("x2", x); line.setAttribute("y2", y);
      text.setAttribute("x", 36 + 32 * right[k]); text.setAttribute("y", 40 - 32 * above[k]);
      needles[k].style.opacity = back[k] < -0.3 ? 0.45 : 1;
    });
    const arrowTags = scene.vectors ? { omega: label(host, "ω"), momentum: label(host, "L") } : {};
    const v = scene.vectors, J = v && v.inertia, fastest = { omega: 0, momentum: 0 };
    const times = arrays[scene.time];
    const turning = (s) => { const w = move.omega(v.omega, s); return [w, [0, 3, 6].map((k) => J[k] * w[0] + J[k + 1] * w[1] + J[k + 2] * w[2])]; };
    if (v) for (let i = 0; i < times.length; i++) {
      const [w, L] = turning({ i, s: 0 });
      fastest.omega = Math.max(fastest.omega, norm(w)); fastest.momentum = Math.max(fastest.momentum, norm(L));
    }
    const sp = scene.spins, several = sp ? { omega: scene.bodies.map((b) => !b.overlay).filter(Boolean).map(() => label(host, "ω")), momentum: sp.momentum === undefined ? null : label(host, "L") } : null;
    const lerp = (index, k, count, { i, s }) => { // entry k of rows of `count` vectors
      const a = arrays[index], at = (row) => a.slice(3 * (row * count + k), 3 * (row * count + k) + 3), x = at(i);
      return s === 0 ? [...x] : add([...x], add([...at(i + 1)], x, -1), s);
    };
    const stroke = (a, b, colour, width, more) => { stage.set(segment, [...a, 0, ...b, 1]); stage.stroke(segment, colour, width, more); };
    const arrow = (from, along, colour, width, scale = v && v.length) => {
      const length = norm(along), size = scale * 0.034;
      if (length < 1.5 * size) return;
      const d = unit(along), neck = add(from, d, length - 2.4 * size);
      stroke(from, neck, [...colour, 1], width);
      const m = pose(neck, fromZ(d)).map((x, k) => (k < 12 ? x * size : x));
      stage.solid(head, m, colour, { gloss: 0.2 });
    };
    // what must be in the picture: parts at some instants, paths, arrows
    stage.cloud = [];
    const rounds = scene.follow ? 1 : Math.min(80, times.length);
    for (let k = 0; k < rounds; k++) {
      const s = move.at(clock.start + ((clock.end - clock.start) * k) / Math.max(1, rounds - 1));
      scene.bodies.forEach((body, b) => {
        if (body.overlay) return;
        const { x, q } = move.body(b, s);
        for (const part of body.parts) stage.cloud.push([...add(x, rotate(q, part.at || [0, 0, 0])), part.reach]);
        if (v) turning(s).forEach((value, j) => {
          const tip = add(add(x, rotate(q, v.pivot)), rotate(q, value), (1.12 * v.length) / (fastest[j ? "momentum" : "omega"] || 1));
          stage.cloud.push([...tip, 0]);
        });
      });
    }
    for (let k = 0; k < rounds && beams; k++) {
      const s = move.at(clock.start + ((clock.end - clock.start) * k) / Math.max(1, rounds - 1)), poses = scene.bodies.map((_, b) => move.body(b, s));
      for (const beam of scene.beams) {
        stage.cloud.push([...beams.middle(beam, poses), beam.reach]);
        beam.bodies.forEach((b, side) => stage.cloud.push([...(b < 0 ? beam.points[side] : add(poses[b].x, rotate(poses[b].q, beam.points[side]))), beam.reach]));
      }
    }
    if (scene.follow) stage.cloud = stage.cloud.map((p) => [...add(add(p, move.body(0, move.at(clock.start)).x, -1), scene.target), p[3] * 1.3]);
    trails.forEach(({ points }) => { for (let k = 0; k < points.length && !scene.follow; k += 32) stage.cloud.push([...points.slice(k, k + 3), 0]); });
    ties.forEach(({ bodies: ends, points }) => ends.forEach((k, side) => { if (k < 0) stage.cloud.push([...points[side], 0]); }));
    scene.stands.forEach((part) => stage.cloud.push([...(part.at || [0, 0, 0]), part.reach]));
    return {
      aim(t) { stage.target = option("follow") ? move.body(0, move.at(t)).x : scene.target; }, // the machine in the middle
      paint(t, c, live) {
        const s = move.at(t), poses = bodies.map((_, b) => move.body(b, s)), matrices = poses.map(({ x, q }) => pose(x, q));
        stage.ground(scene.ground, scene.cell, c.ground);
        const each = (draw) => {
          stands.forEach((part) => draw(part, part.local, c.hub));
          bodies.forEach((body, b) => (body.overlay && !option("cans") ? [] : body.parts).forEach((part) => draw(part, mul(matrices[b], part.local), part.tone === "hub" ? c.hub : c.series[body.colour], body)));
        };
        if (beams) beams.bend(poses, paint(c, s));
        stage.shadows(scene.ground, c.shadow, (draw) => { each((part, model) => draw(part.mesh, model)); if (beams) draw(beams.mesh, world); });
        if (beams) stage.painted(beams.mesh, world);
        for (const glass of [false, true]) each((part, model, colour, body) => { // see-through ones last
          if (Boolean(body && body.glass && !part.tone) !== glass) return;
          stage.solid(part.mesh, model, mixed(rgb(colour), [1, 1, 1], part.tone ? 0 : 0.12), { pattern: glass ? 0 : part.pattern, tone: part.shade, alpha: glass ? 0.34 : 1 });
        });
        for (const tie of ties) { stage.set(tie.line, tied(tie, poses)); stage.stroke(tie.line, [...rgb(c.hub), 1], 2); }
        if (live) compass(stage);
        if (option("trail") || !live) for (const { line, colour } of trails) {
          const full = rgb(c.series[colour]);
          stage.stroke(line, [...mixed(full, rgb(c.surface), live ? 0.62 : 0.5), 1], 1.2, { span: [t, 1e30] });
          stage.stroke(line, [...full, 1], 2.4, { span: [-1e30, t] });
        }
        if (option("axes")) matrices.forEach((m, b) => {
          if (bodies[b].overlay) return;
          const o = m.slice(12, 15), length = bodies[b].axes;
          [1, 2, 0].forEach((colour, k) => stroke(o, add(o, m.slice(4 * k, 4 * k + 3), length), [...rgb(c.series[colour]), 1], 2.2, { lift: 0.0005 }));
        });
        if (sp) {
          const on = option("vectors");
          several.omega.forEach((tag, b) => {
            const { x, q } = poses[b], from = add(x, rotate(q, sp.centers[b]));
            const along = rotate(q, lerp(sp.omega, b, several.omega.length, s)).map((y) => (y * sp.length) / (sp.fastest || 1));
            if (on) arrow(from, along, rgb(c.series[5]), 2.6, sp.length);
            put(stage, tag, add(from, along, 1.07), live && on && norm(along) > 0.08 * sp.length);
            tag.style.color = c.series[5];
          });
          if (several.momentum) {
            const along = lerp(sp.momentum, 0, 1, s).map((y) => (y * sp.length * 1.4) / (sp.largest || 1));
            if (on) arrow([0, 0, 0], along, rgb(c.series[6]), 3, sp.length);
            put(stage, several.momentum, along.map((y) => 1.07 * y), live && on && norm(along) > 0.08 * sp.length);
            several.momentum.style.color = c.series[6];
          }
        }
        if (v) {
          const [w, L] = turning(s), { x, q } = poses[0], from = add(x, rotate(q, v.pivot)), size = v.length, on = option("vectors");
          [["omega", w, 5], ["momentum", L, 6]].forEach(([name, value, colour]) => {
            const along = rotate(q, value).map((y) => (y * size) / (fastest[name] || 1)), tag = arrowTags[name];
            if (on) arrow(from, along, rgb(c.series[colour]), 3);
            put(stage, tag, add(from, along, 1.07), live && on && norm(along) > 0.05 * size);
            tag.style.color = c.series[colour];
          });
        }
      },
    };
  });
  for (const input of host.querySelectorAll("input[data-option]")) {
    switches[input.dataset.option] = input;
    input.addEventListener("change", () => pictures.forEach((p) => p.ask()));
  }
}

const shades = $("#shade");
if (shades) {
  const told = () => { // the bar of colours
    const chosen = scene.loads[shade()], bar = $("#bar");
    bar.hidden = !chosen;
    if (!chosen) return;
    $("b", bar).textContent = `${chosen.words} (${chosen.unit})`;
    $("i", bar).style.background = `linear-gradient(to top, ${chosen.colours.join(", ")})`;
    const [low, high] = chosen.range, [top, middle, bottom] = bar.querySelectorAll("span");
    top.textContent = shown(high, 3); bottom.textContent = shown(low, 3); middle.textContent = low < 0 ? "0" : "";
  };
  shades.addEventListener("change", () => { told(); pictures.forEach((p) => p.ask()); });
  told();
}

/* ---- the polhode on the inertia ellipsoid, and the herpolhode ---- */
const po = data.poinsot;
if (po) {
  const host = $("#polhode"), now = $(".h-now"), path = arrays[po.path], nearAxis = [path[0], path[1], path[2]];
  const strongest = nearAxis.map(Math.abs).indexOf(Math.max(...nearAxis.map(Math.abs)));
  const SUB = ["₁", "₂", "₃"];
  // the view: the axis that the path goes round comes towards the reader
  const look = unit(nearAxis.map((x, k) => (k === strongest ? Math.sign(x) * 1.0 : 0.55 * (k === (strongest + 1) % 3 ? 1 : 0.75))));
  picture(host, { up: [0, 0, 1], look }, (stage) => {
    const body = stage.mesh(P.shapes.ellipsoid({ size: po.size })), dotMesh = stage.mesh(P.shapes.ellipsoid({ size: [1, 1, 1] }));
    const closed = (index) => { const a = arrays[index], out = []; for (let k = 0; k < a.length; k += 3) out.push(a[k], a[k + 1], a[k + 2], 0); return stage.line(out); };
    const family = po.family.map(closed), separatrix = po.separatrix.map(closed), line = stage.line(path), axis = stage.line();
    const tags = po.moments.map((m, k) => label(host, `J${SUB[k]} = ${shown(m, 3)}`, "moment"));
    stage.cloud = po.size.flatMap((x, k) => [1, -1].map((side) => { const e = [0, 0, 0, 0.06]; e[k] = side * (x + 0.24); return e; }));
    return {
      paint(t, c, live) {
        const grey = rgb(c.faint), main = rgb(c.series[1]);
        stage.solid(body, pose([0, 0, 0], [1, 0, 0, 0]), rgb(c.ellipsoid), { gloss: 0.5 });
        for (const l of family) stage.stroke(l, [...mixed(grey, rgb(c.ellipsoid), 0.3), 1], 1, { lift: 0.0006 });
        for (const l of separatrix) stage.stroke(l, [...grey, 1], 1.9, { lift: 0.0006 });
        stage.stroke(line, [...mixed(main, rgb(c.ellipsoid), 0.72), 1], 1.4, { over: true });
        stage.stroke(line, [...main, 1], 2.8, { lift: 0.0012 });
        po.size.forEach((length, k) => {
          const e = [0, 0, 0]; e[k] = 1;
          for (const side of [1, -1]) {
            stage.set(axis, [...e.map((x) => x * side * length), 0, ...e.map((x) => x * side * (length + (side > 0 ? 0.22 : 0.1))), 1]);
            stage.stroke(axis, [...rgb(c.text), 1], 1.6);
          }
          const tip = e.map((x) => x * (length + 0.27)), [, root, depth] = stage.project(e.map((x) => x * length));
          put(stage, tags[k], tip, live);
          tags[k].style.marginTop = stage.project(tip)[1] < root ? "-1.3em" : "0.1em"; // beyond the axis, not across it
          tags[k].style.opacity = depth > stage.distance ? 0.45 : 1;
        });
        if (move && scene.vectors) {
          const w = move.omega(scene.vectors.omega, move.at(t)), a = po.axes;
          let x = [0, 3, 6].map((k) => a[k] * w[0] + a[k + 1] * w[1] + a[k + 2] * w[2]);
          const size = Math.sqrt(po.moments.reduce((sum, m, k) => sum + m * x[k] ** 2, 0)) || 1;
          x = x.map((y) => (y / size) * Math.sqrt(po.moments[0]) * 1.01);
          const at = pose(x, [1, 0, 0, 0]).map((y, k) => (k < 12 ? y * 0.024 * stage.radius : y));
          stage.solid(dotMesh, at, rgb(c.now), { alpha: 0.25, over: true });
          stage.solid(dotMesh, at, rgb(c.now), { gloss: 0.6 });
        }
      },
    };
  });
  if (move && scene.vectors && now) clock.listeners.push((t) => {
    const s = move.at(t), w = rotate(move.body(0, s).q, move.omega(scene.vectors.omega, s)), e = po.plane, [scale, middle] = po.map;
    now.setAttribute("cx", middle + scale * (e[0] * w[0] + e[1] * w[1] + e[2] * w[2]));
    now.setAttribute("cy", middle - scale * (e[3] * w[0] + e[4] * w[1] + e[5] * w[2]));
  });
}

P.pictures = pictures;
})();
