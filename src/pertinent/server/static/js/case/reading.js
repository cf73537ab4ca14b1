/** A new row out of CSV or JSON, validated against the features of the model. */

import { plain } from "../core/format.js";

/** @typedef {import("../core/types.js").Feature} Feature */
/** @typedef {import("../core/types.js").Row} Row */
/** @typedef {{row: Row, errors: string[], warnings: string[]}} Read */

const MISSING = new Set(["", "na", "n/a", "nan", "null", "none"]);

/**
 * Return the rows of a text: JSON (an object, or a list of them) or CSV with a first line of names.
 * @param {string} text
 * @returns {Record<string, any>[]}
 */
export function parse(text) {
  const trimmed = text.replace(/^\uFEFF/, "").trim();
  if (!trimmed) throw new Error("There is nothing to read.");
  if (/^[[{]/.test(trimmed)) return parseJson(trimmed);
  const lines = parseCsv(trimmed);
  const [names, ...rest] = lines.map((cells, i) => (i === 0 ? cells.map((name) => name.trim()) : cells));
  if (!rest.length) throw new Error("A first line with the names of the features is needed, then a line for each row.");
  const twice = names.find((name, j) => names.indexOf(name) !== j);
  if (twice !== undefined) throw new Error(`There are two columns “${twice}”.`);
  return rest.map((cells, i) => {
    if (cells.length !== names.length) {
      throw new Error(`Line ${i + 2} has ${cells.length} values, but there are ${names.length} names.`);
    }
    return Object.fromEntries(names.map((name, j) => [name, cells[j]]));
  });
}

/** @param {string} text */
function parseJson(text) {
  let found;
  try {
    found = JSON.parse(text);
  } catch (error) {
    throw new Error(`This is not JSON: ${/** @type {Error} */ (error).message}.`);
  }
  const rows = Array.isArray(found) ? found : [found];
  if (!rows.length || rows.some((row) => typeof row !== "object" || row === null || Array.isArray(row))) {
    throw new Error("JSON must be an object with a value for each feature, or a list of such objects.");
  }
  return rows;
}

/**
 * Return the cells of CSV: quotes, doubled quotes, line breaks in quotes; "," ";" or tab.
 * @param {string} text
 * @returns {string[][]}
 */
export function parseCsv(text) {
  const first = text.split(/\r?\n/, 1)[0];
  const separator = ["\t", ";", ","].reduce((best, one) => (first.split(one).length > first.split(best).length ? one : best), ",");
  /** @type {string[][]} */
  const lines = [[]];
  let cell = "";
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted) {
      if (c !== '"') cell += c;
      else if (text[i + 1] === '"') { cell += '"'; i++; } else quoted = false;
    } else if (c === '"' && cell === "") {
      quoted = true;
    } else if (c === separator || c === "\n") {
      lines[lines.length - 1].push(cell.replace(/\r$/, ""));
      cell = "";
      if (c === "\n") lines.push([]);
    } else {
      cell += c;
    }
  }
  if (quoted) throw new Error("A quote is opened and never closed.");
  lines[lines.length - 1].push(cell);
  return lines.filter((line) => line.length > 1 || line[0] !== "");
}

/**
 * Return a row with values of the right types, what is wrong with it, and what is unusual.
 * @param {Record<string, any>} given
 * @param {Feature[]} features
 * @returns {Read}
 */
export function validate(given, features) {
  /** @type {Read} */
  const out = { row: {}, errors: [], warnings: [] };
  for (const feature of features) {
    if (!Object.hasOwn(given, feature.name)) {
      out.errors.push(`${feature.name}: there is no such column.`);
      continue;
    }
    out.row[feature.name] = value(feature, given[feature.name], out);
  }
  const known = new Set(features.map((feature) => feature.name));
  const others = Object.keys(given).filter((name) => !known.has(name));
  if (others.length) out.warnings.push(`Not used, since the model has no such features: ${others.join(", ")}.`);
  return out;
}

/** @param {Feature} feature @param {any} raw @param {Read} out */
function value(feature, raw, out) {
  const text = typeof raw === "string" ? raw.trim() : raw;
  const { name, kind } = feature;
  const isMissing = text === null || (typeof text === "string" && MISSING.has(text.toLowerCase()) && !feature.categories?.includes(text));
  if (isMissing) {
    if (!feature.missing_allowed) out.errors.push(`${name}: a value is needed; the model does not take a missing one.`);
    return null;
  }
  if (kind === "category" || kind === "boolean") {
    const known = feature.categories ?? [false, true];
    const found = known.find((one) => String(one) === String(text))
      ?? known.find((one) => String(one).toLowerCase() === String(text).toLowerCase());
    if (found === undefined) out.errors.push(`${name}: expected one of ${known.slice(0, 12).map(plain).join(", ")}; got “${text}”.`);
    return found ?? null;
  }
  const number = typeof text === "string" ? Number(text) : text;
  if (!Number.isFinite(number)) {
    out.errors.push(`${name}: a number is needed; got “${text}”.`);
    return null;
  }
  if (kind === "integer" && !Number.isInteger(number)) out.errors.push(`${name}: a whole number is needed; got ${number}.`);
  const { low, high } = feature;
  if ((low !== null && number < low) || (high !== null && number > high)) {
    out.warnings.push(`${name}: ${plain(number)} is outside of the data, which run from ${plain(low)} to ${plain(high)}.`);
  }
  return number;
}
