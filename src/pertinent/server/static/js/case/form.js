/** The values of the case, each with a control of its kind and the rules for it. */

import * as store from "../core/state.js";
import { button, fill, h } from "../core/dom.js";
import { counted, plain, same } from "../core/format.js";
import { control } from "./controls.js";
import * as live from "./live.js";
import * as rules from "./rules.js";
import { featureRules } from "./feature_rules.js";

/** @typedef {import("../core/types.js").Feature} Feature */

/** Features that are drawn at first; more of them when asked for. */
const FIRST = 60;

/**
 * @typedef {Object} Line
 * @property {Feature} feature
 * @property {HTMLElement} node
 * @property {() => void} showValue
 * @property {() => void} showRules
 */

/**
 * Draw the form and keep it up to date.
 * @param {HTMLElement} place
 * @param {import("../core/types.js").Model} model
 */
export function start(place, model) {
  /** @type {Line[]} */
  const lines = [];
  const box = h("ol", { class: "features", "aria-label": "Values" });
  const find = h("input", { type: "search", id: "find-feature", placeholder: "Find a feature" });
  const more = button(`Show all ${model.features.length} features`, () => draw(Infinity));
  const undo = button("Undo all edits", () => store.set({ edits: {} }), { class: "quiet", "data-key": "undo" });
  const count = h("span", { class: "soft" });

  const draw = (/** @type {number} */ most) => {
    for (const feature of model.features.slice(lines.length, most)) {
      const one = line(feature, lines.length);
      lines.push(one);
      box.append(one.node);
      if (live.now.base) one.showValue();
      one.showRules();
    }
    more.hidden = lines.length === model.features.length;
  };
  find.addEventListener("input", () => {
    draw(Infinity);
    const wanted = find.value.trim().toLowerCase();
    for (const { feature, node } of lines) {
      node.hidden = !`${feature.name} ${feature.text ?? ""}`.toLowerCase().includes(wanted);
    }
  });
  const many = model.features.length > 20;
  fill(place,
    h("div", { class: "bar" }, count, undo,
      many && h("label", { class: "out-of-sight", for: "find-feature" }, "Find a feature"), many && find),
    box, more);
  draw(FIRST);

  const showValues = () => {
    for (const one of lines) one.showValue();
    const edited = Object.keys(store.get().edits).length;
    undo.hidden = edited === 0;
    count.textContent = edited ? `${counted(edited, "value")} edited` : "";
  };
  live.events.addEventListener("values", showValues);
  store.listen(["rules"], () => lines.forEach((one) => one.showRules()));
}

/**
 * @param {Feature} feature @param {number} place
 * @returns {Line}
 */
function line(feature, place) {
  const id = `value-${place}`;
  const name = feature.text ?? feature.name;
  const set = control(feature, id, (value) => live.edit({ [feature.name]: value }));
  const note = h("span", { class: "note" });
  const chips = h("span", { class: "chips" });
  const lock = button("", () => {
    const now = rules.inForce();
    rules.put(rules.freeze(now, feature.name, !rules.isFrozen(now, feature.name)));
  }, { class: "lock", "aria-pressed": "false", "data-key": `lock-${place}` });
  const panel = h("div", { class: "rules", id: `rules-${place}`, hidden: true });
  const opener = button("Rules", () => {
    panel.hidden = !panel.hidden;
    opener.setAttribute("aria-expanded", String(!panel.hidden));
    if (!panel.hidden) fill(panel, featureRules(feature, place));
  }, { class: "quiet", "aria-expanded": "false", "aria-controls": panel.id, "aria-label": `Rules for ${name}` });

  const showValue = () => {
    const { edits } = store.get();
    const own = live.now.base?.[feature.name] ?? null;
    const edited = feature.name in edits;
    set.show(edited ? edits[feature.name] : own);
    node.classList.toggle("edited", edited);
    fill(note, edited
      ? [`was ${plain(own)} `,
        button("undo", () => live.edit({ [feature.name]: own }), { class: "link", "aria-label": `Undo the edit of ${name}` })]
      : !same(own, feature.typical) && `typical ${plain(feature.typical)}`);
  };
  const showRules = () => {
    const now = rules.inForce();
    const frozen = rules.isFrozen(now, feature.name);
    lock.setAttribute("aria-pressed", String(frozen));
    lock.setAttribute("aria-label", `Lock ${name}`);
    lock.title = frozen ? "Locked: suggestions leave this value as it is" : "Lock: leave this value as it is";
    node.classList.toggle("frozen", frozen);
    fill(chips, rules.chips(now, feature).map((words) => h("span", { class: "chip" }, words)));
    if (!panel.hidden) fill(panel, featureRules(feature, place));
  };
  const node = h("li", { class: "feature", dataset: { feature: feature.name } },
    h("div", { class: "head" },
      h("label", { for: id }, name, feature.unit && h("span", { class: "unit" }, ` ${feature.unit}`)),
      h("span", { class: "beside" }, note, chips)),
    h("div", { class: "control" }, set.node),
    h("div", { class: "acts" }, lock, opener),
    panel);
  return { feature, node, showValue, showRules };
}
