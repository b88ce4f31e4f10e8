// The login page: posts the token in the URL's fragment, gets a cookie, and opens the map.

const message = /** @type {HTMLElement} */ (document.getElementById("message"));
const parameters = new URLSearchParams(location.hash.slice(1));
const token = parameters.get("token");
parameters.delete("token");
history.replaceState(null, "", "/enter"); // keeps the token out of the history

if (token === null) {
  message.textContent = "Please open the address that pixelsne printed; it contains the access token.";
} else {
  const response = await fetch("/enter", { method: "POST", body: token });
  if (response.ok) location.replace(parameters.size > 0 ? `/#${parameters}` : "/");
  else message.textContent = await response.text();
}

export {};
