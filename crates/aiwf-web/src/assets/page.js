// The page works without this file. It keeps the page up to date, keeps drafts, copies, and reads keys.
(function () {
  "use strict";
  var body = document.body;
  function all(selector, root) { return Array.prototype.slice.call((root || document).querySelectorAll(selector)); }
  function one(selector) { return document.querySelector(selector); }

  // The secret of the printed address is of no use once a cookie is there.
  if (/^#[0-9a-f]{64}$/.test(location.hash)) history.replaceState(null, "", location.pathname + location.search);

  // Drafts: what was typed stays through updates and reloads until it is sent.
  var PREFIX = "aiwf draft ";
  function fields(form) { return all("textarea[name], input:not([type=hidden]):not([type=radio]):not([type=checkbox])[name]", form); }
  function key(form, field) { return PREFIX + form.dataset.draft + " " + field.name; }
  function store(work) { try { return work(sessionStorage); } catch (refused) { return null; } }
  function restoreDrafts(root) {
    all("form[data-draft]", root).forEach(function (form) {
      fields(form).forEach(function (field) {
        var kept = store(function (storage) { return storage.getItem(key(form, field)); });
        if (kept && !field.value) field.value = kept;
      });
    });
  }
  document.addEventListener("input", function (event) {
    var form = event.target.form;
    if (!form || !form.dataset.draft || !event.target.name) return;
    store(function (storage) {
      if (event.target.value) storage.setItem(key(form, event.target), event.target.value);
      else storage.removeItem(key(form, event.target));
    });
  });
  document.addEventListener("submit", function (event) {
    var form = event.target, button = event.submitter;
    if (form.method !== "post") return;
    // A second click decides nothing twice.
    if (form.dataset.sent) { event.preventDefault(); return; }
    form.dataset.sent = "yes";
    setTimeout(function () { if (button) button.disabled = true; }, 0);
    if (form.dataset.draft && !(button && button.formAction && /\/check$/.test(button.formAction)))
      fields(form).forEach(function (field) { store(function (storage) { storage.removeItem(key(form, field)); }); });
  });
  addEventListener("pageshow", function () {
    all("form[data-sent]").forEach(function (form) {
      delete form.dataset.sent;
      all("button", form).forEach(function (button) { button.disabled = false; });
    });
  });

  // A range of lines: click the first, then the last with Shift.
  document.addEventListener("click", function (event) {
    var link = event.shiftKey && event.target.closest && event.target.closest("a[aria-label^='Line ']"), form = one("#comment");
    if (!link || !form || !link.closest(".file, .prose, .source").contains(form)) return;
    event.preventDefault();
    var line = Number(link.textContent), first = one("#comment-from"), last = one("#comment-to");
    if (line < Number(first.value)) first.value = line; else last.value = line;
    one("#comment-text").focus();
  });

  // Copy, and dropped files.
  function prepare(root) {
    all(".needs-script", root).forEach(function (element) { element.hidden = false; });
    restoreDrafts(root);
  }
  document.addEventListener("click", function (event) {
    var button = event.target.closest("[data-copy]");
    if (!button) return;
    var source = document.getElementById(button.dataset.copy), label = "Copy";
    function said(text) { button.textContent = text; setTimeout(function () { button.textContent = label; }, 2000); }
    function select() {
      var details = source.closest("details");
      if (details) details.open = true;
      source.select();
      said(document.execCommand("copy") ? "Copied" : "Press Ctrl-C");
    }
    if (navigator.clipboard) navigator.clipboard.writeText(source.value).then(function () { said("Copied"); }, select);
    else select();
  });
  document.addEventListener("dragover", function (event) {
    var field = event.target.closest && event.target.closest("[data-drop]");
    if (field) { event.preventDefault(); field.classList.add("dropping"); }
  });
  document.addEventListener("dragleave", function (event) {
    if (event.target.classList) event.target.classList.remove("dropping");
  });
  document.addEventListener("drop", function (event) {
    var field = event.target.closest && event.target.closest("[data-drop]");
    if (!field) return;
    field.classList.remove("dropping");
    var file = event.dataTransfer.files[0];
    if (!file) return;
    event.preventDefault();
    file.text().then(function (text) {
      field.value = text;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    });
  });

  // Live: one stream for the page; parts that changed are replaced, and what the user is writing in stays.
  var stream = null, position = body.dataset.position || null, waiting = false, again = false;
  function status(text) { var link = one("#link"); if (link && link.textContent !== text) link.textContent = text; }
  function isWriting(element) {
    var active = document.activeElement;
    return active && element.contains(active) && /^(TEXTAREA|INPUT|SELECT)$/.test(active.tagName);
  }
  function hasDraft(element) {
    return all("textarea:not([readonly]), input[type=text], input:not([type])", element).some(function (field) { return field.value !== field.defaultValue; });
  }
  function path(element) {
    if (!element || element === body) return null;
    if (element.id) return "#" + CSS.escape(element.id);
    var holder = element.closest("[id]");
    if (!holder) return null;
    var same = all(element.tagName, holder);
    return { holder: "#" + CSS.escape(holder.id), tag: element.tagName, index: same.indexOf(element) };
  }
  function find(place) {
    if (!place) return null;
    if (typeof place === "string") return one(place);
    var holder = one(place.holder);
    return holder && all(place.tag, holder)[place.index];
  }
  var MARKED = ["[data-change]", "[data-comment]"];
  function isHere(item) { return item.classList.contains("here"); }
  function swap(fresh) {
    var focused = document.activeElement, place = path(focused), current = selected();
    var chosen = current && path(current.querySelector("a, summary, h3"));
    var marks = MARKED.map(function (selector) { return all(selector).findIndex(isHere); });
    var wanted = all("[data-swap]", fresh), known = {};
    wanted.forEach(function (part) { known[part.id] = true; });
    all("[data-swap]").forEach(function (part) {
      if (known[part.id]) return;
      if (isWriting(part) || hasDraft(part)) notice(part); else part.remove();
    });
    wanted.forEach(function (part, index) {
      var old = document.getElementById(part.id), copy = document.importNode(part, true);
      if (old && old.isEqualNode(part)) return;
      if (!old) {
        // A new part stands after the one before it in the same column.
        var column = part.parentElement, home = column && column.id && document.getElementById(column.id), before = null;
        for (var at = index - 1; at >= 0 && !before; at--) if (wanted[at].parentElement === column) before = document.getElementById(wanted[at].id);
        if (before) before.after(copy); else if (home) home.prepend(copy); else one("#main").append(copy);
      } else if (isWriting(old) || hasDraft(old)) {
        // The gate moves on with the rest of the page only when the text is sent or given up.
        notice(old);
        return;
      } else {
        var open = all("details[open] > summary", old).map(function (summary) { return summary.textContent; });
        old.replaceWith(copy);
        all("details > summary", copy).forEach(function (summary) { if (open.indexOf(summary.textContent) >= 0) summary.parentNode.open = true; });
      }
      prepare(copy);
    });
    if (focused && !document.contains(focused)) { var back = find(place); if (back) back.focus({ preventScroll: true }); }
    if (chosen) { var item = find(chosen); item = item && item.closest("[data-item]"); if (item) item.classList.add("here"); }
    // The change and the comment that the keys are at.
    MARKED.forEach(function (selector, index) {
      var marked = all(selector), item = marked[marks[index]];
      if (item && !marked.some(isHere)) item.classList.add("here");
    });
    var columns = one("#columns"), now = fresh.querySelector("#columns");
    if (columns && now) columns.className = now.className;
    if (fresh.title) document.title = fresh.title;
  }
  function notice(part) {
    if (part.querySelector("[data-notice]")) return;
    var line = document.createElement("p");
    line.className = "note warn";
    line.dataset.notice = "yes";
    line.setAttribute("role", "status");
    line.textContent = "The session has changed while you were writing. ";
    var link = document.createElement("a");
    link.href = location.pathname + location.search;
    link.textContent = "Show the current version";
    line.append(link, " (your text is kept).");
    part.prepend(line);
  }
  function refresh() {
    if (waiting) { again = true; return; }
    waiting = true;
    fetch(location.pathname + location.search, { credentials: "same-origin", headers: { Accept: "text/html" } }).then(function (answer) {
      if (answer.status === 401) { status("signed out: open the address that the terminal printed"); close(); return null; }
      return answer.text();
    }).then(function (text) {
      if (text !== null) swap(new DOMParser().parseFromString(text, "text/html"));
    }).catch(function () { status("not connected"); }).then(function () {
      waiting = false;
      if (again) { again = false; refresh(); }
    });
  }
  function showLive(live) {
    var box = one("#live"), text = one("#live-text"), lines = one("#live-lines");
    if (!box || !text || !lines) return;
    box.hidden = !live.text && !live.lines.length;
    lines.replaceChildren.apply(lines, live.lines.map(function (line) { var item = document.createElement("li"); item.textContent = line; return item; }));
    var isAtEnd = text.scrollTop + text.clientHeight >= text.scrollHeight - 8;
    text.textContent = live.text;
    text.hidden = !live.text;
    if (isAtEnd) text.scrollTop = text.scrollHeight;
  }
  function close() { if (stream) { stream.close(); stream = null; } }
  function listen() {
    if (stream || !body.dataset.live || !window.EventSource) return;
    stream = new EventSource(body.dataset.live);
    stream.addEventListener("open", function () { status(""); });
    stream.addEventListener("error", function () { status("not connected, trying again"); });
    stream.addEventListener("here", function (event) {
      // The page may be older than the stream: it was in the background, or came from the history.
      if (position !== null && position !== event.data) refresh();
      position = event.data;
    });
    stream.addEventListener("changed", function (event) { position = event.data; refresh(); });
    stream.addEventListener("lines", function (event) {
      var lines; try { lines = JSON.parse(event.data); } catch (broken) { return; }
      all("[data-line]").forEach(function (place) { if (lines[place.dataset.line]) place.textContent = lines[place.dataset.line]; });
    });
    stream.addEventListener("live", function (event) { try { showLive(JSON.parse(event.data)); } catch (broken) { return; } });
  }
  document.addEventListener("visibilitychange", function () {
    if (document.hidden) close();
    else { if (body.dataset.live && !stream && body.dataset.live === "/live") refresh(); listen(); }
  });
  addEventListener("pagehide", close);

  // Keys.
  var lastKey = "", lastAt = 0;
  function isTyping(element) { return element && (element.isContentEditable || /^(TEXTAREA|SELECT)$/.test(element.tagName) || (element.tagName === "INPUT" && !/^(button|submit|radio|checkbox)$/.test(element.type))); }
  function selected() { return one("[data-item].here"); }
  function step(selector, mark, by) {
    var items = all(selector).filter(function (item) { return item.offsetParent !== null; });
    if (!items.length) return;
    var at = items.findIndex(isHere);
    var next = at < 0 ? (by > 0 ? 0 : items.length - 1) : Math.min(items.length - 1, Math.max(0, at + by));
    all("." + mark).forEach(function (item) { item.classList.remove(mark); });
    items[next].classList.add(mark);
    var link = items[next].querySelector("a, summary, button");
    if (link && items[next].matches("[data-item]")) link.focus({ preventScroll: true });
    items[next].scrollIntoView({ block: "center" });
  }
  function press(selector) { var target = one(selector); if (target) { target.click(); return true; } return false; }
  function goTo(selector) { var target = one(selector); if (target) { target.focus(); target.scrollIntoView({ block: "center" }); return true; } return false; }
  function approve() { return press("form[data-verb=approve] button") || press("form[data-verb=continue] button"); }
  document.addEventListener("keydown", function (event) {
    var typing = isTyping(event.target);
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      if (typing && event.target.form && event.target.form.method === "post") {
        event.preventDefault();
        event.target.form.requestSubmit(event.target.form.querySelector("button:not([formaction])"));
      } else if (!typing) {
        event.preventDefault();
        if (!press("form[data-send-comments] button")) approve();
      }
      return;
    }
    if (typing || event.ctrlKey || event.metaKey || event.altKey || one("dialog[open]")) return;
    var now = Date.now(), chord = now - lastAt < 1000 ? lastKey + event.key : "";
    lastKey = event.key; lastAt = now;
    var done = true;
    if (chord === "gi") location.href = "/";
    else if (event.key === "j") step("[data-item]", "here", 1);
    else if (event.key === "k") step("[data-item]", "here", -1);
    else if (event.key === "n") step("[data-change]", "here", 1);
    else if (event.key === "p") step("[data-change]", "here", -1);
    else if (event.key === "]") step("[data-comment]", "here", 1);
    else if (event.key === "[") step("[data-comment]", "here", -1);
    else if (event.key === "a") approve();
    else if (event.key === "r") done = goTo("form[data-verb=reject] textarea");
    else if (event.key === "c") done = goTo("form[data-verb=comment] textarea") || press(".here a[aria-label^='Line ']") || press("[data-comment-here]") || press("main a[aria-label^='Line ']");
    else if (event.key === "d") done = press("[data-key=d]");
    else if (event.key === "/") done = goTo("input[type=search]") || ((location.href = "/"), true);
    else if (event.key === "?") one("#keys").showModal();
    else if (event.key === "Enter" && selected() && event.target === body) { var link = selected().querySelector("a"); if (link) link.click(); }
    else done = false;
    if (done) event.preventDefault();
  });
  var keys = one("#show-keys");
  if (keys) keys.addEventListener("click", function () { one("#keys").showModal(); });

  prepare(document);
  // The browser takes the focus away when it has gone to the fragment.
  if (location.hash === "#comment") addEventListener("load", function () { setTimeout(function () { goTo("#comment-text"); }, 0); });
  if (!document.hidden) listen();
})();
