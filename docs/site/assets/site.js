// Search, versions and dark mode. Without it the pages are whole, and follow what the system prefers.
"use strict";
const script = document.currentScript, up = script.dataset.up;
const by = (id) => document.getElementById(id);

// The pages' list is open where there is room for it.
const menu = by("menu"), wide = matchMedia("(min-width: 52.01rem)");
const unfold = () => { menu.open = wide.matches; };
wide.addEventListener("change", unfold);
unfold();
menu.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
scrollTo(0, location.hash ? scrollY : 0);

// Dark mode: as the system has it, until a reader says otherwise.
const theme = by("theme"), root = document.documentElement;
const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
const name = () => { theme.textContent = dark() ? "Light" : "Dark"; };
theme.hidden = false;
theme.addEventListener("click", () => {
  root.dataset.theme = dark() ? "light" : "dark";
  try { localStorage.setItem("theme", root.dataset.theme); } catch { /* for this page only */ }
  name();
});
name();

// The same page in another version, where there are several.
fetch(up + "../versions.json").then((r) => r.json()).then((all) => {
  const select = by("versions").querySelector("select");
  for (const v of all) select.add(new Option(v, v, false, v === script.dataset.version));
  by("versions").hidden = all.length < 2;
  select.addEventListener("change", async () => {
    const there = up + "../" + select.value + "/";
    const same = await fetch(there + script.dataset.page, { method: "HEAD" }).then((r) => r.ok, () => false);
    location.href = there + (same ? script.dataset.page : "index.html");
  });
}).catch(() => {});

// The search reads one file, once it is used.
const words = by("words"), hits = by("hits");
let entries;
by("find").hidden = false;
const load = () => (entries ??= fetch(up + "search.json").then((r) => r.json()));
words.addEventListener("focus", load);
words.addEventListener("input", async () => {
  const asked = words.value.toLowerCase().split(/\s+/).filter(Boolean);
  const all = await load();
  if (asked.length === 0) { hits.hidden = true; return; }
  const found = [];
  for (const e of all) {
    const title = e.t.toLowerCase(), text = (e.x || "").toLowerCase();
    let score = 0;
    for (const w of asked) {
      const inTitle = title.includes(w), inText = text.includes(w);
      if (!inTitle && !inText) { score = 0; break; }
      score += (inTitle ? 10 : 0) + (title === w ? 20 : 0) + (inText ? 1 : 0) + (e.a ? 0 : 2);
    }
    if (score) found.push([score, e]);
  }
  found.sort((a, b) => b[0] - a[0]);
  hits.replaceChildren(...found.slice(0, 12).map(([, e]) => hit(e, asked[0])));
  if (!found.length) {
    const none = document.createElement("p");
    none.textContent = "Nothing found.";
    hits.replaceChildren(none);
  }
  hits.hidden = false;
});

function hit(e, word) {
  const item = document.createElement("li"), a = document.createElement("a");
  a.href = up + e.p + (e.a ? "#" + e.a : "");
  const title = document.createElement("b"), text = document.createElement("span");
  title.textContent = e.t;
  const x = e.x || "", at = Math.max(0, x.toLowerCase().indexOf(word) - 40);
  text.textContent = e.p.replace(/\.html$/, "") + ": " + (at ? "…" : "") + x.slice(at, at + 140);
  a.append(title, text);
  a.addEventListener("click", () => { hits.hidden = true; });
  item.append(a);
  return item;
}

by("find").addEventListener("submit", (e) => { e.preventDefault(); hits.querySelector("a")?.click(); });
document.addEventListener("click", (e) => { if (!by("find").contains(e.target)) hits.hidden = true; });
document.addEventListener("keydown", (e) => {
  if (e.key === "/" && !/^(input|select|textarea)$/i.test(document.activeElement.tagName)) { e.preventDefault(); words.focus(); }
  if (e.key === "Escape") { hits.hidden = true; words.blur(); }
});
