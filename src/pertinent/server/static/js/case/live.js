/**
 * The case that is looked at: its values, and the answers about them as they come in. At most one
 * question of each kind is under way; while it is, only the newest of the next ones is kept.
 */

import * as api from "../core/api.js";
import * as store from "../core/state.js";
import { same } from "../core/format.js";

/** @typedef {import("../core/types.js").Row} Row */
/** @typedef {import("../core/types.js").Value} Value */

/** Events: "busy", "values", "prediction", "answer", "failure" (detail: Error). */
export const events = new EventTarget();

/** Milliseconds without an edit after which the whole answer is asked for. */
const PAUSE = 250;

/** @type {{base: Row | null, prediction: any, answer: import("../core/types.js").Explanation | null, isWhole: boolean}} */
export const now = { base: null, prediction: null, answer: null, isWhole: false };

/** @type {import("../core/types.js").Model} */
let model;

/** @returns {Row} the values with the edits */
export function values() {
  return { ...now.base, ...store.get().edits };
}

/** @param {string} event @param {any} [detail] */
function emit(event, detail) {
  events.dispatchEvent(new CustomEvent(event, { detail }));
}

/**
 * Give a function that asks; while it waits, further calls leave one more to do.
 * @param {() => Promise<void>} ask
 */
export function oneAtATime(ask) {
  let running = false;
  let again = false;
  return async function run() {
    if (running) {
      again = true;
      return;
    }
    running = true;
    try {
      do {
        again = false;
        await ask();
      } while (again);
    } catch (error) {
      emit("failure", error);
    } finally {
      running = false;
    }
    if (again) run();
  };
}

/**
 * Give a function that waits for a pause in its calls: for what costs more than a live answer.
 * @param {() => void} act
 */
export function inPauses(act) {
  /** @type {any} */
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, 2 * PAUSE);
  };
}

const predict = oneAtATime(async () => {
  const given = values();
  const { predictions } = await api.predict([given]);
  now.prediction = predictions[0];
  emit("prediction");
});

/** What is asked about the values as they are now. */
const asked = () => api.question(store.get(), [values()]);
/** @type {any} */
let later = 0;

/** The answer at once, without how far values may move; the whole one when edits pause. */
const explain = oneAtATime(async () => {
  clearTimeout(later);
  emit("busy");
  const { explanations } = await api.explain({ ...asked(), detail: "live" });
  now.answer = explanations[0];
  now.isWhole = false;
  emit("answer");
  clearTimeout(later);
  later = setTimeout(complete, PAUSE);
});

const complete = oneAtATime(async () => {
  const body = asked();
  const { explanations } = await api.explain(body);
  if (JSON.stringify(asked()) !== JSON.stringify(body)) return; // edited since: another one comes
  now.answer = explanations[0];
  now.isWhole = true;
  emit("answer");
});

const load = oneAtATime(async () => {
  const { row, own } = store.get();
  emit("busy");
  if (own !== null) {
    now.base = own;
  } else if (row !== null) {
    now.base = (await api.row(row)).values;
  } else {
    const first = (await api.rows({ limit: 1 })).rows[0];
    if (!first) return;
    now.base = first.values;
    store.set({ row: first.id });
  }
  refresh();
});

/** Ask again about the values as they are now. */
export function refresh() {
  if (!now.base) return;
  emit("values");
  predict();
  explain();
}

/** @param {import("../core/types.js").Model} of */
export function start(of) {
  model = of;
  store.listen(["row", "own"], load);
  store.listen(["edits"], refresh);
  store.listen(["rules", "ask"], () => now.base && explain());
  return load();
}

/**
 * Set values of the case; those equal to the row's own are no edits.
 * @param {Row} patch
 */
export function edit(patch) {
  const edits = { ...store.get().edits, ...patch };
  for (const [name, value] of Object.entries(edits)) {
    if (now.base && same(value, now.base[name])) delete edits[name];
  }
  store.set({ edits });
}

/** Look at a row of the data. @param {number | string} id */
export function choose(id) {
  store.set({ view: "case", row: id, own: null, edits: {} });
}

/** Look at a new row. @param {Row} row */
export function enter(row) {
  store.set({ view: "case", row: null, own: row, edits: {} });
}

/** Look at a row that matches the filters, chosen at random. */
export async function chooseRandom() {
  const found = await api.rows({ random: true, filters: [...store.get().filters] });
  if (found.rows.length) choose(found.rows[0].id);
  return found.rows.length > 0;
}

/** @returns {Row} a row of typical values */
export function typicalRow() {
  return Object.fromEntries(model.features.map((feature) => [feature.name, feature.typical]));
}
