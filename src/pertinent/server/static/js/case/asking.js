/** What is asked beside the rules for single features; the rules as a line to copy. */

import { button, copy, fill, h } from "../core/dom.js";
import { className } from "../core/format.js";
import * as store from "../core/state.js";
import * as live from "./live.js";
import * as rules from "./rules.js";

/** @typedef {import("../core/types.js").Model} Model */

const METHODS = {
  "two-phase": "closest to typical",
  strict: "own values only",
  exact: "fewest values",
  sufficient: "whatever the others are",
};

/**
 * @param {HTMLElement} place
 * @param {Model} model
 */
export function start(place, model) {
  const above = h("div", {});
  const below = h("div", {});
  fill(place, above, below);
  const drawFields = () => fill(above, fields(model));
  const drawLine = () => fill(below, line());
  store.listen(["ask", "rules"], drawFields);
  store.listen(["rules"], drawLine);
  live.events.addEventListener("answer", drawLine);
  drawFields();
  drawLine();
}

/** @param {Partial<import("../core/types.js").Ask>} patch */
function ask(patch) {
  store.set({ ask: { ...store.get().ask, ...patch } });
}

/** @param {Model} model */
function fields(model) {
  const { target, minProbability, method, norm, plausible } = store.get().ask;
  const most = rules.inForce().max_changes ?? null;
  const index = target === null ? -1 : model.classes.findIndex((one) => one === target);
  return h("div", { class: "asking" },
    choice("target", "Reach", [["-1", "any other class"], ...model.classes.map((one, i) => [String(i), className(model, one)])], String(index),
      (value) => ask({ target: value === "-1" ? null : model.classes[Number(value)] })),
    choice("most", "Changes at most", [["", "any number"], ...many(model.features.length, most)], most === null ? "" : String(most),
      (value) => rules.put(rules.atMost(rules.inForce(), value === "" ? null : Number(value)))),
    model.has_probability && probability(minProbability),
    choice("norm", "Prefer", [["", "the smallest change"], ["l0", "the fewest changes"]], norm ?? "", (value) => ask({ norm: value || null })),
    choice("method", "Enough means", methods(model), method ?? model.options?.method ?? "",
      (value) => ask({ method: value === model.options?.method ? null : value })),
    model.plausible !== false && h("label", { class: "check" }, h("input", {
      type: "checkbox", checked: plausible, "data-key": "plausible", id: "ask-plausible",
      on: { change: (/** @type {any} */ event) => ask({ plausible: event.target.checked }) },
    }), "only plausible cases"));
}

/** @param {Model} model @returns {string[][]} */
function methods(model) {
  return (model.methods ?? []).map((one) => [one, /** @type {Record<string, string>} */ (METHODS)[one] ?? one]);
}

/** @param {number} features @param {number | null} chosen */
function many(features, chosen) {
  const counts = [1, 2, 3, 4, 5, 6, 8, 10].filter((one) => one <= features);
  if (chosen !== null && !counts.includes(chosen)) counts.push(chosen);
  return counts.map((one) => [String(one), String(one)]);
}

/**
 * @param {string} key @param {string} label @param {string[][]} options @param {string} chosen
 * @param {(value: string) => void} act
 */
function choice(key, label, options, chosen, act) {
  const select = h("select", { id: `ask-${key}`, "data-key": key, on: { change: () => act(select.value) } },
    options.map(([value, words]) => h("option", { value, selected: value === chosen }, words)));
  return h("div", {}, h("label", { for: select.id }, label), select);
}

/** @param {number | null} chosen */
function probability(chosen) {
  const field = h("input", {
    id: "ask-probability", type: "number", min: 50, max: 99, step: 1, placeholder: "any",
    value: chosen === null ? null : Math.round(100 * chosen), "data-key": "probability",
    on: {
      change: () => {
        if (field.reportValidity()) ask({ minProbability: field.value === "" ? null : field.valueAsNumber / 100 });
      },
    },
  });
  return h("div", {}, h("label", { for: field.id }, "Probability at least (%)"), field);
}

/** The rules as Python, to copy. */
function line() {
  const text = live.now.answer?.constraints_line ?? "";
  return h("div", { class: "line" },
    h("h3", { class: "label" }, "The rules in Python"),
    h("pre", { tabindex: 0, "aria-label": "The rules in Python" }, h("code", {}, text || "Constraints()")),
    h("div", { class: "bar" },
      button("Copy", () => copy(text, "The rules"), { "data-key": "copy-rules" }),
      store.get().rules !== null && button("Back to the first rules", () => store.set({ rules: null }), { class: "quiet", "data-key": "reset-rules" })));
}
