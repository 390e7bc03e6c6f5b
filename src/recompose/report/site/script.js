"use strict";
// Sorting of tables, and the runs behind a number. Whatever comes from data goes through textContent: it is text, never markup.
const { cells, runs } = JSON.parse(document.getElementById("data").textContent);
const dialog = document.getElementById("lineage");
const content = document.getElementById("lineage-content");

function element(name, { text, className, ...attributes } = {}, ...children) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
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
  for (const other of table.querySelectorAll("[aria-sort]")) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
  const body = table.tBodies[0];
  body.append(...[...body.rows].sort((a, b) => compare(a, b, column, direction)));
}

function address(cell) {
  return "#" + [cell.artifact, cell.row, cell.column, cell.view].map(encodeURIComponent).join("&");
}

function quoted(text) {
  return "'" + text.replaceAll("'", "'\\''") + "'";
}

function traceCommand(cell) {
  const view = cell.view ? ` --view ${quoted(cell.view)}` : "";
  return `recompose trace ${cell.file} --row ${quoted(cell.row)} --column ${quoted(cell.column)}${view}`;
}

function rerunCommand(cell) {
  const names = cell.made_from.filter((key) => key.startsWith("runs/")).map((key) => key.slice("runs/".length));
  const make = names.length ? `snakemake --cores all features\nrecompose train ${names.join(" ")}\n` : "snakemake --cores all data\n";
  return `${make}recompose artifacts ${cell.paper}`;
}

function command(text) {
  const copy = element("button", { type: "button", className: "copy", text: "copy" });
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    copy.textContent = "copied";
  });
  return element("div", {}, element("pre", { text }), copy);
}

function list(entries) {
  const made = element("dl");
  for (const [name, value] of entries) {
    if (value === "" || value === null || value === undefined) continue;
    made.append(element("dt", { text: name }), element("dd", {}, value));
  }
  return made;
}

function settingsOf(run) {
  const made = element("span");
  Object.entries(run.settings).forEach(([name, value], place) => {
    const text = `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`;
    const before = run.changed[name];
    made.append(place ? ", " : "");
    made.append(before === undefined ? text : element("span", { className: "changed", text: `${text} (params.yaml: ${JSON.stringify(before)})` }));
  });
  return made;
}

function pairs(entries) {
  return Object.entries(entries).map(([name, value]) => `${name} ${value}`).join(", ");
}

function runDetails(key, value) {
  const run = runs[key];
  const seed = run.seed === null ? "" : `, seed ${run.seed}`;
  const summary = element("summary", {}, element("strong", { text: key }), `${seed}${value === undefined ? "" : `: ${value.toFixed(4)}`} `);
  if (run.dirty) summary.append(element("span", { className: "mark uncommitted", text: "uncommitted" }));
  return element("details", { open: "" }, summary, list([
    ["digest", run.digest],
    ["method", run.method && `${run.method} on ${run.dataset}${run.backbone ? `, ${run.backbone}` : ""}`],
    ["parameters", run.method && settingsOf(run)],
    ["checkpoint of", run.checkpoint_of],
    ["code", `${run.code}, commit ${run.commit}${run.dirty ? ", with uncommitted changes" : ""}`],
    ["made", `${run.started} on ${run.host}, ${run.device}`],
    ["cost", `${run.seconds} s`],
    ["found", pairs(run.inputs)],
    ["files", pairs(run.files)],
    ["folder", `results/${key}`],
  ]));
}

function show(number, remember) {
  const cell = cells[number];
  const seeds = cell.spread === null ? "" : ` (${cell.aggregate}: ${cell.value.toFixed(4)} ± ${cell.spread.toFixed(4)})`;
  const runsThere = cell.made_from.filter((key) => runs[key]);
  content.replaceChildren(
    element("h2", { id: "lineage-heading", text: [cell.artifact, cell.row, cell.column, cell.view].filter(Boolean).join(" · ") }),
    element("p", {}, element("span", { className: "value", text: cell.text }), " ", element("span", { className: `mark ${cell.state}`, text: cell.state })),
    ...cell.why.map((text) => element("p", { className: "changed", text })),
    element("p", { className: "dim", text: `n = ${cell.n ?? 0}${seeds}` }),
    element("h3", { text: "Make just this number again" }),
    command(rerunCommand(cell)),
    element("p", { className: "dim", text: "Complete runs are kept as they are: `recompose store discard runs/…` first has one made anew." }),
    element("h3", { text: "Ask for all of it, in the terminal" }),
    command(traceCommand(cell)),
    element("h3", { text: `${runsThere.length === 1 ? "The run" : `The ${runsThere.length} runs`} behind it` }),
    ...cell.missing.map((key) => element("p", { className: "changed", text: `missing: ${key}` })),
    ...runsThere.map((key) => runDetails(key, cell.values[cell.made_from.indexOf(key)])),
  );
  if (remember) history.replaceState(null, "", address(cell));
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
}

function follow() {
  const wanted = location.hash;
  const number = wanted.includes("&") ? cells.findIndex((cell) => address(cell) === wanted) : -1;
  if (number >= 0) show(number, false);
}

document.addEventListener("click", (event) => {
  const number = event.target.closest(".number");
  if (number) show(Number(number.dataset.cell), true);
  const header = event.target.closest(".sort");
  if (header) sort(header);
  if (event.target === dialog) dialog.close();
});
dialog.addEventListener("close", () => history.replaceState(null, "", location.pathname + location.search));
window.addEventListener("hashchange", follow);
window.addEventListener("beforeprint", () => document.querySelectorAll("main details").forEach((each) => { each.open = true; }));
follow();
