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

  // Rows without a number come last, whichever way; equal ones keep the order of the table.
  const order = document.getElementById("p-order");
  if (data.orders.every(([, , probability]) => probability === null))
    order.querySelectorAll('option[value^="2,"]').forEach((option) => option.remove());
  order.addEventListener("input", () => {
    const [by, sign] = order.value ? order.value.split(",").map(Number) : [null, 1];
    const key = (i) => (by === null ? i : data.orders[i][by]);
    const compare = (i, j) => {
      const [a, b] = [key(i), key(j)];
      if (a === null || b === null) return (a === null) - (b === null) || i - j;
      return sign * (a - b) || i - j;
    };
    const list = document.querySelector(".rows");
    rows.map((_, i) => i).sort(compare).forEach((i) => list.append(rows[i]));
  });

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
    if (row.dataset.drawn) return;
    row.dataset.drawn = "1";
    row.querySelector("div").append(button(row));
    if (!data.rows[i].length) return;
    const list = document.createElement("ul");
    list.className = "p-strips";
    list.append(...data.rows[i].map(strip));
    row.querySelector("div").prepend(list);
  };
  rows.forEach((row, i) => row.addEventListener("toggle", () => row.open && draw(row, i)));
  // Paper has no toggles: few rows are opened before printing, each on a page of its own, and
  // closed again after it; many stay as one line each.
  let opened = [];
  addEventListener("beforeprint", () => {
    const visible = rows.filter((row) => !row.classList.contains("none"));
    const alone = document.body.classList.contains("alone");
    opened = alone || visible.length > 50 ? [] : visible.filter((row) => !row.open);
    opened.forEach((row) => { draw(row, rows.indexOf(row)); row.open = true; });
  });
  addEventListener("afterprint", () => {
    opened.forEach((row) => { row.open = false; });
    document.body.classList.remove("alone");
    document.querySelectorAll(".chosen").forEach((row) => row.classList.remove("chosen"));
  });
  const button = (row) => {
    const print = document.createElement("button");
    print.type = "button";
    print.className = "screen";
    print.textContent = "Print this case";
    print.addEventListener("click", () => {
      document.body.classList.add("alone");
      row.classList.add("chosen");
      window.print();
    });
    return print;
  };
})();
