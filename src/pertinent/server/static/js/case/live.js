/**
 * The case that is looked at: its values, and the answers about them as they come in. At most one
 * question of each kind is under way; while it is, only the newest of the next ones is kept.
 */

import * as api from "../core/api.js";
import * as store from "../core/state.js";
import { same } from "../core/format.js";

/** @typedef {import("../core/types.js").Row} Row */
/** @typedef {import("../core/types.js").Value} Value */

/** Events: "case" (another row), "values", "prediction", "answer", "failure" (detail: Error). */
export const events = new EventTarget();

/** @type {{base: Row | null, prediction: any, answer: import("../core/types.js").Explanation | null, busy: boolean}} */
export const now = { base: null, prediction: null, answer: null, busy: false };

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

const predict = oneAtATime(async () => {
  const given = values();
  const { predictions } = await api.predict([given]);
  now.prediction = predictions[0];
  emit("prediction");
});

const explain = oneAtATime(async () => {
  const body = api.question(store.get(), [values()]);
  now.busy = true;
  emit("busy");
  try {
    const { explanations } = await api.explain(body);
    now.answer = explanations[0];
  } finally {
    now.busy = false;
  }
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
  emit("case");
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
