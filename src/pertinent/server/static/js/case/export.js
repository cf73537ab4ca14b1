/** What leaves the page: letter, stored explanation with its certificate, report, link; and Verify. */

import * as api from "../core/api.js";
import { button, copy, download, fill, h, notify } from "../core/dom.js";
import * as store from "../core/state.js";
import * as live from "./live.js";

/** @param {HTMLElement} place */
export function start(place) {
  const verdict = h("div", { role: "status", class: "verdict" });
  const act = (/** @type {string} */ label, /** @type {() => Promise<void>} */ what, kind = "") => {
    const made = button(label, async () => {
      made.disabled = true;
      try {
        await what();
      } catch (error) {
        notify(/** @type {Error} */ (error).message);
      } finally {
        made.disabled = false;
        made.focus();
      }
    }, { class: kind });
    return made;
  };
  fill(place,
    h("div", { class: "bar" },
      act("Verify", () => verify(verdict), "primary"),
      act("Letter", letter), act("JSON with certificate", stored), act("Report", report),
      act("Copy link", () => copy(store.link(), "The link")),
      button("Print", () => print())),
    verdict);
  live.events.addEventListener("values", () => fill(verdict));
  store.listen(["rules", "ask"], () => fill(verdict));
}

/** The stored explanation of the values as they are now. */
async function withCertificate() {
  const body = { ...api.question(store.get(), [live.values()]), certificate: true };
  return (await api.explain(body)).explanations[0].stored;
}

const WORDS = {
  holds: "The explanation holds: every claim was checked again, without the solver.",
  refuted: "The explanation does not hold.",
  unknown: "The check could not decide every claim.",
};

/** @param {HTMLElement} place */
async function verify(place) {
  fill(place, h("p", { class: "soft" }, "Checking…"));
  const found = await api.check(await withCertificate());
  const kind = found.verdict in WORDS ? found.verdict : found.ok ? "holds" : "unknown";
  fill(place, h("p", { class: `said ${kind}` }, /** @type {Record<string, string>} */ (WORDS)[kind]),
    h("details", {}, h("summary", {}, "Claim by claim"),
      h("ul", { class: "findings" }, (found.findings ?? []).map((/** @type {any} */ one) =>
        h("li", {}, h("strong", {}, one.verdict), ` ${one.claim ?? ""} `, h("span", { class: "soft" }, one.words ?? ""))))));
}

function fileName() {
  const { row, own } = store.get();
  return own || row === null ? "new-row" : `row-${String(row).replace(/[^\w.-]+/g, "_")}`;
}

async function stored() {
  download(`${fileName()}.json`, JSON.stringify(await withCertificate()), "application/json");
}

async function report() {
  download(`${fileName()}-report.html`, await api.report(api.question(store.get(), [live.values()])), "text/html");
}

/** Show the letter, to print it or to keep it. */
async function letter() {
  const text = await api.letter(api.question(store.get(), [live.values()]));
  const paper = h("div", { class: "paper" });
  inside(paper, text);
  const dialog = h("dialog", { class: "letter", "aria-label": "Letter" },
    h("div", { class: "bar screen-only" },
      button("Print", () => print(), { class: "primary" }),
      button("Download", () => download(`${fileName()}-letter.html`, text, "text/html")),
      button("Close", () => dialog.close())),
    paper);
  dialog.addEventListener("close", () => {
    document.body.classList.remove("letter-open");
    dialog.remove();
  });
  document.body.append(dialog);
  document.body.classList.add("letter-open");
  dialog.showModal();
}

/**
 * Put a document of the server into an element, apart from the page's own style. The letter brings
 * its style along, which the page's security policy forbids as text but allows as a sheet.
 * @param {HTMLElement} place
 * @param {string} text
 */
function inside(place, text) {
  const parsed = new DOMParser().parseFromString(text, "text/html");
  const sheet = new CSSStyleSheet();
  sheet.replaceSync([...parsed.querySelectorAll("style")].map((one) => one.textContent).join("\n").replace(/\b(html|body|:root)\b(?=[\s,{.])/g, ":host"));
  for (const one of parsed.querySelectorAll("script, style, link, meta, title, base, iframe, object")) one.remove();
  const root = place.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = [sheet];
  root.append(...parsed.body.childNodes);
}
