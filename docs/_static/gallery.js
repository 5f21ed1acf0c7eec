// The gallery's filter: words and tags. Tags and texts of examples are in gallery-tags.js, which the build writes.
const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;

// A card's film over its picture, played while it is in view; where it cannot be had, the picture stays.
function playFilm(card, name) {
  const picture = card.querySelector("img");
  if (!picture || calm) return;
  const film = document.createElement("video");
  Object.assign(film, { muted: true, loop: true, playsInline: true, preload: "none", src: `../_static/films/${name}.mp4` });
  film.setAttribute("aria-hidden", "true");
  film.addEventListener("playing", () => film.classList.add("playing"), { once: true });
  film.addEventListener("error", () => film.remove());
  picture.after(film);
  new IntersectionObserver(([seen]) => {
    if (seen.isIntersecting) film.play().catch(() => {}); else film.pause();
  }).observe(card);
}

document.addEventListener("DOMContentLoaded", () => {
  if (calm) for (const film of document.querySelectorAll("video.film")) { film.autoplay = false; film.pause(); }
  const box = document.getElementById("gallery-filter");
  const data = window.POLHODE_EXAMPLES;
  if (!box || !data) return;
  const cards = [...document.querySelectorAll(".sphx-glr-thumbcontainer")].map((card) => {
    const link = card.querySelector("a[href]");
    const name = link ? link.getAttribute("href").replace(/^.*\//, "").replace(/\.html.*$/, "") : "";
    const known = data[name] || { tags: [], words: "", film: false };
    if (known.film) playFilm(card, name);
    if (known.tags.length) {
      const chips = document.createElement("span");
      chips.className = "sphx-glr-chips";
      chips.textContent = known.tags.join(" · ");
      card.appendChild(chips);
    }
    return { card, tags: known.tags, words: (card.textContent + " " + known.words).toLowerCase() };
  });
  const all = [...new Set(cards.flatMap((c) => c.tags))].sort();
  const input = document.createElement("input");
  input.type = "search";
  input.placeholder = "Search the examples: words, ph.names";
  input.setAttribute("aria-label", "Search the examples");
  const chips = document.createElement("div");
  chips.className = "chips";
  const found = document.createElement("p");
  found.className = "found";
  const chosen = new Set();
  for (const tag of all) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = tag;
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => {
      if (chosen.has(tag)) chosen.delete(tag); else chosen.add(tag);
      button.setAttribute("aria-pressed", String(chosen.has(tag)));
      show();
    });
    chips.appendChild(button);
  }
  function show() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const { card, tags, words: text } of cards) {
      const fits = words.every((w) => text.includes(w)) && [...chosen].every((t) => tags.includes(t));
      card.style.display = fits ? "" : "none";
      count += fits;
    }
    found.textContent = count === cards.length ? `${count} examples` : `${count} of ${cards.length} examples`;
  }
  input.addEventListener("input", show);
  box.append(input, chips, found);
  box.hidden = false;
  show();
});
