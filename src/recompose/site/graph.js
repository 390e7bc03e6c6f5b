
// ---- the lineage of a number as a drawing: data, backbone, what is prepared, runs, evaluations, and the number

const LAYERS = [["data", "backbones"], ["features", "grids", "pixels"], ["runs"], ["evaluations"], ["number"]];
const NODE = { width: 144, height: 54, across: 28, down: 10 };
const MOST = 60; // nodes; a drawing of more is no help

function layerOf(key) {
  return LAYERS.findIndex((kinds) => kinds.includes(key.split("/")[0]));
}

function svgElement(name, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

// how many nodes stand side by side on a narrow screen, as style.css calls one; on others, a layer is a column
function nodesAcross() {
  if (!matchMedia("(max-width: 48rem)").matches) return 0;
  return Math.max(1, Math.floor((0.96 * innerWidth - 40 + NODE.down) / (NODE.width + NODE.down)));
}

// the nodes of each layer that has any
function layersOf(keys) {
  return LAYERS.map((_, layer) => keys.filter((key) => layerOf(key) === layer)).filter((layer) => layer.length);
}

// the place of each node, by its key, with layers from left to right
function inColumns(layers) {
  const tallest = Math.max(...layers.map((layer) => layer.length));
  const found = new Map();
  layers.forEach((layer, column) => layer.forEach((key, row) => found.set(key, {
    x: column * (NODE.width + NODE.across),
    y: (row + (tallest - layer.length) / 2) * (NODE.height + NODE.down) + 2,
  })));
  return { found, width: layers.length * (NODE.width + NODE.across) - NODE.across + 4, height: tallest * (NODE.height + NODE.down) };
}

// the same with layers from top to bottom, of so many nodes side by side
function inRows(layers, across) {
  const widest = Math.min(Math.max(...layers.map((layer) => layer.length)), across);
  const found = new Map();
  let top = 2;
  for (const layer of layers) {
    layer.forEach((key, number) => found.set(key, {
      x: (number % across) * (NODE.width + NODE.down),
      y: top + Math.floor(number / across) * (NODE.height + NODE.down),
    }));
    top += Math.ceil(layer.length / across) * (NODE.height + NODE.down) + NODE.across - NODE.down;
  }
  return { found, width: widest * (NODE.width + NODE.down) - NODE.down + 4, height: top - NODE.across + 4 };
}

function edgeAcross(from, to) {
  const [x, y, end, level] = [from.x + NODE.width + 2, from.y + NODE.height / 2, to.x + 2, to.y + NODE.height / 2];
  const middle = (x + end) / 2;
  return svgElement("path", { d: `M${x},${y} C${middle},${y} ${middle},${level} ${end},${level}`, class: "edge" });
}

function edgeDown(from, to) {
  const [x, y, end, level] = [from.x + NODE.width / 2 + 2, from.y + NODE.height, to.x + NODE.width / 2 + 2, to.y];
  const middle = (y + level) / 2;
  return svgElement("path", { d: `M${x},${y} C${x},${middle} ${end},${middle} ${end},${level}`, class: "edge" });
}

function shortened(text, letters = 20) {
  return text.length > letters ? `${text.slice(0, letters - 1)}…` : text;
}

// what is drawn below the heading: the method or data, and then its seed with what the name says more
function linesOf(key, name) {
  const seed = stored[key]?.seed ?? null;
  const [first, ...rest] = name.replace(/, seed \d+$/, "").split(" ");
  const more = seed === null ? rest : [`seed ${seed}`, ...rest];
  return [shortened(first), shortened(more.join(" "))];
}

function graphNode(key, place, heading, name) {
  const isStored = key !== "number/";
  const lines = isStored ? linesOf(key, name) : [shortened(name), ""];
  const texts = [heading, ...lines].map((text, line) => svgElement("text", { x: 8, y: [15, 31, 46][line], ...(line ? {} : { class: "kind" }) }, text));
  const title = svgElement("title", {}, isStored ? `${key}: ${name}` : name);
  const behaviour = isStored ? { role: "button", tabindex: "0", "data-jump": key, "aria-label": `${heading} ${lines.join(" ")}: ${name}` } : {};
  const box = svgElement("rect", { width: NODE.width, height: NODE.height, rx: 5 });
  return svgElement("g", { class: `node ${isStored ? "" : "goal"}`, transform: `translate(${place.x + 2},${place.y})`, ...behaviour }, title, box, ...texts.flatMap((text) => [text, " "]));
}

const SINGULAR = { data: "data", backbones: "backbone", features: "features", grids: "grids", pixels: "pixels", runs: "run", evaluations: "evaluation" };

// the kind of a result and the first letters of its digest, which tell two seeds apart
function heading(key) {
  const [kind, digest] = key.split("/");
  return `${SINGULAR[kind]} ${digest.slice(0, 8)}`;
}

function lineageGraph(keys, text) {
  const behind = closure(keys).filter((key) => layerOf(key) >= 0);
  if (behind.length > MOST) return element("p", { className: "dim", text: `A drawing of ${behind.length} results would be no help; they are listed below.` });
  const goal = "number/";
  const [layers, across] = [layersOf([...behind, goal]), nodesAcross()];
  const [{ found, width, height }, edge] = across ? [inRows(layers, across), edgeDown] : [inColumns(layers), edgeAcross];
  const edges = behind.flatMap((key) => stored[key].needs.filter((need) => found.has(need)).map((need) => edge(found.get(need), found.get(key))));
  edges.push(...keys.map((key) => edge(found.get(key), found.get(goal))));
  const nodes = behind.map((key) => graphNode(key, found.get(key), heading(key), stored[key].name));
  const drawing = svgElement("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Lineage: data, backbone, runs, evaluations, number" }, ...edges, ...nodes, graphNode(goal, found.get(goal), "made from these", text));
  return element("div", { className: "scroll graph", tabindex: "0", role: "region", "aria-label": "Lineage as a drawing" }, drawing);
}

content.addEventListener("keydown", (event) => {
  const node = event.target.closest("g[data-jump]");
  if (!node || (event.key !== "Enter" && event.key !== " ")) return;
  event.preventDefault();
  jump(node.dataset.jump);
});
