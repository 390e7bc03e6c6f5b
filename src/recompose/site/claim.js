
// ---- the dialog of a claim: what is compared, pair by pair, and how it was tested

function pairTable(comparison) {
  const rows = comparison.pairs.map((pair) => {
    const values = pair.sides.map((side) => {
      if (!side.key || !stored[side.key]) return element("td", { text: side.text || "not run" });
      const link = element("button", { type: "button", className: "jump", text: side.text, "data-jump": side.key, title: side.key });
      return element("td", {}, link);
    });
    return element("tr", {}, element("th", { scope: "row", text: pair.seed }), ...values, element("td", { text: pair.difference || "-" }));
  });
  return tableOf(`Values of ${comparison.text}, pair by pair`, ["seed", ...comparison.sides, "difference"], rows);
}

function priceText({ price, verdict }) {
  if (!price.length) return verdict.startsWith("undecided") ? "unknown: no spread over replicates" : "";
  return `${price[0]} replicates decide it with 80 % probability if the difference is as measured, ${price[1]} if there is none`;
}

function comparisonNodes(comparison, claim) {
  const unit = claim.unit ? ` ${claim.unit}` : "";
  return [
    element("h3", { text: comparison.text }),
    pairTable(comparison),
    definitions([
      ["verdict", comparison.verdict],
      ["difference", comparison.difference && `${comparison.difference}${unit}`],
      ["95 % interval", comparison.interval],
      ["margin", `${comparison.is_kept ? "to be within " : ""}${comparison.margin}${unit}`],
      ["corrected p", comparison.p !== "-" && `${comparison.p} of a difference (of ${claim.family} comparisons), ${comparison.p_margin} within the margin (of ${claim.margin_family})`],
      ["before correction", comparison.test && `p ${comparison.test.p} of a difference, ${comparison.test.p_margin} within the margin; ${comparison.test.replicates} pairs`],
      ["price", priceText(comparison)],
    ]),
  ];
}

function claimNodes(claim, cell) {
  const [deciding, ...others] = claim.comparisons;
  const rest = others.length === 1 ? "1 more comparison of this claim" : `${others.length} more comparisons of this claim`;
  return [
    element("p", {}, element("q", { text: claim.sentence })),
    element("p", {}, element("span", { className: "value", text: claim.verdict }), " ", element("span", { className: `mark ${cell.state}`, text: cell.state })),
    element("p", { className: "dim", text: `On ${claim.dataset}.${claim.synthetic ? " The data is synthetic: the verdict does not refute or confirm the paper." : ""}` }),
    ...comparisonNodes(deciding, claim),
    ...(others.length ? [element("details", {}, element("summary", { text: rest }), ...others.flatMap((comparison) => comparisonNodes(comparison, claim)))] : []),
  ];
}

// open the details of a stored folder in the dialog
function jump(key) {
  const target = [...content.querySelectorAll("details[data-key]")].find((each) => each.dataset.key === key);
  if (!target) return;
  target.open = true;
  target.scrollIntoView({ block: "start" });
  target.querySelector("summary").focus();
}

content.addEventListener("click", (event) => {
  const link = event.target.closest("[data-jump]");
  if (link) jump(link.dataset.jump);
});
