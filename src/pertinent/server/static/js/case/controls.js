/** A control for a value of each kind: slider, stepper, list, "missing". */

import { button, h, svg } from "../core/dom.js";
import { number, plain, short } from "../core/format.js";

/** @typedef {import("../core/types.js").Feature} Feature */
/** @typedef {import("../core/types.js").Value} Value */

/**
 * @typedef {Object} Control
 * @property {HTMLElement} node
 * @property {(value: Value) => void} show  put a value in, from outside
 */

/**
 * Return the control of a feature.
 * @param {Feature} feature
 * @param {string} id  of its input, which a label names
 * @param {(value: Value) => void} change
 * @returns {Control}
 */
export function control(feature, id, change) {
  const inner =
    feature.kind === "category" ? list(feature, id, change)
    : feature.kind === "boolean" ? truth(feature, id, change)
    : slider(feature, id, change);
  return feature.missing_allowed ? withMissing(feature, inner, id, change) : inner;
}

/**
 * @param {Feature} feature @param {string} id @param {(value: Value) => void} change
 * @returns {Control}
 */
function list(feature, id, change) {
  const known = [...(feature.categories ?? [])];
  const select = h("select", { id });
  const options = () => select.replaceChildren(...known.map((one, i) => h("option", { value: i }, plain(one))));
  options();
  select.addEventListener("change", () => change(known[Number(select.value)]));
  return {
    node: select,
    show(value) {
      if (value === null || value === undefined) return;
      if (!known.includes(value)) {
        known.push(value);
        options();
      }
      select.value = String(known.indexOf(value));
    },
  };
}

/**
 * @param {Feature} feature @param {string} id @param {(value: Value) => void} change
 * @returns {Control}
 */
function truth(feature, id, change) {
  const known = feature.categories ?? [false, true];
  const box = h("input", { id, type: "checkbox", class: "switch", role: "switch" });
  const words = h("span", { class: "soft", "aria-hidden": "true" });
  const say = () => { words.textContent = plain(known[box.checked ? 1 : 0]); };
  box.addEventListener("change", () => {
    say();
    change(known[box.checked ? 1 : 0]);
  });
  return {
    node: h("span", { class: "truth" }, box, words),
    show(value) {
      box.checked = value !== null && known.indexOf(value) === 1;
      say();
    },
  };
}

/** The step of a slider: the feature's own, or a round part of its range. @param {Feature} feature */
export function stepOf(feature) {
  if (feature.step) return feature.step;
  if (feature.kind === "integer") return 1;
  if (typeof feature.decimals === "number") return 10 ** -feature.decimals;
  const width = (feature.high ?? 1) - (feature.low ?? 0);
  return width > 0 ? 10 ** Math.floor(Math.log10(width / 200)) : 0.01;
}

/** A sum of steps without the noise of binary fractions. @param {number} value @param {number} step */
function tidy(value, step) {
  const digits = Math.max(0, Math.min(12, Math.ceil(-Math.log10(step)) + 2));
  return Number(value.toFixed(digits));
}

/**
 * A slider over the range of the data with its distribution behind it, and the number beside it;
 * whole numbers have a stepper.
 * @param {Feature} feature @param {string} id @param {(value: Value) => void} change
 * @returns {Control}
 */
function slider(feature, id, change) {
  const step = stepOf(feature);
  const low = feature.low ?? 0;
  const high = feature.high ?? 1;
  const name = feature.text ?? feature.name;
  const bar = h("input", { type: "range", min: low, max: high, step: "any", "aria-label": `${name}, slider` });
  const field = h("input", { id, type: "number", step: "any", inputmode: "decimal" });
  const digits = Math.max(...[low, high, feature.typical].map((value) => String(value).length));
  field.style.width = `${Math.min(Math.max(digits + 3, 8), 15)}ch`;
  const snap = (/** @type {number} */ value) =>
    tidy(Math.min(Math.max(low + Math.round((value - low) / step) * step, low), high), step);
  bar.addEventListener("input", () => {
    const value = snap(Number(bar.value));
    field.value = String(value);
    change(value);
  });
  bar.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
    if (!by) return;
    event.preventDefault();
    move(by);
  });
  const put = () => {
    const value = field.valueAsNumber;
    const whole = feature.kind !== "integer" || Number.isInteger(value);
    field.setCustomValidity(Number.isNaN(value) ? "A number is needed." : whole ? "" : "A whole number is needed.");
    if (!field.reportValidity()) return;
    bar.value = String(value);
    change(value);
  };
  field.addEventListener("change", put);
  const move = (/** @type {number} */ by) => {
    const value = tidy((field.valueAsNumber || 0) + by * step, step);
    field.value = String(value);
    put();
  };
  const isWhole = feature.kind === "integer";
  const ends = h("span", { class: "ends", "aria-hidden": "true" }, h("span", {}, short(low)), h("span", {}, short(high)));
  const node = h("span", { class: "slider" },
    h("span", { class: "track" }, histogram(feature), bar, ends),
    h("span", { class: isWhole ? "stepper" : "field" },
      isWhole && button("−", () => move(-1), { "aria-label": `${name}: one step less` }),
      field,
      isWhole && button("+", () => move(1), { "aria-label": `${name}: one step more` })));
  return {
    node,
    show(value) {
      if (typeof value !== "number") return;
      if (field.valueAsNumber !== value) field.value = String(value);
      bar.value = String(value);
      bar.setAttribute("aria-valuetext", number(value));
    },
  };
}

/** The distribution of a number, as a picture behind its slider. @param {Feature} feature */
function histogram(feature) {
  const given = feature.distribution;
  if (!given || !("edges" in given) || given.counts.length === 0) return null;
  const most = Math.max(...given.counts, 1);
  const from = feature.low ?? given.edges[0];
  const width = (feature.high ?? given.edges[given.edges.length - 1]) - from || 1;
  const bars = given.counts.map((count, i) => {
    const x = (100 * (given.edges[i] - from)) / width;
    const w = (100 * (given.edges[i + 1] - given.edges[i])) / width;
    const tall = count ? Math.max(4, (100 * count) / most) : 0;
    return svg("rect", { x: `${x}%`, width: `${Math.max(w - 0.6, 0.4)}%`, y: `${100 - tall}%`, height: `${tall}%` });
  });
  return svg("svg", { class: "histogram", "aria-hidden": "true", focusable: "false" }, bars);
}

/**
 * @param {Feature} feature @param {Control} inner @param {string} id
 * @param {(value: Value) => void} change
 * @returns {Control}
 */
function withMissing(feature, inner, id, change) {
  const box = h("input", { type: "checkbox", id: `${id}-missing` });
  /** @type {Value} */
  let last = feature.typical;
  const block = () => inner.node.toggleAttribute("inert", box.checked);
  box.addEventListener("change", () => {
    block();
    if (!box.checked) inner.show(last);
    change(box.checked ? null : last);
  });
  const name = feature.text ?? feature.name;
  return {
    node: h("span", { class: "may-miss" }, inner.node,
      h("label", { class: "missing" }, box, "missing", h("span", { class: "out-of-sight" }, ` (${name})`))),
    show(value) {
      box.checked = value === null || value === undefined;
      block();
      if (!box.checked) {
        last = value;
        inner.show(value);
      }
    },
  };
}
