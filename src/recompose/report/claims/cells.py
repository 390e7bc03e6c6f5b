"""Tables of claims: the cells of each claim, and their summary."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from recompose.exhibits.cells import Cell
from recompose.exhibits.results import Results
from recompose.papers.declaration import Paper
from recompose.report.claims.budgets import at_other_budget, budget_text
from recompose.report.claims.paper_tests import compare_all, planned_claims
from recompose.report.claims.price import open_comparisons, price
from recompose.report.claims.verdicts import VERDICTS, TestedComparison, comparisons_of, deciding_comparison
from recompose.tracks import TRACKS

PARTS = ("verdict", "estimate", "95 % interval", "margin", "n", "adjusted p", "spread", "replicates to decide")
OTHER_BUDGET = "at another budget"  # the part of a claim that a profile with another budget has besides


def verdicts(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    """Yield the cells of a table of claims: by benchmark a verdict, and the numbers of the deciding comparison."""
    for benchmark in results.benchmarks(paper.track):
        tested, claims = compare_all(results, paper, benchmark), planned_claims(results, paper, benchmark)
        all_methods = (method for claim in claims.values() for method in claim.methods)
        there_by_row = at_other_budget(results, paper, benchmark)
        family, undecided = Basis.collect(results, paper, benchmark, all_methods), open_comparisons(tested)
        for row, claim in claims.items():
            claim_basis = Basis.collect(results, paper, benchmark, claim.methods)
            decisive = deciding_comparison([tested[comparison] for comparison in comparisons_of(claim)])
            for part, text, value in _cell_texts(decisive, undecided):
                # corrected values rest on all comparisons
                basis = family if part in ("verdict", "adjusted p", "replicates to decide") else claim_basis
                by_seed = decisive.difference.by_seed if part == "estimate" else ()
                yield basis.cell(row, part, text, value, decisive.difference.n, claim.metric, by_seed)
            if row in there_by_row:
                yield _other_budget_cell(results, paper, benchmark, row, decisive, there_by_row[row])


def _other_budget_cell(
    results: Results, paper: Paper, benchmark: str, row: str, here: TestedComparison, there: TestedComparison | None
) -> Cell:
    """Return the cell of a claim at the other budget, with the comparisons that decide it here and there.

    It rests on the evaluations there of all comparisons, or on the data alone where the claim was not run.
    """
    budget = results.plan.other_budget
    assert budget is not None
    if there:
        methods = (method for claim in paper.claims.values() for method in claim.methods)
        basis = Basis.collect(results, paper, benchmark, map(budget.name_of, methods))
    else:
        data = results.data(paper.track, benchmark)
        basis = Basis(benchmark, (), (data.key,) if results.is_complete(data) else (), (data.key,))
    text = budget_text(here.verdict, there.verdict if there else None, budget.label)
    n = there.difference.n if there else 0
    return basis.cell(row, OTHER_BUDGET, text, None, n, here.comparison.metric)


def _cell_texts(tested: TestedComparison, undecided: int) -> Iterator[tuple[str, str, float | None]]:
    """Yield part, text and value of each cell of a claim."""
    result, cost = tested.difference, price(tested, undecided)
    yield "verdict", tested.verdict_text, None
    yield "estimate", tested.estimate_text, result.value
    yield "95 % interval", tested.interval_text, None
    yield "margin", tested.margin_text, tested.comparison.margin
    yield "n", tested.n_text, None
    yield "adjusted p", tested.p_text, tested.adjusted
    yield "spread", "-" if result.spread is None else f"{result.spread:.{tested.digits + 1}f}", result.spread
    yield "replicates to decide", cost.text if cost else "-", None


@dataclass(frozen=True)
class Basis:
    """The evaluations that cells of claims rest on: those of some methods on a benchmark, complete and planned."""

    benchmark: str
    methods: tuple[str, ...]
    complete: tuple[str, ...]
    planned: tuple[str, ...]

    @classmethod
    def collect(cls, results: Results, paper: Paper, benchmark: str, methods: Iterable[str]) -> "Basis":
        """Collect the evaluations of some methods; several methods may share an evaluation."""
        names = tuple(dict.fromkeys(methods))
        planned = {
            evaluation.key: evaluation for name in names for evaluation in results.planned(paper.track, name, benchmark)
        }
        complete = tuple(key for key, evaluation in planned.items() if results.is_complete(evaluation))
        return cls(benchmark, names, complete, tuple(planned))

    def cell(
        self,
        row: str,
        part: str,
        text: str,
        value: float | None,
        n: int,
        metric: str,
        values: tuple[float, ...] = (),
    ) -> Cell:
        """Return a cell that rests on these evaluations."""
        return Cell(
            row,
            f"{self.benchmark} {part}",
            "measured",
            text,
            value,
            n=n,
            made_from=self.complete,
            expected=self.planned,
            values=values,
            names=self.methods,
            benchmark=self.benchmark,
            metric=metric,
            part=part,
        )


def scope_text(benchmark: str, is_synthetic: bool, counts: Iterable[int]) -> str:
    """Return the data of verdicts and their number of seeds, in words."""
    positive = sorted({count for count in counts if count})
    seeds = " to ".join(str(count) for count in dict.fromkeys((positive[0], positive[-1]))) if positive else "no"
    return f"on {benchmark}{', synthetic' if is_synthetic else ''}, {seeds} {'seed' if seeds == '1' else 'seeds'}"


def verdict_counts(texts: Iterable[str]) -> dict[str, int]:
    """Return the number of verdicts of each kind, given the texts of their cells."""
    counts = Counter(text.partition(" (")[0] for text in texts)
    return {verdict: counts[verdict] for verdict in VERDICTS}


def summary(results: Results, paper: Paper, cells: Iterable[Cell]) -> str:
    """Return the number of verdicts of each kind, a sentence for each benchmark."""
    by_benchmark: dict[str, list[Cell]] = {}
    for cell in cells:
        if cell.part == "verdict":
            by_benchmark.setdefault(cell.benchmark, []).append(cell)
    sentences = []
    for benchmark, verdict_cells in by_benchmark.items():
        is_synthetic = TRACKS[paper.track].is_synthetic(results.data(paper.track, benchmark))
        scope = scope_text(benchmark, is_synthetic, (cell.n or 0 for cell in verdict_cells))
        counts = verdict_counts(cell.text for cell in verdict_cells)
        counts_text = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
        sentences.append(f"{scope[0].upper()}{scope[1:]}: {counts_text}.")
    return " ".join(sentences)
