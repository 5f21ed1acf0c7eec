/* What every script of the page shares: its data, colours, numbers as text, the clock. */
(() => {
"use strict";
const P = window.Polhode;
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (selector, root = document) => root.querySelector(selector);

const arrays = data.arrays.map((text) => {
  const bytes = Uint8Array.from(atob(text.slice(1)), (c) => c.charCodeAt(0)).buffer;
  return text[0] === "d" ? new Float64Array(bytes) : new Float32Array(bytes);
});

/* ---- colours: light, dark, and light again on paper ---- */
const INKS = {
  light: {
    text: "#46505c", grid: "#e6e9ed", axis: "#b9c0c8", now: "#101820", ground: [0.36, 0.42, 0.50, 0.5], hub: "#59636f", shadow: 0.13,
    ellipsoid: "#dfe5ec", faint: "#8b97a5", surface: "#ffffff",
    series: ["#0072b2", "#d55e00", "#008f68", "#b8478f", "#3b9fdc", "#c98b00", "#5b4bb5", "#4d555e"],
  },
  dark: {
    text: "#aab4c0", grid: "#262d36", axis: "#46505c", now: "#f2f5f8", ground: [0.62, 0.70, 0.80, 0.38], hub: "#8e99a6", shadow: 0.42,
    ellipsoid: "#5a6675", faint: "#93a1b1", surface: "#12161b",
    series: ["#4ea8e6", "#ff8a47", "#2fc49a", "#e48cc4", "#8fd0ff", "#f0c040", "#a99bff", "#c6ced7"],
  },
};
const darkQuery = matchMedia("(prefers-color-scheme: dark)"), printQuery = matchMedia("print");
const paper = { on: printQuery.matches };
const ink = () => INKS[!paper.on && darkQuery.matches ? "dark" : "light"];
const rgb = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16) / 255);
const mixed = (a, b, s) => a.map((x, k) => x + (b[k] - x) * s);

/* ---- numbers as people write them ---- */
const SUPER = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
const power = (e) => `10${[...String(e)].map((c) => SUPER[c]).join("")}`;
const minus = (s) => s.replace("-", "−");
function shown(x, digits = 4) {
  if (x === null || x === undefined || !Number.isFinite(x)) return "–";
  const a = Math.abs(x);
  if (a === 0) return "0";
  if (a >= 1e5 || a < 1e-3) {
    let [m, e] = x.toExponential(digits - 2).split("e");
    return minus(`${m}×`) + power(Number(e));
  }
  return minus(String(Number(x.toPrecision(digits))));
}
function tick(v, step, largest) {
  if (v === 0) return "0";
  if (largest >= 1e5 || largest < 1e-3) {
    const e = Math.floor(Math.log10(largest) + 1e-9), d = Math.max(0, Math.min(6, e - Math.floor(Math.log10(step) + 1e-9)));
    return minus(`${(v / 10 ** e).toFixed(d)}×`) + power(e);
  }
  return minus(v.toFixed(Math.max(0, Math.min(9, Math.ceil(-Math.log10(step) - 1e-9) + (/[25]/.test(step.toExponential()[2]) ? 1 : 0)))));
}

/* ---- the clock: one time for the animation and all plots ---- */
const clock = { t: data.start, start: data.start, end: data.end, playing: false, speed: 1, listeners: [] };
clock.set = (t) => { clock.t = Math.min(clock.end, Math.max(clock.start, t)); clock.listeners.forEach((f) => f(clock.t)); };

/* ---- where an instant lies among ascending ones ---- */
function before(x, t) { // the last index with x[i] ≤ t
  let a = 0, b = x.length - 1;
  while (b - a > 1) { const m = (a + b) >> 1; if (x[m] <= t) a = m; else b = m; }
  return x.length > 1 && x[b] <= t ? b : a;
}
function nearest(x, t) {
  const i = before(x, t);
  return i + 1 < x.length && x[i + 1] - t < t - x[i] ? i + 1 : i;
}

Object.assign(P, { data, $, arrays, INKS, darkQuery, printQuery, paper, ink, rgb, mixed, power, shown, tick, clock, before, nearest });
})();
