/** Filters on features, class and score, as a row of chips and a line to add one. */

import { button, fill, h } from "../core/dom.js";
import { className, plain } from "../core/format.js";
import * as store from "../core/state.js";

/** @typedef {import("../core/types.js").Model} Model */
/** @typedef {import("../core/types.js").Filter} Filter */
/** @typedef {import("../core/types.js").Value} Value */

/** @type {[string, string][]} */
const NUMBERS = [["ge", "at least"], ["le", "at most"], ["eq", "is"], ["ne", "is not"]];
/** @type {[string, string][]} */
const NAMES = [["eq", "is"], ["ne", "is not"]];
/** @type {[string, string][]} */
const MISSING = [["missing", "is missing"], ["present", "is not missing"]];
/** @type {Record<string, string>} */
const WORDS = Object.fromEntries([...NUMBERS, ...NAMES, ...MISSING, ["lt", "below"], ["gt", "above"]]);

/**
 * @typedef {Object} Column  what can be filtered on
 * @property {string} key
 * @property {string} text
 * @property {[string, string][]} operators
 * @property {Value[] | null} values  what can be chosen from; null: a number
 */

/** @param {Model} model @returns {Column[]} */
export function columns(model) {
  /** @type {Column[]} */
  const own = [{ key: "@class", text: "predicted class", operators: NAMES, values: model.classes }];
  if (model.has_probability) own.push({ key: "@score", text: "probability of the class", operators: NUMBERS.slice(0, 2), values: null });
  return own.concat(model.features.map((f) => {
    const names = f.kind === "category" || f.kind === "boolean";
    const operators = [...(names ? NAMES : NUMBERS), ...(f.missing_allowed ? MISSING : [])];
    return { key: f.name, text: f.text ?? f.name, operators, values: names ? f.categories ?? [false, true] : null };
  }));
}

/** A filter in words. @param {Model} model @param {Filter} filter */
export function inWords(model, [key, operator, value]) {
  const column = columns(model).find((one) => one.key === key);
  const said = value === null ? "" : ` ${key === "@class" ? className(model, value) : plain(value)}`;
  return `${column?.text ?? key} ${WORDS[operator] ?? operator}${said}`;
}

/**
 * Draw the filters; several views may show the same ones.
 * @param {HTMLElement} place
 * @param {Model} model
 * @param {string} prefix  of the ids
 */
export function start(place, model, prefix) {
  const all = columns(model);
  const chips = h("ul", { class: "filters", "aria-label": "Filters" });
  const what = h("select", { id: `${prefix}-what` }, all.map((one, i) => h("option", { value: i }, one.text)));
  const how = h("select", { id: `${prefix}-how` });
  const slot = h("span", {});
  /** @type {any} */
  let field;
  const change = () => {
    const column = all[Number(what.value)];
    fill(how, column.operators.map(([key, words]) => h("option", { value: key }, words)));
    field = column.values
      ? h("select", { id: `${prefix}-value` }, column.values.map((one, i) => h("option", { value: i }, column.key === "@class" ? className(model, one) : plain(one))))
      : h("input", { id: `${prefix}-value`, type: "number", step: "any", required: true });
    fill(slot, h("label", { class: "out-of-sight", for: field.id }, "Value"), field);
    without();
  };
  const without = () => { slot.hidden = how.value === "missing" || how.value === "present"; };
  what.addEventListener("change", change);
  how.addEventListener("change", without);
  const form = h("form", { class: "bar", on: { submit: add } },
    h("label", { class: "out-of-sight", for: what.id }, "Filter on"), what,
    h("label", { class: "out-of-sight", for: how.id }, "How"), how, slot, h("button", {}, "Add filter"));

  /** @param {Event} event */
  function add(event) {
    event.preventDefault();
    const column = all[Number(what.value)];
    /** @type {Value} */
    const value = slot.hidden ? null : column.values ? column.values[Number(field.value)] : field.valueAsNumber;
    const one = /** @type {Filter} */ ([column.key, how.value, value]);
    const others = store.get().filters.filter(([key, operator]) => key !== one[0] || operator !== one[1]);
    store.set({ filters: [...others, one] });
  }
  const draw = () => fill(chips, store.get().filters.map((one, i) => h("li", { class: "chip" }, inWords(model, one),
    button("×", () => store.set({ filters: store.get().filters.filter((_, j) => j !== i) }), { class: "link", "aria-label": `Remove the filter: ${inWords(model, one)}` }))));
  change();
  fill(place, form, chips);
  store.listen(["filters"], draw);
  draw();
}
