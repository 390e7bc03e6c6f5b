"use strict";
// Sorting of tables, and the runs behind a number. All data goes through textContent: it is text, never markup.
let cells = [], claims = [], stored = {}; // see start
const dialog = document.getElementById("lineage");
const content = document.getElementById("lineage-content");

function element(name, { text, className, ...attributes } = {}, ...children) {
  const node = document.createElement(name);
  if (text !== undefined) node.textContent = text;
  if (className) node.className = className;
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

function valueIn(row, column) {
  const cell = row.cells[column];
  return cell.dataset.value === undefined ? null : Number(cell.dataset.value);
}

function compare(first, second, column, direction) {
  if (column === 0) return direction * first.cells[0].textContent.localeCompare(second.cells[0].textContent);
  const [a, b] = [valueIn(first, column), valueIn(second, column)];
  if (a === null || b === null) return (a === null) - (b === null); // rows without a number stay below
  return direction * (a - b);
}

function sort(button) {
  const header = button.closest("th");
  const table = header.closest("table");
  const column = [...header.parentNode.cells].indexOf(header);
  const falling = header.getAttribute("aria-sort") === (column === 0 ? "ascending" : "descending");
  const direction = (column === 0) === falling ? -1 : 1;
  for (const sorted of table.querySelectorAll("[aria-sort]")) sorted.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
  const body = table.tBodies[0];
  body.append(...[...body.rows].sort((a, b) => compare(a, b, column, direction)));
}

function address(cell) {
  return "#" + [cell.artifact, cell.row, cell.column, cell.view].map(encodeURIComponent).join("&");
}

function quote(text) {
  return /^[\w%+=:,.\/-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'";
}

function traceCommand(cell) {
  const view = cell.view ? ` --view ${quote(cell.view)}` : "";
  return `recompose trace ${quote(cell.artifact)} --row ${quote(cell.row)} --column ${quote(cell.column)}${view}`;
}

function makeCommand(cell) {
  const place = [cell.row, cell.column, cell.view].filter(Boolean).join("/");
  return `recompose make --cell ${quote(`${document.body.dataset.reports}/${cell.artifact}#${place}`)}`;
}

// these keys and those of everything that they were made from
function closure(keys) {
  const visited = new Set();
  const walk = (key) => {
    if (visited.has(key) || !stored[key]) return;
    visited.add(key);
    stored[key].needs.forEach(walk);
  };
  keys.forEach(walk);
  return [...visited];
}

function discardCommand(cell) {
  const trained = closure(claims[cell.claim]?.belonging ?? cell.made_from).filter((key) => /^(runs|evaluations)\//.test(key));
  return trained.map((key) => `recompose store discard ${key}`).join(" &&\n");
}

async function copy(text, block, button) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "copied";
  } catch { // some browsers have no clipboard for files, or ask first
    getSelection().selectAllChildren(block);
    button.textContent = "selected: copy it with the keyboard";
  }
}

function command(text) {
  const block = element("pre", { text, tabindex: "0" });
  const button = element("button", { type: "button", className: "copy", text: "copy" });
  button.addEventListener("click", () => copy(text, block, button));
  return element("div", { className: "command" }, block, button);
}

function definitions(entries) {
  const list = element("dl");
  for (const [name, value] of entries) {
    if (value === "" || value === null || value === undefined || value === false) continue;
    list.append(element("dt", { text: name }), element("dd", {}, value));
  }
  return list;
}

function settingsText(settings) {
  return Object.entries(settings).map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`).join(", ");
}

function changesText(record) {
  const names = Object.keys(record.changed);
  if (!names.length) return "none: as in params.yaml";
  const lines = names.map((name) => `${settingsText({ [name]: record.settings[name] })} (params.yaml: ${JSON.stringify(record.changed[name])})`);
  return element("span", { className: "changed", text: lines.join(", ") });
}

function pairsText(entries) {
  return Object.entries(entries).map(([name, value]) => `${name} ${value}`).join(", ");
}

// a table in a region that scrolls by itself
function tableOf(caption, headings, rows) {
  const header = element("tr", {}, ...headings.map((text) => element("th", { scope: "col", text })));
  const table = element("table", {}, element("caption", { text: caption }), element("thead", {}, header), element("tbody", {}, ...rows));
  return element("div", { className: "scroll", tabindex: "0", role: "region", "aria-label": caption }, table);
}

// a key that may break after its kind
function keyCode(key) {
  const [kind, ...rest] = key.split("/");
  return element("code", { className: "key" }, ...(rest.length ? [`${kind}/`, element("wbr"), rest.join("/")] : [kind]));
}

function overview(keys, cell) {
  const rows = keys.map((key) => {
    const record = stored[key];
    const value = cell.values.length === cell.made_from.length ? cell.values[cell.made_from.indexOf(key)] : "";
    const run = record.needs.find((need) => need.startsWith("runs/")) ?? "";
    const cellsOfRow = [record.seed ?? "", value].map((text) => element("td", { text }));
    return element("tr", {}, element("th", { scope: "row" }, keyCode(key)), ...cellsOfRow, element("td", {}, keyCode(run)));
  });
  return tableOf(`The evaluations behind this ${thing(cell)}`, ["made from", "seed", "value", "run"], rows);
}

function details(key, isOpen) {
  const record = stored[key];
  const summary = element("summary", {}, element("strong", { text: key }), ` ${record.name} `);
  const isTrained = /^(runs|evaluations)$/.test(record.kind);
  return element("details", { "data-key": key, ...(isOpen ? { open: "" } : {}) }, summary, definitions([
    ["digest", record.digest],
    ["changed", isTrained && changesText(record)],
    ["parameters", settingsText(record.settings)],
    ["made from", record.needs.join(", ")],
    ["code", record.code],
    ["inputs", pairsText(record.inputs)],
    ["files", pairsText(record.files)],
    ["folder", `results/${key}`],
  ]));
}

function thing(cell) {
  return cell.kind === "figure" ? "figure" : cell.claim === undefined ? "number" : "claim";
}

function summaryOf(cell) {
  if (!cell.n) return "no complete run";
  const values = cell.values.length && cell.values.length !== cell.made_from.length ? `by seed: ${cell.values.join(", ")}` : "";
  return [`n = ${cell.n}`, cell.kind !== "figure" && cell.aggregate, values].filter(Boolean).join(", ");
}

function rebuildSection(cell, keys) {
  const nodes = [
    element("h3", { text: `Make just this ${thing(cell)} again` }),
    element("p", { className: "dim" }, "In the project's folder, with its environment: ", element("code", { text: "source .venv/bin/activate" })),
    command(makeCommand(cell)),
  ];
  if (cell.state === "outdated")
    nodes.push(element("p", { text: `The current params.yaml, code and data would give another ${thing(cell)}; the command uses them. The commit of this ${thing(cell)} is in made.json.` }));
  if (keys.length)
    nodes.push(element("details", {}, element("summary", { text: "Complete results are not rebuilt. Discard them first to rebuild them" }), command(discardCommand(cell))));
  return nodes;
}

function openDialog(opener, ...nodes) {
  content.replaceChildren(...nodes);
  dialog.classList.toggle("wide", Boolean(content.querySelector(".enlarged")));
  opener?.focus(); // the dialog returns the focus to it
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
}

function headingOf(cell) {
  if (cell.kind === "figure") return `${cell.title} of ${cell.paper}: ${cell.row}, ${cell.column}`;
  return `${cell.row}, ${cell.column}`;
}

function lead(cell) {
  const state = element("span", { className: `mark ${cell.state}`, text: cell.state });
  const value = cell.kind === "figure" ? "This part of the figure is" : element("span", { className: "value", text: cell.text });
  return element("p", {}, value, " ", state);
}

function show(number, opener) {
  const cell = cells[number], claim = claims[cell.claim];
  const keys = (claim ? claim.belonging : cell.made_from).filter((key) => stored[key]);
  openDialog(opener,
    element("h2", { id: "lineage-heading", text: headingOf(cell) }),
    element("p", { className: "dim", text: [cell.artifact, cell.view].filter(Boolean).join(", ") }),
    ...(claim ? claimNodes(claim, cell) : [lead(cell)]),
    ...cell.why.map((text) => element("p", { className: "changed", text })),
    ...(claim ? [] : [element("p", { className: "dim", text: summaryOf(cell) })]),
    element("h3", { text: keys.length === 1 ? "One result behind it" : `${keys.length} results behind it` }),
    ...(keys.length && !claim ? [overview(keys, cell)] : []),
    ...(keys.length ? [lineageGraph(keys, claim ? claim.verdict : cell.kind === "figure" ? cell.title : cell.text)] : []),
    ...rebuildSection(cell, keys),
    element("h3", { text: "More details in the terminal" }),
    command(traceCommand(cell)),
    element("h3", { text: "All details" }),
    ...closure(keys).map((key, place) => details(key, place === 0 && !claim)),
  );
  history.replaceState(null, "", address(cell));
}

// the figure at its own size, in a region that scrolls both ways
function enlarge(button) {
  const drawing = button.querySelector("img");
  openDialog(button,
    element("h2", { id: "lineage-heading", text: button.closest("article").querySelector("h3").textContent.trim() }),
    element("p", { className: "dim", text: drawing.alt }),
    element("div", { className: "scroll enlarged", tabindex: "0", role: "region", "aria-label": "The figure at its own size" }, element("img", { src: drawing.src, alt: drawing.alt })),
  );
}

function unfold(node) {
  for (let folded = node?.closest("details"); folded; folded = folded.parentElement.closest("details")) folded.open = true;
}

function tell(text) {
  document.getElementById("notice").textContent = text;
  if (text) document.getElementById("notice").scrollIntoView({ block: "center" });
}

function decoded(text) {
  try {
    return decodeURIComponent(text.replaceAll("&", ", "));
  } catch {
    return text;
  }
}

function follow() {
  const hash = location.hash;
  const number = hash.includes("&") ? cells.findIndex((cell) => address(cell) === hash) : -1;
  const target = number < 0 ? document.getElementById(decoded(hash.slice(1))) : document.querySelector(`article .number[data-cell="${number}"]`);
  unfold(target);
  tell(hash.length > 1 && !target ? `This page has nothing at ${decoded(hash.slice(1))}. Search for it above, or start at a paper.` : "");
  if (number < 0) {
    if (target instanceof HTMLDetailsElement) target.open = true;
    return;
  }
  target?.scrollIntoView({ block: "center" });
  show(number, target);
}

// data is compressed; a result's key is its place among the stored ones
async function start() {
  const bytes = Uint8Array.from(atob(document.getElementById("data").textContent), (letter) => letter.charCodeAt(0));
  const text = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  ({ cells, claims, stored } = await new Response(text).json());
  const keys = Object.keys(stored), keysAt = (places) => places.map((place) => keys[place] ?? place);
  for (const cell of cells) cell.made_from = keysAt(cell.made_from);
  for (const record of Object.values(stored)) record.needs = keysAt(record.needs);
  for (const number of document.querySelectorAll(".number")) number.setAttribute("aria-haspopup", "dialog");
}

const unpacked = start();
unpacked.catch((error) => document.querySelector("main").prepend(element("p", { className: "changed", text: `The runs behind numbers are not available: this browser cannot unpack them (${error.message}). Use recompose trace.` })));
document.addEventListener("click", (event) => {
  const number = event.target.closest(".number");
  if (number) unpacked.then(() => show(Number(number.dataset.cell), number));
  const figure = event.target.closest(".enlarge");
  if (figure) enlarge(figure);
  const header = event.target.closest(".sort");
  if (header) sort(header);
  if (event.target === dialog) dialog.close();
});
dialog.addEventListener("close", () => history.replaceState(null, "", location.pathname + location.search));
window.addEventListener("hashchange", () => unpacked.then(follow));
window.addEventListener("beforeprint", () => document.querySelectorAll("header details, main details:not(.runs)").forEach((details) => { details.open = true; }));
unpacked.then(follow);
