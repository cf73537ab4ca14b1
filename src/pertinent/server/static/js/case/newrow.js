/** The dialog that takes a new row: typical values to start from, or a file or text to read. */

import { byId, button, fill, h } from "../core/dom.js";
import { counted } from "../core/format.js";
import * as live from "./live.js";
import { parse, validate } from "./reading.js";

/** @typedef {import("../core/types.js").Model} Model */

/** Largest file that is read, in bytes. */
const LARGEST = 20_000_000;
/** Rows that can be chosen from. */
const MOST = 500;

/**
 * @param {HTMLButtonElement} opener
 * @param {Model} model
 */
export function start(opener, model) {
  opener.addEventListener("click", () => open(model));
}

/** @param {Model} model */
function open(model) {
  const area = h("textarea", { id: "new-text", rows: 6, spellcheck: false, placeholder: example(model) });
  const file = h("input", { id: "new-file", type: "file", accept: ".csv,.json,.txt,text/csv,application/json" });
  const found = h("div", { class: "found", "aria-live": "polite" });
  const close = () => dialog.close();
  const read = () => fill(found, outcome(area.value, model, close));
  area.addEventListener("input", read);
  file.addEventListener("change", async () => {
    const [chosen] = file.files ?? [];
    if (!chosen) return;
    if (chosen.size > LARGEST) {
      fill(found, h("p", { class: "warn", role: "alert" }, `The file has ${counted(chosen.size, "byte")}; up to ${counted(LARGEST, "byte")} are read.`));
      return;
    }
    area.value = await chosen.text();
    file.value = ""; // so that the same file, once mended, can be chosen again
    read();
  });
  const dialog = h("dialog", { class: "new-row", "aria-labelledby": "new-title" },
    h("h2", { id: "new-title" }, "A new row"),
    h("section", {}, h("h3", {}, "Enter it"), h("p", { class: "soft" }, "Start from typical values and edit them in the form."),
      button("Start from typical values", () => { live.enter(live.typicalRow()); close(); }, { class: "primary" })),
    h("section", {}, h("h3", {}, "Upload or paste it"),
      h("label", { for: file.id }, "A file, CSV or JSON"), file,
      h("label", { for: area.id }, "or its text"), area, found),
    h("div", { class: "bar" }, button("Cancel", close)));
  dialog.addEventListener("close", () => dialog.remove());
  byId("dialogs").append(dialog);
  dialog.showModal();
}

/** @param {Model} model */
function example(model) {
  const some = model.features.slice(0, 3);
  return `${some.map((f) => f.name).join(",")},…\n${some.map((f) => f.typical).join(",")},…`;
}

/**
 * What a text holds: rows to choose from, or what is wrong with it.
 * @param {string} text @param {Model} model @param {() => void} close
 */
function outcome(text, model, close) {
  if (!text.trim()) return null;
  let rows;
  try {
    rows = parse(text);
  } catch (error) {
    return h("p", { class: "warn", role: "alert" }, /** @type {Error} */ (error).message);
  }
  const body = h("div", {});
  const show = (/** @type {number} */ at) => fill(body, one(rows[at], model, close));
  const select = h("select", { id: "new-which", on: { change: () => show(Number(select.value)) } },
    rows.slice(0, MOST).map((_, i) => h("option", { value: i }, `row ${i + 1}`)));
  show(0);
  const many = rows.length > MOST ? `, the first ${MOST} to choose from` : "";
  return [rows.length > 1 && h("div", { class: "bar" }, h("label", { for: select.id }, `${counted(rows.length, "row")}${many}; use`), select), body];
}

/** @param {Record<string, any>} given @param {Model} model @param {() => void} close */
function one(given, model, close) {
  const { row, errors, warnings } = validate(given, model.features);
  const list = (/** @type {string[]} */ words) => h("ul", {}, words.slice(0, 30).map((line) => h("li", {}, line)));
  return [
    errors.length > 0 && h("div", { class: "warn", role: "alert" }, h("p", {}, `${counted(errors.length, "value")} cannot be used:`), list(errors)),
    warnings.length > 0 && h("div", { class: "soft" }, list(warnings)),
    errors.length === 0 && button("Use this row", () => { live.enter(row); close(); }, { class: "primary" }),
  ];
}
