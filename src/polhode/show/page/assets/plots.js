/* The plots: uPlot in our colours, with the clock's time as a line and in the legends. */
(() => {
"use strict";
const P = window.Polhode;
const { data, $, arrays, paper, ink, power, shown, tick, clock, nearest } = P;

const FONT = getComputedStyle(document.body).fontFamily;
const DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3]];
const charts = [];

function options(spec, width, k) { // k: drawn larger, shown smaller, for paper
  const c = ink(), height = Math.round(width < 380 * k ? 200 * k : 220 * k);
  const logRange = (u, low, high) => {
    if (low === null) return [0.1, 1];
    const min = Math.min(low, spec.level ?? low), max = Math.max(high, spec.level ?? high);
    return [10 ** Math.max(-16, Math.floor(Math.log10(min) - 0.02)), 10 ** Math.max(-15, Math.ceil(Math.log10(max) + 0.02))]; // uPlot counts 16 decimals
  };
  const range = (u, min, max) => {
    if (min === null || min === undefined) return [0, 1];
    const d = max - min, m = Math.max(Math.abs(min), Math.abs(max));
    if (d <= 1e-5 * m || d === 0) return [min - (m * 0.2 || 1), max + (m * 0.2 || 1)];
    return [min - 0.07 * d, max + 0.07 * d];
  };
  const axis = {
    stroke: c.text, font: `${11 * k}px ${FONT}`, labelFont: `${11 * k}px ${FONT}`, labelSize: 18 * k, labelGap: 2 * k, gap: 5 * k,
    grid: { stroke: c.grid, width: k }, ticks: { stroke: c.axis, width: k, size: 4 * k },
  };
  const wide = (u, values) => (values ? (Math.max(2, ...values.map((s) => String(s || "").length)) * 6.1 + 12) * k : 40 * k);
  const x = arrays[spec.x];
  return {
    width, height, padding: [8 * k, 14 * k, 0, 0],
    cursor: { sync: { key: "time" }, drag: { x: true, y: false }, points: { size: 7, width: 0 }, focus: { prox: 16 } },
    focus: { alpha: 0.35 },
    select: { show: true },
    scales: {
      x: { time: false, range: (u, a, b) => (x.length < 2 ? [x[0] - 0.5, x[0] + 0.5] : [a, b]) },
      y: spec.log ? { distr: 3, range: logRange } : { range },
    },
    axes: [
      { ...axis, label: "time [s]", size: 30 * k, space: 56 * k, values: (u, s, a, f, step) => s.map((v) => tick(v, step, Math.max(...s.map(Math.abs)))) },
      {
        ...axis, label: spec.axis, size: wide, space: (spec.log ? 26 : 32) * k,
        values: (u, s, a, f, step) => s.map((v) => (v === null ? "" : spec.log ? power(Math.round(Math.log10(v))) : tick(v, step, Math.max(...s.map(Math.abs))))),
        ...(spec.log ? { filter: logTicks, grid: { ...axis.grid, filter: logTicks }, ticks: { ...axis.ticks, filter: logTicks } } : {}),
      },
    ],
    hooks: { drawClear: [(u) => happened(u, k, spec)] },
    legend: { live: k === 1, markers: { width: k > 1 ? 6 : 0, stroke: (u, i) => u.series[i].stroke(), fill: (u, i) => (k > 1 ? "none" : u.series[i].stroke()), dash: (u, i) => ["solid", "dashed", "dotted", "dashed"][(i - 1) % 4] } },
    series: [
      { label: "t", value: (u, v) => `${shown(v, 5)} s` },
      ...spec.series.map((s, i) => ({
        label: s.name, stroke: () => ink().series[s.colour % 8], width: 1.7 * k, spanGaps: spec.log,
        dash: k > 1 ? DASHES[i % 4].map((d) => d * k) : undefined,
        points: { show: x.length < 2 ? true : undefined, size: x.length < 2 ? 8 * k : 5 * k, space: 30 * k }, value: (u, v) => shown(v),
      })),
    ],
  };
}
function happened(u, k, spec) { // a thin dashed line at each event, and at the marks of this plot
  const { ctx, bbox } = u, marks = spec.marks || [];
  ctx.save();
  if (spec.unknownFrom !== undefined) blank(u, k, spec.unknownFrom);
  if (spec.level !== undefined) across(u, k, spec.level);
  if (data.until) parting(u, k, data.until);
  ctx.strokeStyle = ink().axis; ctx.lineWidth = k; ctx.setLineDash([3 * k, 3 * k]);
  for (const t of [...data.events, ...marks]) {
    if (t < u.scales.x.min || t > u.scales.x.max) continue;
    const x = Math.round(u.valToPos(t, "x", true));
    ctx.beginPath(); ctx.moveTo(x, bbox.top); ctx.lineTo(x, bbox.top + bbox.height); ctx.stroke();
  }
  ctx.restore();
}
const inside = (u, t) => t >= u.scales.x.min && t <= u.scales.x.max;
function words(u, k, text, x, y) { // beside a line, on the side that has room
  const { ctx, bbox } = u, left = x > bbox.left + bbox.width / 2;
  ctx.font = `${10.5 * k * devicePixelRatio}px ${FONT}`; ctx.fillStyle = ink().text;
  ctx.textAlign = left ? "right" : "left"; ctx.textBaseline = "top";
  ctx.fillText(text, x + (left ? -4 : 4) * k * devicePixelRatio, y);
}
function parting(u, k, until) { // where the run ceases to be good, or to be checked
  if (!inside(u, until.time)) return;
  const { ctx, bbox } = u, x = Math.round(u.valToPos(until.time, "x", true));
  ctx.strokeStyle = ink().series[1]; ctx.lineWidth = 1.2 * k; ctx.setLineDash([]);
  ctx.beginPath(); ctx.moveTo(x, bbox.top); ctx.lineTo(x, bbox.top + bbox.height); ctx.stroke();
  words(u, k, until.words, x, bbox.top + 3 * k);
}
function across(u, k, level) { // a value that counts, such as a threshold
  if (level < u.scales.y.min || level > u.scales.y.max) return;
  const { ctx, bbox } = u, y = Math.round(u.valToPos(level, "y", true));
  ctx.strokeStyle = ink().text; ctx.lineWidth = k; ctx.setLineDash([7 * k, 4 * k]);
  ctx.beginPath(); ctx.moveTo(bbox.left, y); ctx.lineTo(bbox.left + bbox.width, y); ctx.stroke();
}
function blank(u, k, from) { // curves are not known from here on
  const { ctx, bbox } = u, x = Math.max(bbox.left, Math.round(u.valToPos(from, "x", true))), right = bbox.left + bbox.width;
  if (x >= right) return;
  ctx.fillStyle = ink().grid; ctx.fillRect(x, bbox.top, right - x, bbox.height);
  words(u, k, "not estimated", x > bbox.left + bbox.width / 2 ? right : x, bbox.top + bbox.height / 2);
}
function logTicks(u, splits) { // whole powers of ten, fewer when there are many
  const { min, max } = u.scales.y, decades = Math.log10(max / min), every = Math.max(1, Math.ceil(decades / 7));
  return splits.map((v) => {
    const e = Math.log10(v);
    return Math.abs(e - Math.round(e)) < 1e-6 && Math.round(e) % every === 0 ? v : null;
  });
}
function draw(chart) {
  if (chart.plot) chart.plot.destroy();
  const k = paper.on ? 3 : 1;
  const width = paper.on ? 320 * k : Math.max(240, Math.floor(chart.host.clientWidth));
  const table = [arrays[chart.spec.x], ...chart.spec.series.map((s) => Array.from(arrays[s.y], (v) => (Number.isNaN(v) ? null : v)))];
  const plot = (chart.plot = new uPlot(options(chart.spec, width, k), table, chart.host));
  chart.width = width;
  chart.host.classList.toggle("enlarged", paper.on);
  const canvas = $("canvas", chart.host);
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${chart.spec.title}: ${chart.spec.series.map((s) => s.name).join(", ")} over time`);
  const line = (chart.line = document.createElement("div"));
  line.className = "now-line";
  plot.over.append(line);
  let from = null;
  plot.over.addEventListener("mousedown", (e) => { from = [e.clientX, e.clientY]; });
  plot.over.addEventListener("click", (e) => {
    if (from && Math.hypot(e.clientX - from[0], e.clientY - from[1]) > 4) return;
    clock.set(plot.posToVal(e.clientX - plot.over.getBoundingClientRect().left, "x"));
  });
  plot.hooks.setScale = [...(plot.hooks.setScale || []), () => place(chart)];
  place(chart);
}
function place(chart) {
  const { plot, line } = chart, left = plot.valToPos(clock.t, "x"), { min, max } = plot.scales.x;
  const inside = clock.t >= min && clock.t <= max && clock.end > clock.start;
  line.style.display = inside && !paper.on ? "" : "none";
  line.style.transform = `translateX(${left}px)`;
}
let legendsAt = 0;
function legends(force) { // the values at the clock's time, unless the mouse is in a plot
  const now = performance.now();
  if (!force && now - legendsAt < 120) return;
  legendsAt = now;
  for (const { plot, spec } of charts) {
    if (paper.on || plot.cursor.left >= 0) continue;
    const x = arrays[spec.x];
    plot.setLegend({ idx: nearest(x, clock.t) });
  }
}
function drawAll() { charts.forEach(draw); legends(true); }

document.querySelectorAll("[data-plot]").forEach((host) => {
  const spec = data.plots[Number(host.dataset.plot)];
  if (spec && spec.series.length) charts.push({ host, spec });
});
drawAll();
clock.listeners.push(() => { charts.forEach(place); legends(!clock.playing); });
new ResizeObserver(() => {
  if (paper.on) return;
  for (const chart of charts) {
    const width = Math.max(240, Math.floor(chart.host.clientWidth));
    if (width !== chart.width) { chart.width = width; chart.plot.setSize({ width, height: width < 380 ? 200 : 220 }); place(chart); }
  }
}).observe(document.body);

Object.assign(P, { drawAll, legends });
})();
