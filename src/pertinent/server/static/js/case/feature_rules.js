/** The rules for one feature as clicks: direction, range or categories, cost. */

import { button, h } from "../core/dom.js";
import { plain } from "../core/format.js";
import * as rules from "./rules.js";

/** @typedef {import("../core/types.js").Feature} Feature */

const COSTS = [
  [0.2, "a fifth"], [0.5, "half"], [1, "usual"], [2, "2 times"], [5, "5 times"], [10, "10 times"], [100, "100 times"],
];
/** @type {[rules.Direction, string][]} */
const WAYS = [["any", "up or down"], ["up", "only up"], ["down", "only down"]];

/**
 * @param {Feature} feature
 * @param {number} place
 */
export function featureRules(feature, place) {
  const isCategory = feature.kind === "category" || feature.kind === "boolean";
  return [
    !isCategory && directions(feature, place),
    isCategory ? categories(feature, place) : range(feature, place),
    costs(feature, place),
  ];
}

/** @param {Feature} feature @param {number} place */
function directions(feature, place) {
  const now = rules.direction(rules.inForce(), feature.name);
  return h("fieldset", {}, h("legend", {}, "A change may go"),
    h("div", { class: "choices" }, WAYS.map(([way, words]) => h("label", {},
      h("input", {
        type: "radio", name: `way-${place}`, value: way, checked: way === now, "data-key": `way-${place}-${way}`,
        on: { change: () => rules.put(rules.direct(rules.inForce(), feature.name, way)) },
      }), words))));
}

/** @param {Feature} feature @param {number} place */
function range(feature, place) {
  const ends = rules.inForce().bounds?.[feature.name];
  const field = (/** @type {0 | 1} */ at, /** @type {string} */ words, /** @type {number | null} */ usual) =>
    h("label", {}, words, h("input", {
      type: "number", step: "any", value: ends?.[at] ?? null, placeholder: ends ? "open" : usual,
      "data-key": `end-${place}-${at}`, on: { change: read },
    }));
  /** @param {Event} event */
  function read(event) {
    const given = [...body.querySelectorAll("input")].map((one) => (one.value === "" ? null : one.valueAsNumber));
    const [low, high] = given;
    const wrong = low !== null && high !== null && low > high;
    const input = /** @type {HTMLInputElement} */ (event.target);
    input.setCustomValidity(wrong ? "The range ends before it begins." : "");
    if (!input.reportValidity()) return;
    const open = low === null && high === null;
    rules.put(rules.bound(rules.inForce(), feature.name, open ? undefined : [low, high]));
  }
  const body = h("div", { class: "choices" }, field(0, "from ", feature.low), field(1, "to ", feature.high),
    button("any number", () => rules.put(rules.bound(rules.inForce(), feature.name, [null, null])), { class: "link", "data-key": `any-${place}` }),
    ends && button("as in the data", () => rules.put(rules.bound(rules.inForce(), feature.name, undefined)), { class: "link", "data-key": `data-${place}` }));
  return h("fieldset", {}, h("legend", {}, ends ? "Range" : "Range (now as in the data)"), body);
}

/** @param {Feature} feature @param {number} place */
function categories(feature, place) {
  const known = feature.categories ?? [];
  const allowed = rules.inForce().categories?.[feature.name];
  const read = () => {
    const chosen = known.filter((_, i) => boxes[i].checked);
    rules.put(rules.allow(rules.inForce(), feature.name, chosen.length === known.length ? undefined : chosen));
  };
  const boxes = known.map((one, i) => h("input", {
    type: "checkbox", checked: !allowed || allowed.includes(one), "data-key": `allow-${place}-${i}`, on: { change: read },
  }));
  return h("fieldset", {}, h("legend", {}, "May become"),
    h("div", { class: "choices" }, known.map((one, i) => h("label", {}, boxes[i], plain(one)))));
}

/** @param {Feature} feature @param {number} place */
function costs(feature, place) {
  const now = rules.inForce().costs?.[feature.name] ?? 1;
  const known = COSTS.some(([factor]) => factor === now) ? COSTS : [...COSTS, [now, `${plain(now)} times`]];
  const select = h("select", {
    id: `cost-${place}`, "data-key": `cost-${place}`,
    on: { change: () => rules.put(rules.cost(rules.inForce(), feature.name, Number(select.value))) },
  }, known.map(([factor, words]) => h("option", { value: factor, selected: factor === now }, words)));
  return h("div", { class: "choices" }, h("label", { for: select.id }, "A change costs"), select);
}
