/**
 * The picture of an answer: a strip for each feature that matters, with its own scale. On it: the
 * middle of the data, the range that keeps the class, the typical value, the own value, the change.
 */

import { h, svg } from "../core/dom.js";
import { brief, plain, withUnit } from "../core/format.js";

/** @typedef {import("../core/types.js").Value} Value */

/** Most strips of one picture. */
const MOST = 12;

/**
 * Return what is told of an answer: what stands in for an empty positive takes its place.
 * @param {any} summary
 */
export function told(summary) {
  const { positive } = summary;
  const instead = positive.instead;
  return instead && instead.basis !== "negative" ? { ...positive, ...instead } : positive;
}

/**
 * @typedef {Object} Strip
 * @property {any} feature
 * @property {any} kept  what was enough of it, or undefined
 * @property {any} changed  what it would change to, or undefined
 * @property {Value} typical
 */

/**
 * Return the features that matter: changed ones first, then those that were enough; what the rules
 * fix is not among them.
 * @param {any} summary
 * @returns {Strip[]}
 */
export function strips(summary) {
  const positive = told(summary);
  const kept = new Map(positive.values.filter((/** @type {any} */ v) => !v.fixed).map((/** @type {any} */ v) => [v.feature, v]));
  const changed = new Map(summary.negative.values.map((/** @type {any} */ v) => [v.feature, v]));
  const all = summary.features.map((/** @type {any} */ feature, /** @type {number} */ i) => ({
    feature,
    kept: kept.get(feature.name),
    changed: changed.get(feature.name),
    typical: positive.baseline ? positive.baseline[i] : feature.baseline,
  }));
  return [...all.filter((/** @type {Strip} */ s) => s.changed), ...all.filter((/** @type {Strip} */ s) => s.kept && !s.changed)];
}

/** @param {any} summary */
export function picture(summary) {
  const all = strips(summary);
  if (!all.length) return null;
  const more = all.length - MOST;
  return h("div", { class: "picture" },
    h("ul", { class: "strips" }, all.slice(0, MOST).map(strip)),
    more > 0 && h("p", { class: "soft" }, `and ${more} more`),
    legend());
}

/** @param {Strip} one */
function strip(one) {
  const { feature, kept, changed, typical } = one;
  const own = feature.sample;
  const texts = h("span", { class: "texts" },
    h("span", {}, changed ? [`${plain(own)} → `, h("strong", { class: "changed" }, withUnit(feature, changed.value))] : withUnit(feature, own)),
    kept && h("span", { class: "kept" }, kept.exact === own ? "was enough" : `${plain(kept.value)} was enough`),
    h("span", { class: "soft" }, `typical ${typeof typical === "number" ? brief(typical) : plain(typical)}`));
  const words = isWord(one);
  return h("li", {}, h("span", { class: "name" }, feature.text ?? feature.name),
    words ? h("span", { class: "words", "aria-hidden": "true" }, sequence(one)) : drawing(one), texts);
}

/** Whether a feature has names rather than numbers. @param {Strip} one */
function isWord({ feature, kept, changed, typical }) {
  return [feature.sample, typical, kept?.value, changed?.value].some((v) => typeof v === "string" || typeof v === "boolean");
}

/** Categories side by side: typical, own, new. @param {Strip} one */
function sequence({ feature, kept, changed, typical }) {
  const own = feature.sample;
  return [
    typical !== own && h("span", { class: "tag" }, plain(typical)),
    h("span", { class: kept ? "tag own kept" : "tag own" }, plain(own)),
    changed && h("span", { class: "tag new" }, plain(changed.value)),
  ];
}

/** @param {Strip} one */
function drawing({ feature, kept, changed, typical }) {
  const own = feature.sample;
  const marks = [feature.low, feature.high, typical, own, kept?.value, changed?.value].filter((v) => typeof v === "number");
  const low = Math.min(...marks);
  const width = Math.max(...marks) - low || 1;
  const at = (/** @type {number} */ v) => 3 + 94 * Math.min(Math.max((v - low) / width, 0), 1);
  const span = (/** @type {any} */ range, /** @type {string} */ kind) => {
    if (!range || "values" in range || range.low === range.high) return null;
    const from = range.low === null ? 0 : at(range.low);
    const to = range.high === null ? 100 : at(range.high);
    return to > from ? svg("rect", { class: kind, x: `${from}%`, width: `${to - from}%`, y: 3, height: 18, rx: 3 }) : null;
  };
  const bar = (/** @type {number} */ a, /** @type {number} */ b, /** @type {string} */ kind, /** @type {number} */ tall) =>
    svg("rect", { class: kind, x: `${Math.min(at(a), at(b))}%`, width: `${Math.abs(at(a) - at(b))}%`, y: 12 - tall / 2, height: tall });
  const numbers = typeof own === "number";
  return svg("svg", { class: "strip", "aria-hidden": "true", focusable: "false", height: 24 },
    span(changed?.range, "room target"),
    !changed && span(kept?.range, "room"),
    svg("line", { class: "axis", x1: "0%", x2: "100%", y1: 12, y2: 12 }),
    feature.low !== null && bar(feature.low, feature.high, "usual", 4),
    kept && typeof typical === "number" && bar(typical, kept.value, "enough", 7),
    changed && numbers && bar(own, changed.value, "move", 3),
    typeof typical === "number" && svg("rect", { class: "typical", x: `${at(typical)}%`, y: 3, width: 3, height: 18, transform: "translate(-1.5 0)" }),
    numbers && svg("circle", { class: "own", cx: `${at(own)}%`, cy: 12, r: 5 }),
    changed && head(at(changed.value), numbers && changed.value < own));
}

/** The head of an arrow, at a place in percent. @param {number} place @param {boolean} left */
function head(place, left) {
  // A nested picture can be put at a percentage; a path cannot.
  return svg("svg", { x: `${place}%`, y: 12, overflow: "visible" },
    svg("path", { class: "head", d: left ? "M-2 0 L9 -6.5 L9 6.5 Z" : "M2 0 L-9 -6.5 L-9 6.5 Z" }));
}

function legend() {
  const key = (/** @type {string} */ kind, /** @type {string} */ words) => h("li", {}, h("i", { class: `key ${kind}` }), words);
  return h("ul", { class: "legend", "aria-label": "Legend" },
    key("own", "own value"), key("typical", "typical"), key("usual", "90% of the data"),
    key("enough", "was enough"), key("move", "would change it"), key("room", "range that keeps the class"));
}
