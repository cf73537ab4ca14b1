/** Numbers, values and labels as they are read. */

/** @typedef {import("./types.js").Feature} Feature */
/** @typedef {import("./types.js").Value} Value */

const GROUPED = new Intl.NumberFormat("en-US", { maximumFractionDigits: 12 });
const COMPACT = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 3 });

/**
 * Return a number with a thousands separator and its own digits; very large and very small ones
 * in powers of ten.
 * @param {number} value
 */
export function number(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e15 || size < 1e-4)) return Number(value.toPrecision(13)).toExponential();
  return GROUPED.format(value);
}

/** A number where there is little room, such as the ends of a slider. @param {number} value */
export function short(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e15 || size < 1e-3)) return value.toExponential(1);
  return size >= 1e5 ? COMPACT.format(value) : brief(value);
}

/** A number for a glance: four digits at most. @param {number} value */
export function brief(value) {
  return number(Number(value.toPrecision(4)));
}

/** @param {Value | undefined} value */
export function plain(value) {
  if (value === null || value === undefined) return "missing";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "number" ? number(value) : String(value);
}

/**
 * Return a value of a feature with its unit.
 * @param {Feature} feature
 * @param {Value | undefined} value
 */
export function withUnit(feature, value) {
  const words = plain(value);
  return feature.unit && typeof value === "number" ? `${words} ${feature.unit}` : words;
}

/**
 * Return a share in percent: more digits near 0, 1/2 and 1, where they decide something.
 * @param {number | null | undefined} share
 */
export function percent(share) {
  if (share === null || share === undefined || !Number.isFinite(share)) return "–";
  const value = 100 * share;
  if (Math.abs(value - 50) < 0.5 && value !== 50) return `${value.toFixed(2)}%`;
  if ((value > 0 && value < 1) || (value > 99 && value < 100)) {
    const digits = value.toPrecision(2);
    return value < 1 ? `${Number(digits)}%` : `${Math.min(value, 99.99).toFixed(value > 99.9 ? 2 : 1)}%`;
  }
  return `${Math.round(value)}%`;
}

/**
 * Return "1 row", "2 rows".
 * @param {number} count
 * @param {string} noun
 * @param {string} [plural]
 */
export function counted(count, noun, plural = `${noun}s`) {
  return `${number(count)} ${count === 1 ? noun : plural}`;
}

/** A sentence that stands by itself; a name such as x0 stays as it is written. @param {string} words */
export const begun = (words) => (/^[a-z]{2,}(?![\w-])/.test(words) ? `${words.charAt(0).toUpperCase()}${words.slice(1)}` : words);

/** "a, b and c". @param {string[]} words */
export function listed(words) {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}

/** A class as it is called. @param {import("./types.js").Model} model @param {Value | undefined} label */
export function className(model, label) {
  return model.class_words?.[classKey(model, label)] ?? plain(label);
}

/**
 * The name of a class in what is told by class: as Python writes it, True and 1.0 and not true and 1.
 * @param {import("./types.js").Model} model @param {Value | undefined} label
 */
export function classKey(model, label) {
  if (typeof label === "boolean") return label ? "True" : "False";
  const text = String(label);
  return typeof label !== "number" || Object.hasOwn(model.class_words ?? {}, text) ? text : `${text}.0`;
}

/** Whether two values are the same one. @param {Value | undefined} one @param {Value | undefined} other */
export function same(one, other) {
  return (one ?? null) === (other ?? null);
}
