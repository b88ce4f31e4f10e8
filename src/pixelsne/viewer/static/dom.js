// The page's elements by their ids, and its error message.

/**
 * @template {HTMLElement} Type
 * @param {string} id
 * @returns {Type}
 */
export const element = (id) => /** @type {Type} */ (document.getElementById(id));

/** @param {string} id */
export const input = (id) => /** @type {HTMLInputElement} */ (element(id));

/** @param {unknown} error */
export function showError(error) {
  const node = element("message");
  node.textContent = error instanceof Error ? error.message : String(error);
  node.hidden = false;
}
