/**
 * The shapes that the server sends and the page keeps. There is no code here: other modules refer
 * to these types in their comments.
 *
 * @typedef {number | string | boolean | null} Value
 *     A value of a feature; null is a missing one.
 *
 * @typedef {Object} Feature
 * @property {string} name
 * @property {string} [text]  what it is called
 * @property {"number" | "integer" | "category" | "boolean"} kind
 * @property {number | null} low  smallest value of the data
 * @property {number | null} high
 * @property {number | null} step
 * @property {number | null} decimals
 * @property {Value[] | null} categories
 * @property {Value} typical
 * @property {boolean} missing_allowed
 * @property {string | null} unit
 * @property {{edges: number[], counts: number[]} | {values: Value[], counts: number[]} | null} distribution
 *
 * @typedef {Object} Rules  the keyword arguments of `Constraints`, in JSON
 * @property {string[]} [frozen]
 * @property {Record<string, [number | null, number | null]>} [bounds]
 * @property {string[]} [increase_only]
 * @property {string[]} [decrease_only]
 * @property {string[]} [integer]
 * @property {Record<string, Value[] | null>} [categories]
 * @property {Record<string, number>} [costs]
 * @property {number | null} [max_changes]
 *
 * @typedef {Object} Model
 * @property {string} name
 * @property {Value[]} classes
 * @property {Record<string, string>} [class_words]
 * @property {string} [subject]
 * @property {boolean} has_probability
 * @property {number} n_rows
 * @property {Feature[]} features
 * @property {Rules} rules
 * @property {string[]} methods
 * @property {{method: string, norm: string, min_probability: number | null, plausible: boolean}} [options]  what the server was started with
 * @property {boolean} [plausible]
 * @property {string} version
 * @property {string} fingerprint
 * @property {{feature: string, rule: string, words: string}[]} inferred
 *
 * @typedef {Record<string, Value>} Row
 *
 * @typedef {Object} Ask  what is asked beside the rules
 * @property {Value} target  null: any other class
 * @property {number | null} minProbability
 * @property {string | null} method
 * @property {string | null} norm
 * @property {boolean} plausible
 *
 * @typedef {[string, string, Value]} Filter  feature or "@class" and the like, operator, value
 *
 * @typedef {{name: string, values: Row}} Scenario
 *
 * @typedef {Object} State
 * @property {"case" | "rows" | "cohorts"} view
 * @property {number | string | null} row  id of a row of the data
 * @property {Row | null} own  a new row, in full
 * @property {Row} edits  values that differ from those of the row
 * @property {Rules | null} rules  null: those that the server was started with
 * @property {Ask} ask
 * @property {Filter[]} filters
 * @property {string} sort
 * @property {string} order
 * @property {Scenario[]} scenarios
 * @property {string} panel  what is open below the answer
 * @property {string} by  column of the cohorts
 *
 * @typedef {Object} Explanation
 * @property {Record<string, string>} words  sentences, without the headings
 * @property {Record<string, string>} headings
 * @property {any} summary
 * @property {{before: number | null, after: number | null, of: Value} | null} probability
 * @property {{kind: string, words: string, rules: Conflict[], minimal?: boolean} | null} reason
 * @property {string} constraints_line
 * @property {number} seconds
 * @property {any} [stored]
 *
 * @typedef {{kind: string, features: string[], number?: number, words: string, place?: number, text?: string, inferred?: boolean}} Conflict
 */

export {};
