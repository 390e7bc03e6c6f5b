"""Tables of claims: the cells of each claim, and what came out."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from recompose.exhibits.cells import Cell
from recompose.exhibits.results import Results
from recompose.papers.declaration import Artifact, Paper
from recompose.report.claims.budgets import DEPENDS, at_other_budget, budget_text
from recompose.report.claims.evidence import evidence_of
from recompose.report.claims.outcome import JudgedClaim, generalisation, outcome
from recompose.report.claims.paper_tests import compare_all, open_tests, planned_claims
from recompose.report.claims.price import Price, price
from recompose.report.claims.verdicts import VERDICTS, TestedComparison, comparisons_of, deciding_comparison
from recompose.tracks import TRACKS

NOTE = """
Each claim shows the comparison that decides it. An estimate gives the mean of each side with its number of runs, and
their difference. Its 95 % interval is by Student's t: paired by replicate if both sides share two or more, otherwise
Welch's. A method that does not depend on the seed is a constant; a single run of any other method decides nothing. The
margin is the smallest difference of interest. After correction, a comparison is supported if its difference is above
zero, reversed if it is below zero, and negligible if its interval lies within the margin; a margin "to be within"
belongs to a claim that something is kept, which is supported in that case. A claim of several comparisons is reversed
if one of them is, otherwise negligible if one of them is, and supported if all of them are. Where a study declares
looks, each look may spend a share of the error, and the interval is what the intervals of all looks have in common. p
is corrected for looks and, by Holm, for {family}: the tests of a difference and
those of a difference within its margin are two families, each at 5 %; the smaller p is shown. The spread is the
standard deviation of the difference over replicates. Replicates to decide, such as 12 / 40: with 80 % probability, 12
replicates decide the comparison if the difference is as measured, and 40 if there is none, when the error is divided
among the open comparisons. "55 new" are 55 replicates of a new study with one test, where no look to come would do.
"""
PARTS = ("verdict", "estimate", "95 % interval", "margin", "n", "adjusted p", "spread", "replicates to decide")
OTHER_BUDGET = "at another budget"  # the part of a claim that a profile with another budget has besides


def verdicts(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    """Yield the cells of a table of claims: by benchmark a verdict, and the numbers of the deciding comparison."""
    for benchmark in paper.benchmarks_among(results.benchmarks(paper.track)):
        tested, claims = compare_all(results, paper, benchmark), planned_claims(results, paper, benchmark)
        all_methods = (method for claim in claims.values() for method in claim.methods)
        at_other, looks = at_other_budget(results, paper, benchmark), results.looks(paper.track)
        family, remaining = (
            Basis.collect(results, paper, benchmark, all_methods),
            open_tests(results, paper, benchmark, tested),
        )
        for row, claim in claims.items():
            claim_basis = Basis.collect(results, paper, benchmark, claim.methods)
            comparisons = [tested[comparison] for comparison in comparisons_of(claim)]
            decisive = deciding_comparison(comparisons)
            ordered = [decisive, *(other for other in comparisons if other is not decisive)]
            prices = [price(comparison, remaining, looks) for comparison in ordered]
            for part, text, value in _cell_texts(decisive, prices[0]):
                # corrected values rest on all comparisons
                basis = family if part in ("verdict", "adjusted p", "replicates to decide") else claim_basis
                by_seed = decisive.difference.by_seed if part == "estimate" else ()
                cell = basis.cell(row, part, text, value, decisive.difference.n, claim.metric, by_seed)
                if part == "verdict":
                    cell = replace(cell, evidence=evidence_of(ordered, prices))
                yield cell
            if row in at_other:
                yield _other_budget_cell(results, paper, benchmark, row, decisive, at_other[row])


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


def _cell_texts(tested: TestedComparison, cost: Price | None) -> Iterator[tuple[str, str, float | None]]:
    """Yield part, text and value of each cell of a claim."""
    result = tested.difference
    yield "verdict", tested.verdict_text, None
    yield "estimate", tested.estimate_text, result.value
    yield "95 % interval", tested.interval_text, None
    yield "margin", tested.margin_text, tested.comparison.margin
    yield "n", tested.n_text, None
    yield "adjusted p", tested.p_text, tested.adjusted
    yield "spread", "-" if result.spread is None else f"{result.spread:.{tested.digits + 1}f}", result.spread
    yield "replicates to decide", cost.text if cost else "-", None


def note(paper: Paper, artifact: Artifact) -> str:
    """Return the note below a table of claims: what its columns mean, and what its paper adds."""
    return " ".join([*NOTE.format(family=paper.family).split(), *artifact.note.split()])


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


def verdict_counts(texts: Iterable[str]) -> dict[str, int]:
    """Return the number of verdicts of each kind, given the texts of their cells."""
    counts = Counter(text.partition(" (")[0] for text in texts)
    return {verdict: counts[verdict] for verdict in VERDICTS}


def summary(results: Results, paper: Paper, cells: Sequence[Cell]) -> list[str]:
    """Return what came out, a paragraph for each benchmark, and what it generalises to."""
    by_benchmark: dict[str, list[Cell]] = {}
    dependent = {(c.benchmark, c.row) for c in cells if c.part == OTHER_BUDGET and c.text.startswith(DEPENDS)}
    for cell in cells:
        if cell.part == "verdict":
            by_benchmark.setdefault(cell.benchmark, []).append(cell)
    is_synthetic = {
        benchmark: TRACKS[paper.track].is_synthetic(results.data(paper.track, benchmark)) for benchmark in by_benchmark
    }
    judged = {
        benchmark: [
            JudgedClaim.of(cell.row, cell.text, cell.n, cell.evidence, (benchmark, cell.row) in dependent)
            for cell in verdict_cells
        ]
        for benchmark, verdict_cells in by_benchmark.items()
    }
    paragraphs = [" ".join(outcome(benchmark, is_synthetic[benchmark], claims)) for benchmark, claims in judged.items()]
    return [*paragraphs, *dict.fromkeys(map(generalisation, is_synthetic.values()))]
