/** Scenarios: values under a name, compared side by side with the row itself. */

import * as api from "../core/api.js";
import { button, fill, h } from "../core/dom.js";
import { className, percent, same, withUnit } from "../core/format.js";
import * as store from "../core/state.js";
import * as live from "./live.js";

/** @typedef {import("../core/types.js").Model} Model */
/** @typedef {import("../core/types.js").Row} Row */

const MOST = 8;

/**
 * @param {HTMLElement} place
 * @param {Model} model
 */
export function start(place, model) {
  const table = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Scenarios side by side" });
  const name = h("input", { id: "scenario-name", placeholder: "e.g. smaller loan", maxlength: 60 });
  const form = h("form", { class: "bar", on: { submit: save } },
    h("label", { for: name.id }, "Keep the values as"), name, h("button", { class: "primary" }, "Save scenario"));

  /** @param {Event} event */
  function save(event) {
    event.preventDefault();
    const { scenarios } = store.get();
    const called = name.value.trim() || `Scenario ${scenarios.length + 1}`;
    const others = scenarios.filter((one) => one.name !== called).slice(-(MOST - 1));
    store.set({ scenarios: [...others, { name: called, values: live.values() }] });
    name.value = "";
  }

  const draw = live.oneAtATime(async () => {
    const { scenarios } = store.get();
    if (store.get().panel !== "scenarios" || !live.now.base) return;
    if (!scenarios.length) {
      fill(table, h("p", { class: "soft" }, "Save the values under a name, edit them, and save again: the scenarios then stand side by side."));
      return;
    }
    const columns = [{ name: "the row itself", values: live.now.base }, { name: "as edited now", values: live.values() }, ...scenarios];
    const { explanations } = await api.explain({ ...api.question(store.get(), columns.map((one) => one.values)), detail: "live" });
    fill(table, side(model, columns, explanations));
  });
  fill(place, form, table);
  store.listen(["scenarios", "panel", "rules", "ask"], draw);
  live.events.addEventListener("values", live.inPauses(draw));
  draw();
}

/**
 * @param {Model} model
 * @param {{name: string, values: Row}[]} columns
 * @param {import("../core/types.js").Explanation[]} found
 */
function side(model, columns, found) {
  const base = columns[0].values;
  const differ = model.features.filter((f) => columns.some((one) => !same(one.values[f.name], base[f.name])));
  const row = (/** @type {string} */ head, /** @type {any[]} */ cells) => h("tr", {}, h("th", { scope: "row" }, head), cells);
  return h("table", { class: "side" },
    h("thead", {}, h("tr", {}, h("td", {}), columns.map((one) => h("th", { scope: "col" }, one.name)))),
    h("tbody", {},
      row("Prediction", found.map(({ summary }) => h("td", { class: "strong" }, className(model, summary.prediction)))),
      model.has_probability && row("Probability", found.map(({ summary }) => h("td", { class: "n" }, percent(summary.probability?.prediction)))),
      differ.map((f) => row(f.text ?? f.name, columns.map((one) =>
        h("td", { class: same(one.values[f.name], base[f.name]) ? null : "differs" }, withUnit(f, one.values[f.name]))))),
      row("Would change it", found.map((one) => h("td", {}, briefly(model, one)))),
      h("tr", {}, h("th", { scope: "row" }, h("span", { class: "out-of-sight" }, "Actions")), columns.map((one, i) => h("td", {}, i > 1 && [
        button("Open", () => live.edit({ ...one.values }), { "aria-label": `Open ${one.name}`, "data-key": `open-${i}` }), " ",
        button("Remove", () => store.set({ scenarios: store.get().scenarios.filter((s) => s.name !== one.name) }),
          { class: "quiet", "aria-label": `Remove ${one.name}`, "data-key": `remove-${i}` }),
      ])))));
}

/** @param {Model} model @param {import("../core/types.js").Explanation} one */
function briefly(model, { summary }) {
  const { negative } = summary;
  if (negative.status === "infeasible") return "nothing (proved)";
  if (!negative.values.length) return "–";
  const features = new Map(model.features.map((f) => [f.name, f]));
  return negative.values.map((/** @type {any} */ v) => `${features.get(v.feature)?.text ?? v.feature} ${withUnit(/** @type {any} */ (features.get(v.feature)), v.value)}`).join(", ");
}
