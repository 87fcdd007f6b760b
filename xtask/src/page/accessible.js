// Rules of our own, after WCAG 2.2 AA: returns what is wrong with the page as a list of sentences.
var found = [];
function visible(element) {
  var style = getComputedStyle(element), box = element.getBoundingClientRect();
  return style.visibility !== "hidden" && style.display !== "none" && box.width > 0 && box.height > 0 && !element.closest(".off, .skip, [hidden], dialog:not([open])");
}
function words(element) { return element.outerHTML.slice(0, 120); }
function name(element) {
  var label = element.getAttribute("aria-label");
  if (label) return label;
  var by = element.getAttribute("aria-labelledby");
  if (by) return by.split(" ").map(function (id) { var part = document.getElementById(id); return part ? part.textContent : ""; }).join(" ").trim();
  if (element.labels && element.labels.length) return element.labels[0].textContent.trim();
  return (element.textContent || element.title || "").trim();
}
function channel(value) { value /= 255; return value <= 0.04045 ? value / 12.92 : Math.pow((value + 0.055) / 1.055, 2.4); }
function light(color) { return 0.2126 * channel(color[0]) + 0.7152 * channel(color[1]) + 0.0722 * channel(color[2]); }
function parse(text) { var parts = text.match(/[\d.]+/g).map(Number); return parts.length < 4 ? parts.concat(1) : parts; }
function behind(element) {
  for (var at = element; at; at = at.parentElement) { var color = parse(getComputedStyle(at).backgroundColor); if (color[3] > 0.99) return color; }
  return matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18, 1] : [255, 255, 255, 1];
}
if (!document.documentElement.lang) found.push("the page has no language");
if (!document.title) found.push("the page has no title");
["main", "header", "nav"].forEach(function (tag) { if (!document.querySelector(tag)) found.push("there is no <" + tag + ">"); });
if (document.querySelectorAll("h1").length !== 1) found.push("there is not exactly one <h1>");
var last = 0;
document.querySelectorAll("main h1, main h2, main h3, main h4").forEach(function (heading) {
  if (heading.closest(".prose") || !visible(heading)) return;
  var level = Number(heading.tagName[1]);
  if (level > last + 1) found.push("a heading skips a level: " + words(heading));
  last = level;
});
var ids = {};
document.querySelectorAll("[id]").forEach(function (element) { if (ids[element.id]) found.push("two elements have the id " + element.id); ids[element.id] = true; });
document.querySelectorAll("a[href], button, summary, input:not([type=hidden]), select, textarea").forEach(function (element) {
  if (!visible(element)) return;
  if (!name(element)) found.push("a control has no name: " + words(element));
  var box = element.getBoundingClientRect();
  if (/^(BUTTON|INPUT|SELECT|TEXTAREA)$/.test(element.tagName) && !/^(radio|checkbox)$/.test(element.type) && (box.height < 24 || box.width < 24)) found.push("a control is too small: " + words(element));
  if (element.tabIndex > 0) found.push("a control changes the order of the keyboard: " + words(element));
});
document.querySelectorAll("img:not([alt]), svg:not([aria-hidden]):not([role])").forEach(function (element) { if (visible(element)) found.push("a picture has no role or text: " + words(element)); });
document.querySelectorAll("[role=img]").forEach(function (element) { if (!name(element)) found.push("a picture has no name: " + words(element)); });
document.querySelectorAll("table").forEach(function (table) { if (!table.querySelector("th") && !table.closest(".prose")) found.push("a table has no headings: " + words(table)); });
document.querySelectorAll("section").forEach(function (section) { if (!name(section)) found.push("a section has no name: " + words(section)); });
document.querySelectorAll("ul, ol").forEach(function (list) { Array.prototype.forEach.call(list.children, function (child) { if (child.tagName !== "LI") found.push("a list has something that is no item: " + words(child)); }); });
document.querySelectorAll("pre, .table, .source").forEach(function (box) {
  if (visible(box) && (box.scrollHeight > box.clientHeight + 1 || box.scrollWidth > box.clientWidth + 1) && box.tabIndex < 0 && !box.closest(".prose")) found.push("a box that scrolls cannot be reached by keyboard: " + words(box));
});
var walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), seen = 0;
while (walker.nextNode() && seen < 4000) {
  var text = walker.currentNode, parent = text.parentElement;
  if (!text.textContent.trim() || !parent || !visible(parent) || parent.closest("svg, option, [disabled], script, style")) continue;
  seen++;
  var style = getComputedStyle(parent), front = parse(style.color), back = behind(parent);
  var a = light(front) + 0.05, b = light(back) + 0.05, ratio = a > b ? a / b : b / a;
  var large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
  if (ratio < (large ? 3 : 4.5)) found.push("contrast " + ratio.toFixed(2) + " is too low: " + words(parent));
}
if (document.documentElement.scrollWidth > document.documentElement.clientWidth + 1) found.push("the page scrolls sideways: " + document.documentElement.scrollWidth + " of " + document.documentElement.clientWidth);
return found;
