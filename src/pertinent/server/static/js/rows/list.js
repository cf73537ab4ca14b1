/**
 * The rows of the data in a list that draws only what is seen. Pages of rows are fetched as they
 * come into sight, so that a million rows are as quick as a hundred.
 */

import * as api from "../core/api.js";
import { button, download, fill, h, notify } from "../core/dom.js";
import { className, counted, number, percent, plain } from "../core/format.js";
import * as store from "../core/state.js";
import { choose, chooseRandom } from "../case/live.js";
import * as filters from "./filters.js";

/** @typedef {import("../core/types.js").Model} Model */

const HEIGHT = 36;
const PAGE = 100;
/** Browsers draw no element taller than about 16 million pixels. */
const TALLEST = 8_000_000;
/** Pages that are kept. */
const KEPT = 40;

/**
 * @param {HTMLElement} place
 * @param {Model} model
 */
export function start(place, model) {
  const shown = model.features.slice(0, 12);
  const status = h("p", { class: "soft", role: "status" });
  const body = h("div", { class: "window" });
  const tall = h("div", { class: "tall" });
  const view = h("div", { class: "list", role: "grid", tabindex: 0, "aria-label": "Rows", "aria-colcount": shown.length + 3 }, heading(shown, model), tall, body);
  const id = h("input", { id: "row-id", autocomplete: "off" });
  const tools = h("div", {});
  fill(place,
    h("div", { class: "bar" },
      h("form", { class: "bar", on: { submit: (/** @type {Event} */ event) => { event.preventDefault(); if (id.value.trim()) open(id.value.trim()); } } },
        h("label", { for: id.id }, "Row"), id, h("button", {}, "Open"),
        button("Random row", async () => { if (!(await chooseRandom())) notify("No row matches the filters."); })),
      sorting(model), reporting()),
    tools, status, view);
  filters.start(tools, model, "rows");

  /** @type {Map<number, any[]>} */
  let pages = new Map();
  let matching = 0;
  let active = 0;
  let asked = 0;
  /** @type {Set<number>} */
  const wanted = new Set();
  /** @type {any} */
  let timer = 0;

  async function open(/** @type {string} */ text) {
    try {
      choose((await api.row(text)).id);
    } catch (error) {
      notify(/** @type {Error} */ (error).message);
    }
  }
  const scale = () => Math.min(1, TALLEST / Math.max(1, matching * HEIGHT));
  const inner = () => Math.max(1, view.clientHeight - HEIGHT);
  const seen = () => Math.ceil(inner() / HEIGHT) + 1;
  /** The first row in sight. A list that is drawn shorter than it is is scrolled in proportion. */
  const first = () => {
    if (scale() === 1) return Math.floor(view.scrollTop / HEIGHT);
    const end = Math.max(1, tall.offsetHeight - inner());
    return Math.round((Math.min(1, view.scrollTop / end)) * Math.max(0, matching - seen() + 1));
  };

  async function fetchPage(/** @type {number} */ page, again = false) {
    if ((pages.has(page) && !again) || wanted.has(page)) return;
    wanted.add(page);
    const version = asked;
    const { filters: given, sort, order } = store.get();
    try {
      const found = await api.rows({ filters: given, sort, order, offset: page * PAGE, limit: PAGE });
      if (version !== asked) return;
      pages.set(page, found.rows);
      if (pages.size > KEPT) pages.delete(/** @type {number} */ (pages.keys().next().value));
      wanted.delete(page);
      told(found);
      draw();
    } catch (error) {
      // Not drawn again, which would ask again: whoever scrolls, or asks for other rows, does.
      if (version !== asked) return;
      wanted.delete(page);
      status.textContent = /** @type {Error} */ (error).message;
    }
  }

  /** Take in how many rows match, and how far the scores are. @param {any} found */
  function told(found) {
    matching = found.matching;
    tall.style.height = `${Math.min(TALLEST, matching * HEIGHT)}px`;
    view.setAttribute("aria-rowcount", String(matching + 1));
    const of = found.matching === found.total ? "" : ` of ${number(found.total)}`;
    status.textContent = `${counted(matching, "row")}${of}${found.scored < 1 ? ` · scores ${percent(found.scored)}` : ""}`;
    clearTimeout(timer);
    if (found.scored < 1) timer = setTimeout(again, 1000);
  }
  /** Ask again for what is in sight: scores came in behind. */
  function again() {
    if (store.get().view !== "rows") return;
    const at = Math.floor(first() / PAGE);
    for (const page of pages.keys()) if (page !== at) pages.delete(page);
    fetchPage(at, true);
  }

  function draw() {
    if (store.get().view !== "rows") return;
    const from = first();
    const to = Math.min(matching, from + seen());
    const top = scale() === 1 ? from * HEIGHT : view.scrollTop;
    body.style.transform = `translateY(${top}px)`;
    const lines = [];
    for (let i = from; i < Math.max(to, from); i++) {
      const page = pages.get(Math.floor(i / PAGE));
      lines.push(line(model, shown, i, page?.[i % PAGE], i === active));
    }
    fill(body, lines);
    view.setAttribute("aria-activedescendant", active >= from && active < to ? `row-${active}` : "");
    for (const page of new Set([Math.floor(from / PAGE), Math.floor(Math.max(from, to - 1) / PAGE)])) fetchPage(page);
  }

  function reset() {
    asked++;
    pages = new Map();
    wanted.clear();
    active = 0;
    view.scrollTop = 0;
    draw();
  }
  /** Move the row that the keyboard is on, and scroll to it. @param {number} to */
  function go(to) {
    active = Math.min(Math.max(to, 0), Math.max(0, matching - 1));
    const from = first();
    const whole = seen() - 2;
    if (active < from || active > from + whole - 1) {
      const top = active < from ? active : active - whole + 1;
      const end = Math.max(1, tall.offsetHeight - inner());
      view.scrollTop = scale() === 1 ? top * HEIGHT : (top / Math.max(1, matching - seen() + 1)) * end;
    }
    draw();
  }
  view.addEventListener("scroll", () => requestAnimationFrame(draw));
  view.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const jump = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + seen() - 2, PageUp: active - seen() + 2, Home: 0, End: matching - 1 }[event.key];
    if (jump !== undefined) {
      event.preventDefault();
      go(jump);
    } else if (event.key === "Enter") {
      const row = pages.get(Math.floor(active / PAGE))?.[active % PAGE];
      if (row) choose(row.id);
    }
  });
  body.addEventListener("click", (/** @type {MouseEvent} */ event) => {
    const at = /** @type {HTMLElement} */ (event.target).closest("[data-index]");
    const index = Number(at?.getAttribute("data-index") ?? -1);
    const row = pages.get(Math.floor(index / PAGE))?.[index % PAGE];
    if (row) choose(row.id);
  });
  new ResizeObserver(() => draw()).observe(view);
  store.listen(["filters", "sort", "order"], reset);
  store.listen(["view"], draw);
  draw();
}

/** @param {import("../core/types.js").Feature[]} shown @param {Model} model */
function heading(shown, model) {
  const cell = (/** @type {string} */ words, /** @type {string} */ kind) => h("span", { role: "columnheader", class: kind }, words);
  return h("div", { class: "line heads", role: "row", "aria-rowindex": 1 }, cell("row", "id"), cell("class", "class"),
    model.has_probability && cell("prob.", "n"), shown.map((f) => cell(f.text ?? f.name, isNumber(f) ? "n" : "")));
}

/** @param {import("../core/types.js").Feature} f */
const isNumber = (f) => f.kind === "number" || f.kind === "integer";

/**
 * @param {Model} model @param {import("../core/types.js").Feature[]} shown @param {number} index
 * @param {any} row @param {boolean} isActive
 */
function line(model, shown, index, row, isActive) {
  const cell = (/** @type {string} */ words, /** @type {string} */ kind) => h("span", { role: "gridcell", class: kind }, words);
  const scored = row && row.predicted !== null && row.predicted !== undefined;
  return h("div", { class: isActive ? "line active" : "line", role: "row", id: `row-${index}`, "aria-rowindex": index + 2, "aria-selected": isActive ? "true" : "false", dataset: { index } },
    cell(row ? String(row.id) : "…", "id"), cell(scored ? className(model, row.predicted) : "", "class"),
    model.has_probability && cell(scored ? percent(row.probability) : "", "n"),
    shown.map((f) => cell(row ? plain(row.values[f.name]) : "", isNumber(f) ? "n" : "")));
}

/** The report of the first rows of the list. */
function reporting() {
  const made = button(`Report of the first ${PAGE}`, async () => {
    made.disabled = true;
    try {
      const state = store.get();
      const found = await api.rows({ filters: state.filters, sort: state.sort, order: state.order, limit: PAGE });
      const { rows: _, ...question } = api.question(state, []);
      const ids = found.rows.map((/** @type {any} */ row) => row.id);
      if (ids.length) download("report.html", await api.report({ ...question, ids }), "text/html");
      else notify("No row matches the filters.");
    } catch (error) {
      notify(/** @type {Error} */ (error).message);
    } finally {
      made.disabled = false;
    }
  });
  return made;
}

/** @param {Model} model */
function sorting(model) {
  const keys = [["@id", "the order of the data"], ["@class", "class"], ["@score", "probability"], ...model.features.map((f) => [f.name, f.text ?? f.name])];
  const select = h("select", { id: "sort" });
  const way = button("", () => store.set({ order: store.get().order === "asc" ? "desc" : "asc" }));
  const draw = () => {
    fill(select, keys.map(([key, words]) => h("option", { value: key, selected: key === store.get().sort }, words)));
    way.textContent = store.get().order === "asc" ? "ascending" : "descending";
  };
  select.addEventListener("change", () => store.set({ sort: select.value }));
  store.listen(["sort", "order"], draw);
  draw();
  return h("div", { class: "bar" }, h("label", { for: select.id }, "Sort by"), select, way);
}
