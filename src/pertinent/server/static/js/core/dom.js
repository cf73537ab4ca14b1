/**
 * Elements without a framework. Text only ever goes in as text: names and values of the data are
 * never read as HTML.
 */

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * Give an element its attributes: `class`, `on` (listeners), `dataset`, properties for what is a
 * boolean, attributes for the rest. Null and undefined leave an attribute out.
 * @param {Element} node
 * @param {Record<string, any>} attributes
 */
function dress(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else if (name === "dataset") {
      Object.assign(/** @type {HTMLElement} */ (node).dataset, value);
    } else if (typeof value === "boolean" && !name.startsWith("aria-")) {
      node.toggleAttribute(name, value);
    } else {
      node.setAttribute(name, String(value));
    }
  }
}

/**
 * Return an HTML element.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {any}
 */
export function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  dress(node, attributes);
  node.append(...kept(children));
  return node;
}

/**
 * Return an SVG element.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {any}
 */
export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  dress(node, attributes);
  node.append(...kept(children));
  return node;
}

/**
 * @param {any[]} children
 * @returns {(Node | string)[]}
 */
function kept(children) {
  return children
    .flat(2)
    .filter((child) => child !== null && child !== undefined && child !== false && child !== "")
    .map((child) => (child instanceof Node ? child : String(child)));
}

/**
 * Return a button.
 * @param {Child | Child[]} label
 * @param {(event: Event) => void} act
 * @param {Record<string, any>} [attributes]
 */
export function button(label, act, attributes = {}) {
  return h("button", { type: "button", ...attributes, on: { click: act } }, label);
}

/**
 * Put new children into an element, and keep the keyboard's focus where it was: on the element
 * with the same `data-key`, if there still is one.
 * @param {Element} node
 * @param {...(Child | Child[])} children
 */
export function fill(node, ...children) {
  const active = document.activeElement;
  const key = active && node.contains(active) ? active.getAttribute("data-key") : null;
  node.replaceChildren(...kept(children));
  if (key === null) return;
  for (const one of node.querySelectorAll("[data-key]")) {
    if (one.getAttribute("data-key") === key) /** @type {HTMLElement} */ (one).focus();
  }
}

/**
 * @param {string} id
 * @returns {any}
 */
export function byId(id) {
  const node = document.getElementById(id);
  if (!node) throw new Error(`The page has no element "${id}".`);
  return node;
}

/** Say something to screen readers. @param {string} words */
export function announce(words) {
  byId("announcer").textContent = words;
}

/** Say something that failed or was done, in a line that goes away. @param {string} words */
export function notify(words) {
  const node = byId("notice");
  node.textContent = words;
  node.hidden = false;
  clearTimeout(node.timer);
  node.timer = setTimeout(() => { node.hidden = true; }, 6000);
}

/**
 * Copy a text, and say so.
 * @param {string} text
 * @param {string} what
 */
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    notify(`${what} copied.`);
  } catch {
    const area = h("textarea", { class: "out-of-sight", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    notify(done ? `${what} copied.` : `The browser does not let the page copy. ${text}`);
  }
}

/**
 * Hand a file to the user.
 * @param {string} name
 * @param {string} text
 * @param {string} type
 */
export function download(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
