/**
 * The state of the page: one plain object, kept in the fragment of the address. The fragment is
 * never sent to a server, so a shared link leaves no personal value in any log.
 */

/** @typedef {import("./types.js").State} State */

/** @type {State} */
const START = {
  view: "case",
  row: null,
  own: null,
  edits: {},
  rules: null,
  ask: { target: null, minProbability: null, method: null, norm: null, plausible: false },
  filters: [],
  sort: "@id",
  order: "asc",
  scenarios: [],
  panel: "",
  by: "@class",
};

const KEYS = /** @type {(keyof State)[]} */ (Object.keys(START));
/** What a new entry of the browser's history is made for. @type {(keyof State)[]} */
const STEPS = ["view", "row", "own"];

/** @type {State} */
let state = structuredClone(START);
/** @type {{keys: (keyof State)[], act: (state: State) => void}[]} */
const listeners = [];
let writing = 0;

/** @returns {Readonly<State>} */
export function get() {
  return state;
}

/**
 * Change the state, tell those who listen, and write the address.
 * @param {Partial<State>} patch
 */
export function set(patch) {
  const changed = KEYS.filter((key) => key in patch && !equal(state[key], patch[key]));
  if (!changed.length) return;
  const isStep = changed.some((key) => STEPS.includes(key));
  if (isStep && writing) link(); // the entry that is left keeps its last edits
  state = { ...state, ...patch };
  write(isStep);
  tell(changed);
}

/**
 * Call a function whenever one of these parts of the state changed.
 * @param {(keyof State)[]} keys
 * @param {(state: State) => void} act
 */
export function listen(keys, act) {
  listeners.push({ keys, act });
}

/** Read the state from the address, now and whenever the user goes back or forth. */
export function restore() {
  const read = () => {
    const next = decode(location.hash);
    const changed = KEYS.filter((key) => !equal(state[key], next[key]));
    state = next;
    tell(changed);
  };
  addEventListener("popstate", read);
  addEventListener("hashchange", read);
  state = decode(location.hash);
}

/** @param {(keyof State)[]} changed */
function tell(changed) {
  for (const { keys, act } of listeners) {
    if (keys.some((key) => changed.includes(key))) act(state);
  }
}

/** @param {boolean} step */
function write(step) {
  clearTimeout(writing);
  writing = 0;
  if (step) {
    history.pushState(null, "", encode(state));
  } else {
    // Browsers allow few changes of the address a second; a slider makes many.
    writing = setTimeout(link, 150);
  }
}

/** Write the address at once: before it is copied. @returns {string} */
export function link() {
  clearTimeout(writing);
  writing = 0;
  history.replaceState(null, "", encode(state));
  return location.href;
}

/**
 * Return the fragment of a state; what is as at the start is left out.
 * @param {State} of
 */
export function encode(of) {
  const parts = KEYS.filter((key) => !equal(of[key], START[key])).map(
    (key) => `${key}=${encodeURIComponent(JSON.stringify(of[key]))}`,
  );
  return `#${parts.join("&")}`;
}

/**
 * Return the state of a fragment. A part that cannot be read, or is of another type than it should
 * be, is as at the start.
 * @param {string} fragment
 * @returns {State}
 */
export function decode(fragment) {
  /** @type {any} */
  const out = structuredClone(START);
  for (const part of fragment.replace(/^#/, "").split("&")) {
    const at = part.indexOf("=");
    const key = /** @type {keyof State} */ (part.slice(0, at));
    if (at < 0 || !KEYS.includes(key)) continue;
    try {
      const value = JSON.parse(decodeURIComponent(part.slice(at + 1)));
      if (fits(key, value)) out[key] = key === "ask" ? { ...START.ask, ...value } : value;
    } catch (error) {
      if (!(error instanceof SyntaxError || error instanceof URIError)) throw error;
    }
  }
  return out;
}

/** @param {keyof State} key @param {any} value */
function fits(key, value) {
  if (key === "row") return ["number", "string"].includes(typeof value);
  if (key === "filters") return Array.isArray(value) && value.every((one) => Array.isArray(one) && one.length === 3 && one.every(isValue) && typeof one[0] === "string");
  if (key === "scenarios") {
    return Array.isArray(value) && value.every((one) => typeof one?.name === "string" && isRow(one?.values));
  }
  if (key === "own" || key === "edits") return isRow(value);
  if (key === "rules") return isRecord(value) && Object.entries(value).every(([rule, one]) => !Object.hasOwn(RULES, rule) || RULES[rule](one));
  if (key === "ask") return isRecord(value);
  if (key === "view") return ["case", "rows", "cohorts"].includes(value);
  return typeof value === "string";
}

/** @param {any} value */
function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @param {any} value */
const isValue = (value) => value === null || typeof value !== "object";
/** @param {any} value */
const isRow = (value) => isRecord(value) && Object.values(value).every(isValue);
/** @param {any} value */
const isNumber = (value) => value === null || typeof value === "number";
/** @param {any} value */
const isNames = (value) => Array.isArray(value) && value.every((one) => typeof one === "string");
/** @param {any} value */
const isEnds = (value) => Array.isArray(value) && value.length === 2 && value.every(isNumber);
/** @param {any} value */
const isChoice = (value) => value === null || Array.isArray(value);

/** Whether every value of a record is of a kind. @param {(value: any) => boolean} is */
const each = (is) => (/** @type {any} */ value) => isRecord(value) && Object.values(value).every(is);

/** What the page reads of rules; whether they make sense is said by the server. @type {Record<string, (value: any) => boolean>} */
const RULES = {
  frozen: isNames, increase_only: isNames, decrease_only: isNames, integer: isNames,
  bounds: each(isEnds), categories: each(isChoice), costs: each((value) => typeof value === "number"), max_changes: isNumber,
  decimals: isRecord, step: isRecord, transitions: isRecord, relations: Array.isArray, together: Array.isArray,
};

/** @param {any} one @param {any} other */
function equal(one, other) {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
