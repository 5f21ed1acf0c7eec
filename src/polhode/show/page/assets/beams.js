/* Bent beams: sections swept along the cubic of each element, coloured by what the sections bear. */
(() => {
"use strict";
const P = window.Polhode;
const { add, dot, cross, norm, unit, qmul, qexp, qlog, rotate } = P;

/* the frame of one end in the world */
function end(beam, poses, side) {
  const b = beam.bodies[side], { x, q } = b < 0 ? { x: [0, 0, 0], q: [1, 0, 0, 0] } : poses[b];
  const turn = qmul(q, beam.turns[side]);
  return { r: add(x, rotate(q, beam.points[side])), q: turn, x: rotate(turn, [1, 0, 0]), y: rotate(turn, [0, 1, 0]), z: rotate(turn, [0, 0, 1]) };
}
/* the axis of an element: a function of the part of its length -> point, direction across which its section stands, y, z */
function bentAxis(beam, poses) {
  const a = end(beam, poses, 0), b = end(beam, poses, 1), l = beam.length, chord = add(b.r, a.r, -1), t = unit(chord);
  const gy = beam.lean[0] * (dot(a.y, t) + dot(b.y, t)), gz = beam.lean[1] * (dot(a.z, t) + dot(b.z, t));
  const along = (e) => add(add(e.x, e.y, gy), e.z, gz), da = along(a), db = along(b);
  const way = qlog(qmul([a.q[0], -a.q[1], -a.q[2], -a.q[3]], b.q));
  return (s) => {
    const tangent = add(add(chord.map((x) => 6 * (s - s * s) * x), da, l * (1 - 4 * s + 3 * s * s)), db, l * (3 * s * s - 2 * s));
    const point = add(add(add(a.r, chord, 3 * s * s - 2 * s ** 3), da, l * (s - 2 * s * s + s ** 3)), db, l * (s ** 3 - s * s));
    const turned = qmul(a.q, qexp(way.map((x) => s * x))), y0 = rotate(turned, [0, 1, 0]), z0 = rotate(turned, [0, 0, 1]);
    const n = unit(add(add(unit(tangent), y0, -gy), z0, -gz)), y = unit(add(y0, n, -dot(y0, n)));
    return { point, n, y, z: cross(n, y) };
  };
}

P.tone = (colours, share) => { // a colour of a table, 0 … 1
  const at = Math.min(1, Math.max(0, share)) * (colours.length - 1), k = Math.min(colours.length - 2, Math.floor(at));
  return P.mixed(P.rgb(colours[k]), P.rgb(colours[k + 1]), at - k);
};

P.Beams = class {
  constructor(stage, beams, steps) {
    const index = [];
    let first = 0;
    for (const { ring, bore, caps } of beams) {
      for (const each of [ring, bore]) {
        const n = each.length;
        for (let i = 0; i < steps && n; i++) for (let k = 0; k < n; k++) {
          const a = first + i * n + k, b = first + i * n + ((k + 1) % n);
          index.push(a, b, a + n, b, b + n, a + n);
        }
        first += (steps + 1) * n;
      }
      for (const closed of caps) if (closed) { // corners and, of a tube, those of its hole, else the middle
        const n = ring.length, inner = bore.length;
        for (let k = 0; k < n; k++) {
          const j = (k + 1) % n;
          index.push(first + k, first + j, first + n + (inner ? k : 0));
          if (inner) index.push(first + j, first + n + j, first + n + k);
        }
        first += n + (inner || 1);
      }
    }
    Object.assign(this, { stage, beams, steps, data: new Float32Array(9 * first), mesh: stage.surface(index) });
  }
  /* colour(k, s): of the beam k at a part of its length */
  bend(poses, colour) {
    const { data, steps } = this;
    let at = 0;
    const put = (p, n, c) => { data.set(p, at); data.set(n, at + 3); data.set(c, at + 6); at += 9; };
    this.beams.forEach((beam, b) => {
      const along = bentAxis(beam, poses), stations = Array.from({ length: steps + 1 }, (_, i) => along(i / steps));
      const corner = ({ point, y, z }, [u, v]) => add(add(point, y, u), z, v);
      for (const ring of [beam.ring, beam.bore]) stations.forEach((here, i) => {
        const c = colour(b, i / steps);
        for (const e of ring) put(corner(here, e), add(here.y.map((x) => x * e[2]), here.z, e[3]), c);
      });
      beam.caps.forEach((closed, side) => {
        if (!closed) return;
        const here = stations[side ? steps : 0], n = here.n.map((x) => (side ? x : -x)), c = colour(b, side);
        for (const e of [...beam.ring, ...(beam.bore.length ? beam.bore : [[0, 0]])]) put(corner(here, e), n, c);
      });
    });
    this.stage.fill(this.mesh, data);
  }
  middle(beam, poses) { return bentAxis(beam, poses)(0.5).point; }
};
})();
