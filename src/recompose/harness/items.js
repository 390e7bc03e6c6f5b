"use strict";
// Filtering of items by category, outcome and text. Nothing is loaded, and no content becomes markup.
const form = document.querySelector(".filters");
const items = [...document.querySelectorAll(".item")];
const texts = items.map((item) => item.textContent.toLowerCase());

function fits(item, place) {
  const { category, outcome, text } = form.elements;
  return (
    (!category.value || item.dataset.category === category.value) &&
    (!outcome.value || (outcome.value === "tie" ? item.dataset.tie === "yes" : item.dataset.outcome === outcome.value)) &&
    texts[place].includes(text.value.trim().toLowerCase())
  );
}

function filter() {
  items.forEach((item, place) => { item.hidden = !fits(item, place); });
  form.querySelector("output").textContent = `${items.filter((item) => !item.hidden).length} of ${items.length} items`;
}

form.hidden = false;
form.addEventListener("input", filter);
form.addEventListener("change", filter); // of menus, where a program chooses
form.addEventListener("submit", (event) => event.preventDefault());
filter();
