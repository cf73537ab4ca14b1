/** Where the parts of the page meet. */

import * as api from "./core/api.js";
import { byId, fill, h, notify } from "./core/dom.js";
import { begun, counted } from "./core/format.js";
import * as store from "./core/state.js";
import * as answer from "./case/answer.js";
import * as asking from "./case/asking.js";
import * as exporting from "./case/export.js";
import * as form from "./case/form.js";
import * as live from "./case/live.js";
import * as newrow from "./case/newrow.js";
import * as rules from "./case/rules.js";
import * as scenarios from "./case/scenarios.js";
import * as ways from "./case/ways.js";
import * as cohorts from "./cohorts/cohorts.js";
import * as list from "./rows/list.js";

/** @typedef {import("./core/types.js").Model} Model */

const VIEWS = /** @type {const} */ (["case", "rows", "cohorts"]);
const PANELS = ["alternatives", "menu", "scenarios"];

/** Ask for the token of a server that wants one. @returns {Promise<string | null>} */
function askForToken() {
  return new Promise((resolve) => {
    const field = h("input", { id: "token", type: "password", autocomplete: "current-password", required: true });
    const dialog = h("dialog", { "aria-labelledby": "token-title" }, h("form", { method: "dialog" },
      h("h2", { id: "token-title" }, "This server wants a token"),
      h("p", {}, "Whoever started it knows the token. It is kept until this tab is closed."),
      h("label", { for: field.id }, "Token"), field,
      h("div", { class: "bar" }, h("button", { class: "primary" }, "Go on"))));
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(field.value || null);
    });
    byId("dialogs").append(dialog);
    dialog.showModal();
  });
}

/** Show the view of the state, and nothing else. @param {Readonly<import("./core/types.js").State>} state */
function showView(state) {
  for (const one of VIEWS) byId(`view-${one}`).hidden = one !== state.view;
  for (const tab of document.querySelectorAll("[data-view]")) {
    if (tab.getAttribute("data-view") === state.view) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
}

/** Views and panels as buttons and tabs. */
function navigation() {
  // The fragment of the address holds the state, so the link must not change it.
  byId("skip").addEventListener("click", (/** @type {Event} */ event) => {
    event.preventDefault();
    byId("main").focus();
  });
  for (const one of document.querySelectorAll("[data-view]")) {
    one.addEventListener("click", () => store.set({ view: /** @type {any} */ (one.getAttribute("data-view")) }));
  }
  const tabs = [...document.querySelectorAll("[data-panel]")].map((one) => /** @type {HTMLElement} */ (one));
  const showPanel = () => {
    const open = store.get().panel;
    for (const tab of tabs) {
      const own = tab.dataset.panel === open;
      tab.setAttribute("aria-selected", String(own));
      tab.tabIndex = own || (!PANELS.includes(open) && tab === tabs[0]) ? 0 : -1;
      byId(/** @type {string} */ (tab.dataset.panel)).hidden = !own;
    }
  };
  tabs.forEach((tab, i) => {
    tab.addEventListener("click", () => store.set({ panel: store.get().panel === tab.dataset.panel ? "" : tab.dataset.panel }));
    tab.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      const next = tabs[(i + by + tabs.length) % tabs.length];
      next.focus();
      store.set({ panel: next.dataset.panel });
    });
  });
  store.listen(["panel"], showPanel);
  store.listen(["view"], showView);
  showPanel();
  showView(store.get());
}

/** The line above a case: which row it is, and other rows. @param {Model} model */
function chooser(model) {
  const field = byId("case-id");
  byId("by-id").addEventListener("submit", async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!field.value.trim()) return;
    try {
      live.choose((await api.row(field.value.trim())).id);
    } catch (error) {
      notify(/** @type {Error} */ (error).message);
    }
  });
  byId("random").addEventListener("click", async () => {
    if (!(await live.chooseRandom())) notify("No row matches the filters.");
  });
  newrow.start(byId("new-row"), model);
  const draw = () => {
    const { row, own } = store.get();
    const subject = model.subject ?? "row";
    byId("case-title").textContent = own ? `A new ${subject}` : `${begun(subject)} ${row ?? ""}`;
    document.title = `${byId("case-title").textContent} · pertinent`;
    field.value = own || row === null ? "" : String(row);
  };
  store.listen(["row", "own"], draw);
  draw();
}

async function start() {
  api.onTokenNeeded(askForToken);
  store.restore();
  /** @type {Model} */
  const model = await api.model();
  byId("model-facts").textContent = `${model.name} · ${counted(model.features.length, "feature")} · ${counted(model.n_rows, "row")}`;
  byId("fingerprint").textContent = `pertinent ${model.version ?? ""} · model ${String(model.fingerprint ?? "").slice(0, 16)}`;
  rules.start(model);
  navigation();
  form.start(byId("form"), model);
  answer.start({ prediction: byId("prediction"), answer: byId("answer") }, model);
  asking.start(byId("asking"), model);
  exporting.start(byId("export"));
  ways.startAlternatives(byId("alternatives"), model);
  ways.startMenu(byId("menu"), model);
  scenarios.start(byId("scenarios"), model);
  list.start(byId("rows"), model);
  cohorts.start(byId("cohorts"), model);
  chooser(model);
  await live.start(model);
  document.documentElement.dataset.ready = "yes";
}

start().catch((error) => {
  const failed = byId("failed");
  fill(failed, h("h2", {}, "The page could not start"), h("p", {}, error.message));
  failed.hidden = false;
});
