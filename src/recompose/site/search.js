
// ---- search over tables, figures, their rows, claims and numbers

const field = document.getElementById("search");
const hits = document.getElementById("hits");
const SHOWN = 30; // hits
let entries = null;

function normal(text) {
  return text.toLowerCase().replace(/\s+/g, " ").trim();
}

// everything that can be found: its text, what it is, and its element
function collect() {
  const papers = [...document.querySelectorAll(".paper")].map((node) => [node, node.id, node.querySelector("h2").textContent]);
  const found = papers.map(([node, id, title]) => ({ node, kind: "paper", text: title, place: id }));
  for (const article of document.querySelectorAll("article")) {
    const paper = article.closest(".paper").id, title = article.querySelector("h3").firstChild.textContent.trim();
    found.push({ node: article, kind: article.querySelector(".drawing") ? "figure" : "table", text: `${title}: ${article.querySelector("h3 + p").textContent}`, place: paper });
    const names = new Set();
    for (const row of article.querySelectorAll("tbody tr")) {
      const name = row.querySelector("th").firstElementChild?.textContent ?? row.querySelector("th").textContent;
      if (!names.has(name)) found.push({ node: row, kind: "row", text: name, place: `${paper}, ${title}` });
      names.add(name);
    }
    for (const claim of article.querySelectorAll(".claims li")) found.push({ node: claim, kind: "claim", text: `${claim.querySelector("q").textContent} (${claim.dataset.name})`, place: paper });
  }
  found.push(...numbers());
  return found.map((entry) => ({ ...entry, searched: normal(`${entry.text} ${entry.place}`) }));
}

// printed numbers once, where their table is not folded
function numbers() {
  const shown = [...document.querySelectorAll("article td[data-value]")].filter((node) => node.querySelector(".number") || !node.closest("details"));
  return shown.map((node) => {
    const article = node.closest("article"), table = node.closest("table");
    const row = node.parentNode.querySelector(".name").textContent, column = table.tHead.rows[1].cells[node.cellIndex].textContent;
    const title = article.querySelector("h3").firstChild.textContent.trim();
    return { node, kind: "number", text: `${node.textContent.trim()}: ${row}, ${column}`, place: `${article.closest(".paper").id}, ${title}` };
  });
}

// entries with all words, those that begin with the text first; numbers only if a word has digits
function matching(text) {
  entries ??= collect();
  const wanted = normal(text), words = wanted.split(" ");
  const isNumber = words.some((word) => /^[-+]?\d/.test(word));
  const found = entries.filter((entry) => (isNumber || entry.kind !== "number") && words.every((word) => entry.searched.includes(word)));
  return found.sort((a, b) => b.searched.startsWith(wanted) - a.searched.startsWith(wanted));
}

function goTo(node) {
  closeHits();
  unfold(node);
  node.scrollIntoView({ block: node.matches("tr, td, li") ? "center" : "start" });
  document.querySelector(".hit")?.classList.remove("hit");
  node.classList.add("hit");
  node.setAttribute("tabindex", "-1");
  node.focus({ preventScroll: true });
}

function closeHits() {
  hits.hidden = true;
}

function showHits() {
  const text = field.value.trim();
  if (!text) return closeHits();
  const found = matching(text);
  const rest = found.length > SHOWN ? `${found.length - SHOWN} more: add a word` : found.length ? "" : "Nothing found: try a number, or one word of a row, a caption or a claim";
  hits.replaceChildren(...found.slice(0, SHOWN).map((entry) => {
    const button = element("button", { type: "button" }, element("span", { className: "kind", text: entry.kind }), ` ${shortened(entry.text, 110)} `, element("span", { className: "dim", text: entry.place }));
    button.addEventListener("click", () => goTo(entry.node));
    return button;
  }), ...(rest ? [element("p", { className: "dim", role: "status", text: rest })] : []));
  hits.hidden = false;
}

field.addEventListener("input", showHits);
field.addEventListener("focus", showHits);
field.form.addEventListener("submit", (event) => {
  event.preventDefault();
  hits.querySelector("button")?.click();
});
field.form.addEventListener("keydown", (event) => {
  const buttons = [...hits.querySelectorAll("button")], place = buttons.indexOf(document.activeElement);
  if (event.key === "Escape") closeHits();
  if (event.key === "ArrowDown") buttons[Math.min(place + 1, buttons.length - 1)]?.focus();
  if (event.key === "ArrowUp") (place > 0 ? buttons[place - 1] : field).focus();
  if (/^Arrow(Up|Down)$/.test(event.key)) event.preventDefault();
});
document.addEventListener("click", (event) => {
  if (!event.target.closest(".search")) closeHits();
});

// the bar says in which paper one is
const bar = document.querySelector(".papers");
const papersSeen = new IntersectionObserver((seen) => seen.forEach(({ target, isIntersecting }) => {
  const link = bar.querySelector(`a[href="#${CSS.escape(target.id)}"]`);
  if (isIntersecting) link.setAttribute("aria-current", "true");
  else link.removeAttribute("aria-current");
}), { rootMargin: "-20% 0px -80% 0px" });
for (const paper of document.querySelectorAll(".paper")) papersSeen.observe(paper);

// what is gone to stands below the bar, however high the bar is
new ResizeObserver(() => document.documentElement.style.setProperty("scroll-padding-top", `${bar.offsetHeight + 8}px`)).observe(bar);
