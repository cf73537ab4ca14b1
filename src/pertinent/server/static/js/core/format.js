/** Numbers, values and labels as they are read. */

/** @typedef {import("./types.js").Feature} Feature */
/** @typedef {import("./types.js").Value} Value */

const GROUPED = new Intl.NumberFormat("en-US", { maximumFractionDigits: 12 });

/**
 * Return a number with a thousands separator and its own digits; very large and very small ones
 * in powers of ten.
 * @param {number} value
 */
export function number(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e15 || size < 1e-6)) return value.toExponential(3);
  return GROUPED.format(value);
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

/** A sentence that stands by itself. @param {string} words */
export const begun = (words) => `${words.charAt(0).toUpperCase()}${words.slice(1)}`;

/** "a, b and c". @param {string[]} words */
export function listed(words) {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}

/** A class as it is called. @param {import("./types.js").Model} model @param {Value | undefined} label */
export function className(model, label) {
  return model.class_words?.[String(label)] ?? plain(label);
}

/** Whether two values are the same one. @param {Value | undefined} one @param {Value | undefined} other */
export function same(one, other) {
  return (one ?? null) === (other ?? null);
}
