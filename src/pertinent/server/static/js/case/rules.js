/** What the user allows, as plain functions on the rules: each returns new ones. */

import * as store from "../core/state.js";
import { brief, plain } from "../core/format.js";

/** @typedef {import("../core/types.js").Rules} Rules */
/** @typedef {import("../core/types.js").Feature} Feature */
/** @typedef {import("../core/types.js").Conflict} Conflict */
/** @typedef {"any" | "up" | "down"} Direction */

/** @type {import("../core/types.js").Model} */
let model;

/** @param {import("../core/types.js").Model} of */
export function start(of) {
  model = of;
}

/** @returns {Rules} the rules in force: the user's, or those that the server was started with */
export function inForce() {
  return store.get().rules ?? model.rules ?? {};
}

/**
 * Put new rules into the state; the server's own are not repeated there.
 * @param {Rules} rules
 */
export function put(rules) {
  const tidy = Object.fromEntries(Object.entries(rules).filter(([, value]) => says(value)));
  const own = Object.fromEntries(Object.entries(model.rules ?? {}).filter(([, value]) => says(value)));
  store.set({ rules: alike(tidy, own) ? null : tidy });
}

/** @param {any} value */
function says(value) {
  if (value === null || value === undefined) return false;
  return typeof value !== "object" || Object.keys(value).length > 0;
}

/** @param {any} one @param {any} other */
function alike(one, other) {
  const sorted = (/** @type {any} */ of) => JSON.stringify(Object.entries(of).sort(([a], [b]) => (a < b ? -1 : 1)));
  return sorted(one) === sorted(other);
}

/** @param {string[] | undefined} list @param {string} name @param {boolean} on */
function toggled(list, name, on) {
  const others = (list ?? []).filter((one) => one !== name);
  return on ? [...others, name] : others;
}

/** @param {Record<string, any> | undefined} record @param {string} name @param {any} value */
function entry(record, name, value) {
  const { [name]: _, ...others } = record ?? {};
  return value === undefined ? others : { ...others, [name]: value };
}

/** @param {Rules} rules @param {string} name */
export const isFrozen = (rules, name) => (rules.frozen ?? []).includes(name);

/** @param {Rules} rules @param {string} name @param {boolean} on */
export const freeze = (rules, name, on) => ({ ...rules, frozen: toggled(rules.frozen, name, on) });

/** @param {Rules} rules @param {string} name @returns {Direction} */
export function direction(rules, name) {
  if ((rules.increase_only ?? []).includes(name)) return "up";
  return (rules.decrease_only ?? []).includes(name) ? "down" : "any";
}

/** @param {Rules} rules @param {string} name @param {Direction} to */
export const direct = (rules, name, to) => ({
  ...rules,
  increase_only: toggled(rules.increase_only, name, to === "up"),
  decrease_only: toggled(rules.decrease_only, name, to === "down"),
});

/** @param {Rules} rules @param {string} name @param {[number | null, number | null] | undefined} ends */
export const bound = (rules, name, ends) => ({ ...rules, bounds: entry(rules.bounds, name, ends) });

/** @param {Rules} rules @param {string} name @param {any[] | null | undefined} allowed */
export const allow = (rules, name, allowed) => ({ ...rules, categories: entry(rules.categories, name, allowed) });

/** @param {Rules} rules @param {string} name @param {number} factor */
export const cost = (rules, name, factor) => ({
  ...rules, costs: entry(rules.costs, name, factor === 1 ? undefined : factor),
});

/** @param {Rules} rules @param {number | null} most */
export const atMost = (rules, most) => ({ ...rules, max_changes: most });

/** What is ruled for a feature, in few words. @param {Rules} rules @param {Feature} feature */
export function chips(rules, feature) {
  const { name } = feature;
  const out = [];
  if (direction(rules, name) !== "any") out.push(direction(rules, name) === "up" ? "only up" : "only down");
  const ends = rules.bounds?.[name];
  if (ends) out.push(endsInWords(ends));
  const allowed = rules.categories?.[name];
  if (allowed) out.push(`only ${allowed.map(plain).join(", ")}`);
  if (allowed === null) out.push("any category");
  const factor = rules.costs?.[name];
  if (factor !== undefined && factor !== 1) out.push(`cost ×${brief(factor)}`);
  return out;
}

/** @param {[number | null, number | null]} ends */
function endsInWords([low, high]) {
  if (low === null && high === null) return "any number";
  if (high === null) return `≥ ${brief(/** @type {number} */ (low))}`;
  return low === null ? `≤ ${brief(high)}` : `${brief(low)} to ${brief(high)}`;
}

/** How a rule is taken back, by its kind. @type {Record<string, (rules: any, name: string, one: Conflict) => Rules>} */
const RELAX = {
  frozen: (rules, name) => freeze(rules, name, false),
  "at-least": (rules, name) => bound(rules, name, [null, rules.bounds?.[name]?.[1] ?? null]),
  "at-most": (rules, name) => bound(rules, name, [rules.bounds?.[name]?.[0] ?? null, null]),
  bounds: (rules, name) => bound(rules, name, [null, null]),
  "increase-only": (rules, name) => direct(rules, name, "any"),
  "decrease-only": (rules, name) => direct(rules, name, "any"),
  decimals: (rules, name) => freely(rules, name),
  step: (rules, name) => freely(rules, name),
  categories: (rules, name) => allow(rules, name, null),
  transitions: (rules, name) => ({ ...rules, transitions: entry(rules.transitions, name, undefined) }),
  relation: (rules, _, one) => ({ ...rules, relations: (rules.relations ?? []).filter((/** @type {any} */ r, /** @type {number} */ i) => i !== one.place && r !== one.text) }),
  together: (rules, _, one) => ({ ...rules, together: (rules.together ?? []).filter((/** @type {any} */ set) => !alike(set, one.features)) }),
  "max-changes": (rules) => atMost(rules, null),
  "data-at-least": (rules, name) => bound(rules, name, [null, null]),
  "data-at-most": (rules, name) => bound(rules, name, [null, null]),
  "data-step": (rules, name) => freely(rules, name),
  "data-change": (rules, name) => freely(rules, name),
  "data-categories": (rules, name) => allow(rules, name, null),
};

/** Let a number have any digits. @param {any} rules @param {string} name */
function freely(rules, name) {
  return {
    ...rules,
    integer: toggled(rules.integer, name, false),
    decimals: entry(rules.decimals, name, undefined),
    step: entry(rules.step, name, null),
  };
}

/** Whether a rule of a conflict can be taken back: the model's own limits cannot. @param {Conflict} one */
export const canRelax = (one) => one.kind === "plausible" || one.kind in RELAX;

/** Take back one rule of a conflict. @param {Conflict} one */
export function relax(one) {
  if (one.kind === "plausible") {
    store.set({ ask: { ...store.get().ask, plausible: false } });
    return;
  }
  let rules = inForce();
  for (const name of one.features.length ? one.features : [""]) rules = RELAX[one.kind](rules, name, one);
  put(rules);
}
