// Live updates and keys. Without this file everything works by reloading.
"use strict";
(() => {
  const status = () => document.getElementById("live");
  const live = document.body.dataset.live === "1";
  let pending = false, busy = false, again = false;

  const typing = () => {
    const e = document.activeElement;
    return e && /^(INPUT|SELECT|TEXTAREA)$/.test(e.tagName);
  };

  // told is when the lead was announced: the time of an update right after it must not take its place.
  let told = -Infinity;

  // say announces without repeating itself.
  const say = (text) => {
    const s = status();
    if (s && s.textContent !== text) s.textContent = text;
  };

  // renew replaces the parts that are different, so that where one stands, what one
  // has selected and how far one has scrolled in the others stays.
  const renew = (now, next) => {
    const kind = (e) => e.tagName + "#" + e.id, folded = (e) => e.outerHTML.replaceAll(' open=""', "");
    const have = [...now.children], come = [...next.children];
    if (have.length !== come.length || have.some((e, i) => kind(e) !== kind(come[i]))) {
      now.replaceChildren(...next.childNodes);
      return;
    }
    have.forEach((e, i) => { if (folded(e) !== folded(come[i])) e.replaceWith(come[i]); });
  };

  const update = async () => {
    if (busy) { again = true; return; }
    if (document.hidden || typing()) { pending = true; if (typing()) say("There is something new; it is shown when you leave the field."); return; }
    pending = false;
    busy = true;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" }, redirect: "error" });
      if (!answer.ok) { say("The dashboard cannot show this any more; reload."); return; }
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (page.body.dataset.version === document.body.dataset.version) return;
      const open = [...document.querySelectorAll("details[open][id]")].map((d) => d.id);
      const focus = document.activeElement, href = focus?.getAttribute("href"), home = focus?.closest("[id]")?.id;
      const before = document.getElementById("lead")?.textContent;
      for (const id of ["top", "main"]) {
        const now = document.getElementById(id), next = page.getElementById(id);
        if (now && next) renew(now, next);
      }
      for (const id of open) { const d = document.getElementById(id); if (d) d.open = true; }
      if (focus && !focus.isConnected) {
        const place = home && document.getElementById(home) || document.getElementById("main");
        (place.querySelector(href ? `a[href="${CSS.escape(href)}"]` : focus.tagName) || place).focus({ preventScroll: true });
      }
      document.body.dataset.version = page.body.dataset.version;
      document.title = page.title;
      const lead = document.getElementById("lead")?.textContent;
      if (lead && lead !== before) { say(lead); told = performance.now(); }
      else if (performance.now() - told > 10_000) say("Updated at " + new Date().toLocaleTimeString() + ".");
    } catch {
      say("The dashboard does not answer; it is tried again.");
    } finally {
      busy = false;
      if (again) { again = false; update(); }
    }
  };

  // A browser has six connections to one server: only a page that is seen may hold one.
  let events = null;
  const listen = () => {
    if (!live || events || document.hidden) return;
    events = new EventSource("/events");
    events.addEventListener("change", update);
    events.addEventListener("hello", (e) => {
      try {
        if (String(JSON.parse(e.data).version) !== document.body.dataset.version) update();
      } catch { /* not ours */ }
    });
    events.onerror = () => say("The dashboard does not answer; it is tried again.");
    events.onopen = () => say("Live.");
  };
  const hush = () => { if (events) { events.close(); events = null; } };
  listen();
  addEventListener("pagehide", hush);
  addEventListener("pageshow", listen);
  document.addEventListener("visibilitychange", () => { if (document.hidden) hush(); else { listen(); if (pending) update(); } });
  document.addEventListener("focusout", () => { if (pending) setTimeout(() => { if (!typing()) update(); }, 200); });

  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "Escape" && typing()) { document.activeElement.blur(); return; }
    if (typing()) return;
    const links = () => [...document.querySelectorAll("main a[href]")];
    if (e.key === "/") { document.getElementById("q")?.focus(); e.preventDefault(); }
    else if (e.key === "r") { location.reload(); }
    else if (e.key === "j" || e.key === "k") {
      const all = links(), at = all.indexOf(document.activeElement);
      const to = e.key === "j" ? at + 1 : at < 0 ? all.length - 1 : at - 1;
      all[Math.max(0, Math.min(all.length - 1, to))]?.focus();
    } else if (/^[1-9]$/.test(e.key)) { document.querySelectorAll("nav a")[+e.key - 1]?.click(); }
  });
})();
