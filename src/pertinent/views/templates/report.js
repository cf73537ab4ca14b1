"use strict";
(() => {
  const data = JSON.parse(document.getElementById("p-data").textContent);
  const rows = Array.from(document.querySelectorAll(".rows details"));
  const words = rows.map((row) => row.textContent.toLowerCase());
  const find = document.getElementById("p-find");
  const label = document.getElementById("p-class");
  const status = document.getElementById("p-status");
  const shown = document.getElementById("p-shown");
  document.querySelector(".find").classList.remove("none");

  const filter = () => {
    const asked = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    rows.forEach((row, i) => {
      const ok = asked.every((word) => words[i].includes(word)) &&
        (!label.value || row.dataset.k === label.value) &&
        (!status.value || row.dataset.s === status.value);
      row.classList.toggle("none", !ok);
      count += ok;
    });
    shown.textContent = `${count.toLocaleString("en")} of ${rows.length.toLocaleString("en")} shown`;
  };
  [find, label, status].forEach((field) => field.addEventListener("input", filter));
  filter();

  const mark = (track, name, left, width) => {
    const i = document.createElement("i");
    i.className = name;
    i.style.setProperty("--l", left / 10);
    if (width !== undefined) i.style.setProperty("--w", width / 10);
    track.append(i);
  };
  const span = (parent, name, text) => {
    const s = document.createElement("span");
    s.className = name;
    s.textContent = text;
    parent.append(" ", s);
  };
  // One strip: [feature, baseline, sample, kept, changed, low, high, own text, new text, base text,
  // text of what was enough if it is not the own value]; places in thousandths, -1 where none is.
  const strip = ([f, b, s, k, c, low, high, own, fresh, base, kept]) => {
    const li = document.createElement("li");
    const name = document.createElement("b");
    name.textContent = data.features[f];
    const track = document.createElement("span");
    track.className = "p-track";
    track.setAttribute("aria-hidden", "true");
    if (low >= 0) mark(track, "p-r", low, high - low);
    if (k >= 0) mark(track, "p-k", Math.min(b, k), Math.abs(b - k));
    if (c >= 0) mark(track, c < s ? "p-c p-left" : "p-c", Math.min(s, c), Math.abs(s - c));
    mark(track, "p-b", b);
    mark(track, "p-s", s);
    const side = document.createElement("span");
    side.textContent = own;
    if (k >= 0) span(side, "p-kept", kept ? `(${kept} was enough)` : "was enough");
    if (c >= 0) span(side, "p-changed", `→ ${fresh}`);
    span(side, "p-soft", base);
    li.append(name, track, side);
    return li;
  };
  const draw = (row, i) => {
    if (row.dataset.drawn || !data.rows[i].length) return;
    row.dataset.drawn = "1";
    const list = document.createElement("ul");
    list.className = "p-strips";
    list.append(...data.rows[i].map(strip));
    row.querySelector("div").prepend(list);
  };
  rows.forEach((row, i) => row.addEventListener("toggle", () => row.open && draw(row, i)));
  // Paper has no toggles: few rows are opened before printing, many stay as one line each.
  addEventListener("beforeprint", () => {
    const visible = rows.filter((row) => !row.classList.contains("none"));
    if (visible.length <= 50) visible.forEach((row) => { draw(row, rows.indexOf(row)); row.open = true; });
  });
})();
