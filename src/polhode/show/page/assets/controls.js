/* Play, slider and speed; and what changes on paper or with the colour scheme. */
(() => {
"use strict";
const P = window.Polhode;
const { $, clock, shown, paper, pictures, printQuery, darkQuery, drawAll, legends } = P;

/* ---- play, slider, speed ---- */
const controls = $("#controls");
if (controls && clock.end > clock.start) {
  const play = $("#play"), slider = $("#time"), speed = $("#speed"), readout = $("#readout");
  const length = clock.end - clock.start;
  const speeds = [0.00001, 0.00002, 0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
  const wanted = P.data.loops ? 2 : 10; // seconds
  const ideal = length >= 4 && length <= 30 && !P.data.loops ? 1 : speeds.reduce((best, s) => (Math.abs(Math.log(length / s / wanted)) < Math.abs(Math.log(length / best / wanted)) ? s : best), 1);
  const first = speeds.indexOf(ideal);
  for (const s of speeds.filter((s, k) => Math.abs(k - first) < 5 || s === 1)) speed.add(new Option(`${s}×`, s, s === ideal, s === ideal));
  clock.speed = ideal;
  const digits = Math.max(0, Math.min(6, 3 - Math.floor(Math.log10(length || 1))));
  const say = (t) => { readout.textContent = `${t.toFixed(digits)} / ${clock.end.toFixed(digits)} s`; };
  let last = 0;
  const step = (now) => {
    if (!clock.playing) return;
    const t = clock.t + ((now - last) / 1000) * clock.speed;
    last = now;
    if (t >= clock.end && P.data.loops) clock.set(clock.start + ((t - clock.start) % length));
    else if (t >= clock.end) { clock.set(clock.end); toggle(false); return; }
    else clock.set(t);
    requestAnimationFrame(step);
  };
  const toggle = (on) => {
    clock.playing = on;
    play.setAttribute("aria-pressed", on);
    play.setAttribute("aria-label", on ? "Pause" : "Play");
    play.classList.toggle("on", on);
    if (!on) { legends(true); return; }
    if (clock.t >= clock.end) clock.set(clock.start);
    last = performance.now();
    requestAnimationFrame(step);
  };
  play.addEventListener("click", () => toggle(!clock.playing));
  slider.addEventListener("input", () => { clock.set(clock.start + (length * slider.value) / slider.max); });
  speed.addEventListener("change", () => { clock.speed = Number(speed.value); });
  clock.listeners.push((t) => {
    slider.value = length ? Math.round(((t - clock.start) / length) * slider.max) : 0;
    slider.setAttribute("aria-valuetext", `${t.toFixed(digits)} seconds`);
    say(t);
  });
  document.addEventListener("keydown", (e) => { // space plays, unless it means something where the focus is
    if (e.key !== " " || e.ctrlKey || e.altKey || e.metaKey || e.defaultPrevented) return;
    if (e.target.closest && e.target.closest("button, select, summary, a, textarea, input:not([type=range])")) return;
    e.preventDefault();
    toggle(!clock.playing);
  });
  controls.hidden = false;
  P.toggle = toggle;
}
clock.set(clock.start);
requestAnimationFrame(() => legends(true)); // uPlot clears them once after it drew

/* ---- paper: plots drawn for its width, pictures as stills, everything light ---- */
function stills() {
  for (const item of pictures) {
    const strip = $(".stills", item.host);
    const moments = item.host.id === "scene" && clock.end > clock.start ? [0, 1 / 3, 2 / 3, 1] : [0];
    strip.replaceChildren(...moments.map((s) => {
      const t = clock.start + s * (clock.end - clock.start), figure = document.createElement("figure"), image = new Image();
      const square = item.host.id !== "scene";
      image.src = item.still(t, square ? 360 : 400, square ? 320 : 400);
      image.alt = "";
      figure.append(image);
      if (moments.length > 1) { const text = document.createElement("figcaption"); text.textContent = `t = ${shown(t, 4)} s`; figure.append(text); }
      return figure;
    }));
    item.draw();
  }
}
function print(on) {
  if (on === paper.on) return;
  if (on) stills();
  paper.on = on;
  drawAll();
  if (!on) pictures.forEach((p) => p.ask());
}
addEventListener("beforeprint", () => print(true));
addEventListener("afterprint", () => print(printQuery.matches));
printQuery.addEventListener("change", (e) => print(e.matches));
darkQuery.addEventListener("change", () => { drawAll(); pictures.forEach((p) => p.ask()); });
if (paper.on) stills();
document.documentElement.dataset.ready = "yes";
})();
