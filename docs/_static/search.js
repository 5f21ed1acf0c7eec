// The search of the site, on top of Sphinx's own: where no page has all the words, those that have most of them, rare
// words before common ones; and pages that answer questions before those that list changes.

const LATER = /^(changelog|changes|contributing|architecture|other_sites|decisions\/)/;   // after all others of their score
const SOONER = /^(start|howto|tutorials)\//;
const MOST = 30;                                                                          // results where no page has all words

// results: for each word the results that have it, [docname, title, anchor, text, score, file, kind]; the best comes last
function mostWords(results, pages) {
  const found = new Map();
  for (const list of results) {
    const seen = new Set();
    const rarity = Math.log(1 + pages / Math.max(1, new Set(list.map((item) => item[0])).size));
    for (const item of list) {
      if (seen.has(item[0])) continue;
      seen.add(item[0]);
      const [kept, weight] = found.get(item[0]) || [item, 0];
      found.set(item[0], [kept, weight + rarity]);
    }
  }
  const ranked = [...found.values()].sort((a, b) => a[1] - b[1] || placed(a[0]) - placed(b[0]) || (a[0][1] < b[0][1] ? 1 : -1));
  return ranked.slice(-MOST).map(([item, weight]) => { const copy = [...item]; copy[4] = weight; return copy; });
}

// the score of a result, a little changed by what kind of page it is on
function placed(item) {
  return item[4] + (SOONER.test(item[0]) ? 3 : LATER.test(item[0]) ? -4 : 0);
}

function improve(search, scorer) {
  scorer.score = placed;
  const whole = search._performSearch;
  search._performSearch = (query, words, left, marked, names) => {
    const found = whole(query, words, left, marked, names);
    if (found.length || words.size < 2) return found;
    const each = [...words].map((word) => search.performTermsSearch(new Set([word]), left));
    const most = mostWords(each, search._index.docnames.length);
    if (most.length) {
      const note = document.createElement("p");
      note.textContent = "No page has all of these words. Those with most of them:";
      search.output.before(note);
    }
    return most;
  };
}

// before Sphinx's own listener of this event, which may search at once
window.addEventListener("DOMContentLoaded", () => {
  if (typeof Search !== "undefined" && typeof Scorer !== "undefined") improve(Search, Scorer);
}, { capture: true });
