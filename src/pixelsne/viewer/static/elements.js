// The page's elements by their ids, and the place where it says what went wrong.

/**
 * @template {HTMLElement} Kind
 * @param {string} id
 * @returns {Kind}
 */
export const element = (id) => /** @type {Kind} */ (document.getElementById(id));

/** @param {string} id */
export const input = (id) => /** @type {HTMLInputElement} */ (element(id));

/** @param {unknown} error */
export function complain(error) {
  const place = element("message");
  place.textContent = error instanceof Error ? error.message : String(error);
  place.hidden = false;
}
