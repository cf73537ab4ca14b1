/** Cohorts: the share with an answer and its cost by group, the gap between groups, their rows. */

import * as api from "../core/api.js";
import { button, fill, h, svg } from "../core/dom.js";
import { brief, counted, number, percent } from "../core/format.js";
import * as store from "../core/state.js";
import { choose } from "../case/live.js";
import * as filters from "../rows/filters.js";

/** @typedef {import("../core/types.js").Model} Model */

/** What features are called. @type {Map<string, string>} */
let names = new Map();

/**
 * @param {HTMLElement} place
 * @param {Model} model
 */
export function start(place, model) {
  names = new Map(model.features.map((f) => [f.name, f.text ?? f.name]));
  const tools = h("div", {});
  const found = h("div", { class: "cohorts", "aria-live": "polite" });
  const by = h("select", { id: "cohort-by" });
  const most = h("select", { id: "cohort-rows" }, [100, 300, 1000].map((count) => h("option", { value: count, selected: count === 300 }, number(count))));
  const go = button("Compare", () => ask(), { class: "primary" });
  fill(place, h("div", { class: "bar" },
    h("label", { for: by.id }, "Compare groups of"), by,
    h("label", { for: most.id }, "rows, at most"), most, go), tools, found);
  filters.start(tools, model, "cohorts");
  by.addEventListener("change", () => store.set({ by: by.value }));
  const draw = () => fill(by, [["@class", "predicted class"], ...model.features.map((f) => [f.name, f.text ?? f.name])]
    .map(([key, words]) => h("option", { value: key, selected: key === store.get().by }, words)));
  store.listen(["by"], draw);
  draw();

  async function ask() {
    const state = store.get();
    const { rows: _, ...question } = api.question(state, []);
    go.disabled = true;
    found.setAttribute("aria-busy", "true");
    fill(found, h("p", { class: "soft" }, "Explaining the rows of each group…"));
    try {
      const answer = await api.cohorts({ ...question, by: state.by, filters: state.filters.map(api.filterText), sample: Number(most.value) });
      fill(found, outcome(answer, state.by));
    } catch (error) {
      fill(found, h("p", { class: "warn", role: "alert" }, /** @type {Error} */ (error).message));
    } finally {
      go.disabled = false;
      found.setAttribute("aria-busy", "false");
    }
  }
  store.listen(["view"], () => { if (store.get().view === "cohorts" && !found.hasChildNodes()) ask(); });
  if (store.get().view === "cohorts") ask();
}

/** @param {any} answer @param {string} by */
function outcome(answer, by) {
  const groups = answer.groups ?? [];
  const dearest = Math.max(...groups.map((/** @type {any} */ one) => one.median_high ?? one.median_cost ?? 0), 1e-12);
  return [
    h("p", { class: "soft" }, `${counted(answer.rows, "row")} explained of ${number(answer.total)} that match.`),
    answer.gap && gap(answer.gap),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Groups" }, h("table", { class: "groups" },
      h("thead", {}, h("tr", {}, ["Group", "Rows", "With an answer", "Median size of the change", "Changed most often"].map((words) => h("th", { scope: "col" }, words)))),
      h("tbody", {}, groups.map((/** @type {any} */ one) => group(one, dearest))))),
    h("h2", {}, "Rows of the groups"),
    groups.map((/** @type {any} */ one) => members(one, by)),
  ];
}

/** @param {any} one @param {number} dearest */
function group(one, dearest) {
  return h("tr", {}, h("th", { scope: "row" }, one.words), h("td", {}, number(one.n)),
    h("td", {}, whisker(one.share, one.share_low, one.share_high, 1), percent(one.share), interval(one.share_low, one.share_high, roughly)),
    h("td", {}, one.median_cost === null ? "–" : [whisker(one.median_cost, one.median_low, one.median_high, dearest), brief(one.median_cost), interval(one.median_low, one.median_high, brief)]),
    h("td", {}, (one.levers ?? []).slice(0, 3).map((/** @type {any} */ l) => `${names.get(l.feature) ?? l.feature} ${percent(l.share)}`).join(", ")));
}

/** @param {number | null} low @param {number | null} high @param {(v: number) => string} say */
function interval(low, high, say) {
  return low === null || low === undefined || high === null || high === undefined ? null : h("span", { class: "soft" }, ` ${say(low)} to ${say(high)}`);
}

/** A number with so many decimals at most: what is uncertain has no more. @param {number} value @param {number} decimals */
const rounded = (value, decimals) => Number(value.toFixed(decimals)) + 0;

/** A share that is uncertain, in whole percent. @param {number} share */
const roughly = (share) => `${Math.round(100 * share)}%`;

/** A value with its uncertainty, on a scale from 0. @param {number} value @param {number} low @param {number} high @param {number} most */
function whisker(value, low, high, most) {
  const at = (/** @type {number} */ v) => `${(96 * v) / most}%`;
  return svg("svg", { class: "whisker", "aria-hidden": "true", focusable: "false", height: 14 },
    svg("rect", { class: "value", x: 0, y: 3, width: at(value), height: 8 }),
    typeof low === "number" && typeof high === "number" && svg("line", { class: "spread", x1: at(low), x2: at(high), y1: 7, y2: 7 }));
}

/** @param {any} of */
function gap(of) {
  const part = (/** @type {any} */ one, /** @type {(v: number) => string} */ say, /** @type {string} */ what) => {
    if (!one) return null;
    if (one.difference === 0 && one.low === 0 && one.high === 0) return h("li", {}, `${what}: `, h("strong", {}, "no gap"));
    const sure = one.low > 0 || one.high < 0;
    return h("li", {}, `${what}: `, h("strong", {}, say(one.difference)), ` (${say(one.low)} to ${say(one.high)}, 95%)`,
      h("span", { class: "soft" }, sure ? " · 0 lies outside" : " · 0 lies within: it may be chance"));
  };
  const points = (/** @type {number} */ v) => `${number(rounded(100 * v, 1))} points`;
  return h("div", { class: "card" }, h("h2", {}, `The gap between ${of.best} and ${of.worst}`),
    h("ul", {}, part(of.share, points, "share with an answer"), part(of.cost, (v) => number(rounded(v, 2)), "median size of the change")));
}

/** The rows of a group, to look at. @param {any} one @param {string} by */
function members(one, by) {
  const ids = one.ids ?? [];
  return h("details", { class: "members" }, h("summary", {}, `${one.words}: ${counted(one.n, "row")}`),
    h("ul", { class: "tags" }, ids.map((/** @type {any} */ row) => {
      const id = typeof row === "object" ? row.id : row;
      const cost = typeof row === "object" ? row.cost : undefined;
      return h("li", {}, button(`${id}${cost === undefined ? "" : cost === null ? " · no answer" : ` · ${brief(cost)}`}`, () => choose(id), { class: "chip" }));
    })),
    one.filters && button("Show them in the list", () => store.set({ view: "rows", filters: one.filters.map(read).filter(Boolean) }), { "aria-label": `Show the rows of ${one.words} in the list (by ${by})` }));
}

/** A filter of the server as the page keeps it. @param {string} text @returns {any} */
function read(text) {
  const [name, operator, ...rest] = text.split(":");
  const key = name.startsWith("@") ? name : decodeURIComponent(name);
  if (!rest.length) return [key, operator, null];
  const value = rest.join(":");
  return [key, operator, String(Number(value)) === value && key !== "@class" ? Number(value) : value];
}
