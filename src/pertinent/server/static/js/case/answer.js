/** What was enough and what would change it, live beside the form. */

import { announce, button, byId, fill, h } from "../core/dom.js";
import { begun, brief, classKey, className, percent, plain, withUnit } from "../core/format.js";
import * as live from "./live.js";
import { picture, told } from "./picture.js";
import * as rules from "./rules.js";

/** @typedef {import("../core/types.js").Explanation} Explanation */
/** @typedef {import("../core/types.js").Model} Model */

/** @type {Model} */
let model;

/**
 * @param {{prediction: HTMLElement, answer: HTMLElement}} places
 * @param {Model} of
 */
export function start(places, of) {
  model = of;
  const panel = /** @type {HTMLElement} */ (places.answer.parentElement);
  const glance = byId("glance");
  glance.addEventListener("click", () => byId("answer-title").scrollIntoView({ behavior: "smooth" }));
  new IntersectionObserver(([seen]) => { glance.dataset.below = seen.isIntersecting || seen.boundingClientRect.top < 0 ? "no" : "yes"; }).observe(byId("answer-title"));
  live.events.addEventListener("prediction", () => {
    fill(places.prediction, prediction());
    fill(glance, inShort());
    glance.hidden = false;
  });
  live.events.addEventListener("busy", () => {
    panel.setAttribute("aria-busy", "true");
    panel.dataset.whole = "no";
  });
  live.events.addEventListener("answer", () => {
    const { answer: one, isWhole } = live.now;
    if (!one) return;
    panel.setAttribute("aria-busy", "false");
    fill(places.answer, answer(one));
    panel.dataset.whole = isWhole ? "yes" : "no";
    if (isWhole) announce(`${one.words.opening} ${one.headings.change}: ${one.words.change}`);
  });
  live.events.addEventListener("failure", (event) => {
    panel.setAttribute("aria-busy", "false");
    fill(places.answer, failure(/** @type {CustomEvent} */ (event).detail));
  });
}

/** @param {any} error */
function failure(error) {
  return h("div", { class: "card warn", role: "alert" }, h("h3", {}, "No answer"),
    h("p", {}, error.message), error.field && h("p", { class: "soft" }, `It is about ${error.field}.`),
    button("Ask again", () => live.refresh()));
}

/** The class and its probability in one line: on a phone the answer is far below the form. */
function inShort() {
  const { label, probabilities } = live.now.prediction;
  const chance = probabilities?.[classKey(model, label)];
  return [h("strong", {}, className(model, label)), chance === undefined ? " " : ` ${percent(chance)} `, h("span", { class: "soft" }, "to the answer ↓")];
}

/** The class and its probability. */
function prediction() {
  const { label, probabilities } = live.now.prediction;
  const chance = probabilities?.[classKey(model, label)];
  return [
    h("p", { class: "class" }, className(model, label)),
    chance !== undefined && h("p", { class: "chance" }, `probability ${percent(chance)}`),
    probabilities && chances(probabilities, label),
  ];
}

/** A bar for each class; of many classes the likeliest. @param {Record<string, number>} all @param {any} label */
function chances(all, label) {
  const sorted = Object.entries(all).sort(([, a], [, b]) => b - a).slice(0, 5);
  return h("ul", { class: "chances", "aria-label": "Probability of each class" }, sorted.map(([name, share]) =>
    h("li", { class: name === classKey(model, label) ? "won" : null }, h("span", {}, className(model, name)),
      h("meter", { min: 0, max: 1, value: share, "aria-label": className(model, name) }), h("span", { class: "n" }, percent(share)))));
}

/** @param {Explanation} one */
function answer(one) {
  const { words, headings, summary } = one;
  return [
    h("section", { class: "card change" }, h("h3", {}, headings.change), ...changing(one)),
    h("section", { class: "card enough" }, h("h3", {}, headings.enough),
      h("p", {}, begun(words.enough)), levers(told(summary).values, summary)),
    h("section", { class: "card" }, h("h3", {}, "Picture"), picture(summary) ?? h("p", { class: "soft" }, "There is nothing to draw.")),
    h("details", { class: "card certificate", open: true }, h("summary", {}, h("h3", {}, headings.proof)),
      h("p", {}, words.proof),
      words.moves && h("p", {}, words.moves),
      h("p", { class: "soft" }, seconds(one.seconds))),
  ];
}

/** @param {number | undefined} time */
function seconds(time) {
  return time === undefined ? "" : `Solved and checked in ${time < 1 ? `${Math.max(1, Math.round(1000 * time))} ms` : `${time.toFixed(1)} s`}.`;
}

/** @param {Explanation} one */
function changing(one) {
  const { words, summary, reason } = one;
  const { negative } = summary;
  if (negative.status === "infeasible") return impossible(one);
  const said = h("p", {}, begun(words.change));
  const all = Object.fromEntries(negative.values.map((/** @type {any} */ v) => [v.feature, v.value]));
  return [
    said,
    suggestions(summary),
    negative.values.length > 1 && button("Set all of these", () => live.edit(all), { class: "primary", "data-key": "set-all" }),
    beforeAfter(one),
    reason && negative.status === "failed" && h("p", { class: "soft" }, reason.words),
  ];
}

/** @param {any} summary */
function suggestions(summary) {
  const features = new Map(summary.features.map((/** @type {any} */ f) => [f.name, f]));
  if (!summary.negative.values.length) return null;
  return h("ul", { class: "suggestions" }, summary.negative.values.map((/** @type {any} */ v) => {
    const feature = features.get(v.feature);
    return h("li", {}, h("span", { class: "name" }, feature.text ?? feature.name),
      h("span", { class: "values" }, h("s", {}, plain(feature.missing ? null : feature.sample)), " → ",
        h("strong", {}, withUnit(feature, v.value))),
      button("Set this value", () => live.edit({ [v.feature]: v.value }), {
        "data-key": `set-${v.feature}`, "aria-label": `Set this value: ${feature.text ?? feature.name} ${plain(v.value)}`,
      }));
  }));
}

/** What was enough as a list, each with a click that keeps it. @param {any[]} values @param {any} summary */
function levers(values, summary) {
  const features = new Map(summary.features.map((/** @type {any} */ f) => [f.name, f]));
  const free = values.filter((v) => !v.fixed);
  if (!free.length) return null;
  return h("ul", { class: "tags" }, free.map((v) => {
    const feature = features.get(v.feature);
    return h("li", { class: "tag kept" }, `${feature.text ?? feature.name} ${withUnit(feature, v.value)}`);
  }));
}

/** @param {Explanation} one */
function beforeAfter({ probability, summary }) {
  const target = summary.negative.target;
  if (!probability || probability.before === null || probability.after === null || target === null) return null;
  const of = className(model, probability.of ?? target);
  if (probability.kind !== "probability") {
    return h("p", { class: "before-after soft" }, `The model's score of ${of}: before ${brief(probability.before)}, after ${brief(probability.after)}.`);
  }
  const bar = (/** @type {string} */ words, /** @type {number} */ share) =>
    h("li", {}, h("span", {}, words), h("meter", { min: 0, max: 1, value: share, "aria-label": words }), h("span", { class: "n" }, percent(share)));
  return h("div", { class: "before-after" },
    h("p", { class: "soft" }, `Probability of ${of}`),
    h("ul", { class: "chances" }, bar("before", probability.before), bar("after", probability.after)));
}

/** Proved impossible: the rules that conflict, none too many. @param {Explanation} one */
function impossible({ reason, words }) {
  const found = reason?.rules ?? [];
  if (!found.length) return [h("p", {}, begun(words.change))];
  // Minimal among themselves: rules that are not named may be in the way as well.
  const spared = reason?.minimal ? "; each is needed: without it, the others of them leave one" : "";
  const which = found.length === 1 ? "This rule alone leaves no way:" : `These ${found.length} rules together leave no way${spared}:`;
  return [
    h("p", {}, h("strong", {}, "Proved: nothing that the rules allow."), ` ${which}`),
    h("ul", { class: "suggestions conflict" }, found.map((rule, i) => h("li", {}, h("span", { class: "values" }, rule.words),
      rules.canRelax(rule)
        ? button("Unlock", () => rules.relax(rule), { "data-key": `unlock-${i}`, "aria-label": `Unlock: ${rule.words}` })
        : h("span", { class: "soft" }, "a limit of the model")))),
    h("p", { class: "soft" }, "What else is in the way after an unlock is named then."),
  ];
}
