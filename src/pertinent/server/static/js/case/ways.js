/** Other ways: alternatives as cards, and the menu of levers. Both are asked for, not live. */

import * as api from "../core/api.js";
import { button, fill, h } from "../core/dom.js";
import { brief, className, counted, listed, percent, plain, withUnit } from "../core/format.js";
import * as store from "../core/state.js";
import * as live from "./live.js";

/** @typedef {import("../core/types.js").Model} Model */
/** @typedef {import("../core/types.js").Value} Value */

/** @type {Map<string, import("../core/types.js").Feature>} */
let features;

/**
 * Fill a panel whenever it is open and what it was asked with has changed.
 * @param {string} panel
 * @param {HTMLElement} place
 * @param {() => Promise<any>} ask  gives what goes into the panel
 */
function whenOpen(panel, place, ask) {
  let asked = "";
  const draw = live.oneAtATime(async () => {
    const state = store.get();
    if (state.panel !== panel || !live.now.base) return;
    const key = JSON.stringify(api.question(state, [live.values()])) + place.dataset.again;
    if (key === asked) return;
    asked = key;
    place.setAttribute("aria-busy", "true");
    try {
      fill(place, await ask());
    } catch (error) {
      fill(place, h("p", { class: "warn", role: "alert" }, /** @type {Error} */ (error).message));
    } finally {
      place.setAttribute("aria-busy", "false");
    }
  });
  store.listen(["panel"], draw);
  store.listen(["rules", "ask"], live.inPauses(draw));
  live.events.addEventListener("values", live.inPauses(draw));
  return draw;
}

/** @param {HTMLElement} place @param {Model} model */
export function startAlternatives(place, model) {
  features = new Map(model.features.map((f) => [f.name, f]));
  const draw = whenOpen("alternatives", place, async () => {
    const count = Number(place.dataset.again ?? 3);
    const { cards } = await api.alternatives({ ...api.question(store.get(), [live.values()]), count });
    return [
      cards.length === 0 && h("p", { class: "soft" }, "There is no other change that the rules allow."),
      h("ol", { class: "cards" }, cards.map((/** @type {any} */ one, /** @type {number} */ i) => card(model, one, i))),
      cards.length >= count && count < 12 && button("More", () => {
        place.dataset.again = String(count + 3);
        draw();
      }, { "data-key": "more" }),
    ];
  });
  draw();
}

/** @param {Model} model @param {any} one @param {number} i */
function card(model, one, i) {
  const values = Object.fromEntries(one.values.map((/** @type {any} */ v) => [v.feature, v.value]));
  return h("li", { class: "card" },
    h("h3", {}, listed(one.values.map((/** @type {any} */ v) => textOf(v.feature)))),
    h("ul", { class: "moves" }, one.values.map((/** @type {any} */ v) => h("li", {}, move(v.feature, v.old, v.value)))),
    h("p", { class: "soft" }, [`gives ${className(model, one.target)}`,
      chance(one.probability), `size ${brief(one.objective)}`, one.proved ? "proved in this order" : "checked, not proved"].filter(Boolean).join(" · ")),
    button("Set these values", () => live.edit(values), { "data-key": `alternative-${i}` }));
}

/** @param {any} probability */
function chance(probability) {
  const share = typeof probability === "number" ? probability : probability?.after;
  return typeof share === "number" ? `probability ${percent(share)}` : "";
}

/** @param {string} name */
const textOf = (name) => features.get(name)?.text ?? name;

/** @param {string} name @param {Value} old @param {Value} value */
function move(name, old, value) {
  const feature = /** @type {any} */ (features.get(name) ?? {});
  return [`${textOf(name)}: `, h("s", {}, plain(old)), " → ", h("strong", {}, withUnit(feature, value))];
}

/** @param {HTMLElement} place @param {Model} model */
export function startMenu(place, model) {
  features = new Map(model.features.map((f) => [f.name, f]));
  const draw = whenOpen("menu", place, async () => {
    const { sets, words } = await api.menu({ ...api.question(store.get(), [live.values()]), max_features: 2 });
    const alone = sets.filter((/** @type {any} */ one) => one.features.length === 1);
    const pairs = sets.filter((/** @type {any} */ one) => one.features.length === 2);
    return [
      h("h3", {}, "One feature alone"), levers(model, alone),
      h("h3", {}, "Two features together"), levers(model, pairs.filter((/** @type {any} */ one) => !one.works || needsBoth(one))),
      words && h("details", {}, h("summary", {}, "In words"), h("p", { class: "lines" }, words)),
    ];
  });
  draw();
}

/** Whether a pair does better than one of its features alone. @param {any} one */
const needsBoth = (one) => Object.keys(one.values).length === one.features.length;

/** @param {Model} model @param {any[]} sets */
function levers(model, sets) {
  const can = sets.filter((one) => one.works);
  const never = sets.filter((one) => one.status === "infeasible");
  const unknown = sets.filter((one) => !one.works && one.status !== "infeasible" && one.status !== "already");
  const largest = Math.max(...can.map((one) => one.objective ?? 0), 1e-12);
  return [
    can.length > 0 && h("ul", { class: "levers" }, can.map((one) => lever(model, one, largest))),
    can.length === 0 && h("p", { class: "soft" }, "None works."),
    never.length > 0 && h("details", { class: "never", open: never.length <= 12 },
      h("summary", {}, `${counted(never.length, "set")} proved not to work`),
      h("ul", { class: "tags" }, never.map((one) => h("li", { class: "tag cannot", title: one.reason ?? "" }, one.features.map(textOf).join(" + "))))),
    unknown.length > 0 && h("p", { class: "soft" }, `Not known: ${unknown.map((one) => one.features.map(textOf).join(" + ")).join(", ")}.`),
  ];
}

/** @param {Model} model @param {any} one @param {number} largest */
function lever(model, one, largest) {
  const values = Object.fromEntries(Object.entries(one.values).map(([name, both]) => [name, /** @type {Value[]} */ (both)[1]]));
  return h("li", {},
    h("span", { class: "values" }, Object.entries(one.values).flatMap(([name, both], i) => [i > 0 && ", ", ...move(name, .../** @type {[Value, Value]} */ (both))]),
      model.classes.length > 2 && ` (${className(model, one.target)})`),
    h("meter", { min: 0, max: largest, value: one.objective ?? 0, "aria-label": `size ${brief(one.objective ?? 0)} of ${brief(largest)}` }),
    h("span", { class: "soft" }, `${brief(one.objective ?? 0)}, ${one.status === "optimal" ? "proved smallest" : "not proved smallest"}`),
    button("Set", () => live.edit(values), { "aria-label": `Set ${one.features.map(textOf).join(" and ")}`, "data-key": `lever-${one.features.join("+")}` }));
}
