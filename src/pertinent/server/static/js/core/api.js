/** The server, as functions. Errors come as `ApiError` with the server's own words. */

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Row} Row */

const BASE = new URL("api/v1/", document.baseURI);
const TOKEN = "pertinent-token";

/** What the server refused, in its words. */
export class ApiError extends Error {
  /** @param {number} status @param {any} problem */
  constructor(status, problem) {
    super(problem?.detail || problem?.title || `The server answered with status ${status}.`);
    this.status = status;
    /** @type {string | null} */
    this.field = problem?.field ?? null;
  }
}

/** Called when the server wants a token. @type {() => Promise<string | null>} */
let askForToken = async () => null;

/** @param {() => Promise<string | null>} ask */
export function onTokenNeeded(ask) {
  askForToken = ask;
}

/**
 * @param {string} path
 * @param {{body?: any, signal?: AbortSignal, as?: "json" | "text", patience?: number}} [options]
 *     patience: how often to ask again when the server is busy
 * @returns {Promise<any>}
 */
async function request(path, { body, signal, as = "json", patience = 3 } = {}) {
  /** @type {Record<string, string>} */
  const headers = { Accept: as === "json" ? "application/json" : "text/html" };
  const token = sessionStorage.getItem(TOKEN);
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(new URL(path, BASE), {
      method: body === undefined ? "GET" : "POST",
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, { detail: "The server cannot be reached. Is it still running?" });
  }
  if (response.ok) return as === "json" ? response.json() : response.text();
  if (response.status === 503 && patience > 0) {
    await new Promise((resolve) => { setTimeout(resolve, 1000 * Number(response.headers.get("Retry-After") ?? 1)); });
    return request(path, { body, signal, as, patience: patience - 1 });
  }
  if (response.status === 401) {
    const given = await askForToken();
    if (given) {
      sessionStorage.setItem(TOKEN, given);
      return request(path, { body, signal, as });
    }
  }
  const problem = await response.json().catch(() => null);
  throw new ApiError(response.status, problem);
}

export const model = () => request("model");

/** @param {number | string} id */
export const row = (id) => request(`rows/${encodeURIComponent(id)}`);

/**
 * @param {{filters?: import("./types.js").Filter[], offset?: number, limit?: number, sort?: string, order?: string, random?: boolean}} query
 * @param {AbortSignal} [signal]
 */
export function rows(query, signal) {
  const asked = new URLSearchParams();
  if (query.random) asked.set("random", "1");
  if (query.limit !== undefined) asked.set("limit", String(query.limit));
  if (query.offset) asked.set("offset", String(query.offset));
  if (query.sort && query.sort !== "@id") asked.set("sort", query.sort);
  if (query.order === "desc") asked.set("order", "desc");
  for (const filter of query.filters ?? []) asked.append("filter", filterText(filter));
  return request(`rows?${asked}`, { signal });
}

/**
 * Return a filter as the server reads it; a ":" in a name is written %3A.
 * @param {import("./types.js").Filter} filter
 */
export function filterText([feature, operator, value]) {
  const name = feature.startsWith("@") ? feature : encodeURIComponent(feature);
  return value === null ? `${name}:${operator}` : `${name}:${operator}:${value}`;
}

/** @param {Row[]} given @param {AbortSignal} [signal] */
export const predict = (given, signal) => request("predict", { body: { rows: given }, signal });

/** @param {any} body @param {AbortSignal} [signal] */
export const explain = (body, signal) => request("explain", { body, signal });

/** @param {any} body */
export const alternatives = (body) => request("alternatives", { body });

/** @param {any} body */
export const menu = (body) => request("menu", { body });

/** @param {any} body */
export const cohorts = (body) => request("cohorts", { body });

/** @param {any} explanation */
export const check = (explanation) => request("check", { body: { explanation } });

/** @param {any} body */
export const letter = (body) => request("letter", { body, as: "text" });

/** @param {any} body */
export const report = (body) => request("report", { body, as: "text" });

/**
 * Return the question of a state for one or more rows.
 * @param {Readonly<State>} state
 * @param {Row[]} given
 */
export function question(state, given) {
  const { target, minProbability, method, norm, plausible } = state.ask;
  /** @type {any} */
  const body = { rows: given };
  if (state.rules !== null) body.rules = state.rules;
  if (target !== null) body.target = target;
  if (minProbability !== null) body.min_probability = minProbability;
  if (method !== null) body.method = method;
  if (norm !== null) body.norm = norm;
  if (plausible) body.plausible = true;
  return body;
}
