// Hands in the token of the address, which only this page has seen, and gets a cookie for it.

const words = /** @type {HTMLElement} */ (document.getElementById("words"));
const given = new URLSearchParams(location.hash.slice(1));
const token = given.get("token");
given.delete("token");
history.replaceState(null, "", "/enter");

if (token === null) {
  words.textContent = "Please open the address that pixelsne printed; it holds the key.";
} else {
  const answer = await fetch("/enter", { method: "POST", body: token });
  if (answer.ok) location.replace(given.size > 0 ? `/#${given}` : "/");
  else words.textContent = await answer.text();
}

export {};
