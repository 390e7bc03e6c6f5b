"""The output of `recompose trace --full`."""

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from rich.console import Console
from rich.tree import Tree

from recompose.console import escape_markup, state_colour
from recompose.digest import short
from recompose.exhibits.evidence import ClaimEvidence, ComparisonEvidence
from recompose.files import Document
from recompose.provenance.cell_place import place_text
from recompose.provenance.trace import TraceResult
from recompose.records import BuildInfo, StableRecord, code_text, flat
from recompose.workspace import Workspace

Facts = Document  # by title


def show_trace(console: Console, work: Workspace, path: Path, traced: TraceResult) -> None:
    """Print a cell as a tree: value, state, and everything that it was made from; common facts appear once."""
    cell = traced.cell
    place = " · ".join(escape_markup(text) for text in (str(path), cell.row, cell.column, cell.view) if text)
    colour = state_colour(traced.state)
    tree = Tree(f"[bold]{escape_markup(cell.text)}[/bold]  {place} · [{colour}]{traced.word}[/{colour}]")
    for reason in traced.reasons:
        tree.add(f"[{colour}]{escape_markup(reason)}[/{colour}]")
    if traced.note:
        tree.add(escape_markup(traced.note))
    if cell.value is not None:
        spread = f" ± {cell.spread:.4f}" if cell.spread is not None else ""
        tree.add(f"{cell.aggregate}: {cell.value:.4f}{spread}, n = {cell.n}")
    has_one_each = len(cell.made_from) == len(cell.values)
    values = dict(zip(cell.made_from, cell.values, strict=True)) if has_one_each else {}
    if traced.evidence:
        _add_evidence(tree, traced.evidence)
    elif cell.values and not has_one_each:
        tree.add(f"by seed: {', '.join(f'{value:.4f}' for value in cell.values)}")
    for kind in dict.fromkeys(record.kind for record in reversed(traced.records.values())):
        _add_kind(tree, work, traced, kind, values)
    if cell.made_from:
        tree.add("[dim]all of this is below results/; to make what is missing of just this number:[/dim]")
        profile, paper = path.resolve().parent.parent.name, path.resolve().parent.name
        artifact = f"reports/{profile}/{paper}/{path.name.partition('.')[0]}"
        tree.add(f"recompose make --cell {escape_markup(shlex.quote(place_text(artifact, cell)))}")
    console.print(tree)


def _add_evidence(tree: Tree, evidence: ClaimEvidence) -> None:
    """Add the values by replicate, and the tests of each comparison of a claim."""
    unit = f", in {evidence.unit}" if evidence.unit else ""
    branch = tree.add(f"[bold]values by replicate (seed){escape_markup(unit)}[/bold]")
    for side, values in evidence.values.items():
        branch.add(escape_markup(f"{side}: {_by_seed(values)}"))
    for comparison in evidence.comparisons:
        title = f"{comparison.text}: {comparison.verdict}"
        branch = tree.add(f"[bold]{escape_markup(title)}[/bold]")
        for line in _comparison_lines(evidence, comparison):
            branch.add(escape_markup(line))


def _comparison_lines(evidence: ClaimEvidence, comparison: ComparisonEvidence) -> Iterator[str]:
    """Yield the differences, the test, its correction and the price of a comparison."""
    if differences := evidence.differences(comparison):
        yield f"differences by replicate (seed): {_by_seed(differences)}"
    question = "beyond the margin" if comparison.is_kept else "different from zero"
    if test := comparison.test:
        yield (
            f"{test.replicates} replicates: difference {test.difference:+.4g}; p {test.p:.4g} ({question}), "
            f"{test.p_margin:.4g} (within the margin)"
        )
    if comparison.p is not None and comparison.p_margin is not None:
        yield (
            f"after correction for other comparisons (Holm): p {comparison.p:.4g} ({question}, among "
            f"{evidence.family}), {comparison.p_margin:.4g} (within the margin of {comparison.margin:g}, among "
            f"{evidence.margin_family})"
        )
    if comparison.price:
        yield f"replicates that decide it, if the difference is as measured / if it is zero: {comparison.price}"


def _by_seed(values: Mapping[str, float]) -> str:
    return ", ".join(f"{value:.4g} ({seed})" for seed, value in values.items()) or "none"


def _add_kind(tree: Tree, work: Workspace, traced: TraceResult, kind: str, values: dict[str, float]) -> None:
    """Add everything of one kind that is behind a cell."""
    records = {key: record for key, record in traced.records.items() if record.kind == kind}
    facts = {key: _facts(work, key, record, traced.made.get(key)) for key, record in records.items()}
    common = [_common(list(part)) for part in zip(*facts.values(), strict=True)]
    if any(common):
        _add_facts(tree.add(f"[bold]all {len(records)} {kind}[/bold]"), *common)
    for key, record in records.items():
        value = "" if values.get(key) is None else f": {values[key]:.4f}"
        branch = tree.add(f"[bold]{escape_markup(key)}[/bold] {escape_markup(record.name)}{value}")
        _add_facts(branch, *(_without(part, shared) for part, shared in zip(facts[key], common, strict=True)))


def _add_facts(tree: Tree, parameters: Facts, needs: Facts, details: Facts) -> None:
    lines = {
        "parameters": ", ".join(f"{name}={value}" for name, value in parameters.items()),
        "made from": ", ".join(needs.values()),
        **details,
    }
    for name, text in lines.items():
        if text:
            tree.add(f"[dim]{name}[/dim] {escape_markup(text)}")


def _common(facts: list[Facts]) -> Facts:
    """Return the facts that all have in common, none of fewer than two."""
    if len(facts) < 2:
        return {}
    first, *following = facts
    return {name: value for name, value in first.items() if all(name in f and f[name] == value for f in following)}


def _without(values: Facts, common: Facts) -> Facts:
    return {name: value for name, value in values.items() if name not in common}


def _facts(work: Workspace, key: str, record: StableRecord, made: BuildInfo | None) -> tuple[Facts, Facts, Facts]:
    """Return the parameters, the needs and the other facts of something stored."""
    needs = {role: need.key for role, need in record.needs.items()}
    return dict(flat(record.document)), needs, _other_facts(work, key, record, made)


def _other_facts(work: Workspace, key: str, record: StableRecord, made: BuildInfo | None) -> Facts:
    lines = {
        "files": ", ".join(f"{name} {short(entry.sha256)}" for name, entry in record.files.items()),
        "code": code_text(record.code),
        "its files": "" if (work.results / key).exists() else "not on this disk",
    }
    if made:
        attempts = f", the last of {made.attempts} attempts" if made.attempts > 1 else ""
        lines |= {
            "commit": short(made.commit or "none") + (", with uncommitted changes" if made.dirty else ""),
            "machine": f"{made.host}, {made.processor}",
            "made": f"{made.started}, in {made.seconds} s{attempts}",
        }
    return lines
