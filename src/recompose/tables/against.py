"""Tables of rows against baselines: means, and paired differences with their intervals and corrected p."""

from collections.abc import Iterator

from recompose.claims.cells import basis_of, family_basis
from recompose.claims.differences import number_text
from recompose.claims.verdicts import ClaimTests, TestedComparison
from recompose.papers.declaration import Paper
from recompose.parts.cells import Cell
from recompose.parts.results import Results
from recompose.tables.measured import metrics

ADJUSTED = ", adjusted p"  # the end of the columns of p


def against(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    """Yield the means of each row, then its difference from each baseline in each metric, and the p of that.

    The differences are those of the claims about the table, each of a row against a baseline in a metric.
    """
    artifact = paper.artifacts[name]
    means, *differences = artifact.views
    plain = artifact.model_copy(update={"views": {means: artifact.views[means]}})
    yield from metrics(results, paper.model_copy(update={"artifacts": paper.artifacts | {name: plain}}), name)
    labels = {metric: label for label, metric in artifact.views[means].columns.items()}
    views = {artifact.views[view].baseline: view for view in differences}
    rows = {method: row for row, method in artifact.rows.items()}
    for benchmark in paper.benchmarks_among(results.benchmarks(paper.track)):
        tests = ClaimTests.of(results, paper, benchmark)
        family = family_basis(results, paper, benchmark, rows)
        for claim in (claim for claim in tests.claims.values() if claim.artifact == name):
            (tested,) = tests.of_claim(claim)
            pair = basis_of(results, paper, benchmark, claim.methods)
            for cell in _cells(tested, labels[claim.metric], pair, family):
                yield cell.but(row=rows[claim.higher], view=views[claim.lower[0]], metric=claim.metric)


def _cells(tested: TestedComparison, label: str, pair: Cell, family: Cell) -> Iterator[Cell]:
    """Yield a difference with its interval, and its p, which rests on all rows."""
    result, benchmark = tested.difference, pair.benchmark
    text = result.obstacle
    if result.value is not None:
        interval = f"({tested.interval_text})" if result.test else f"({result.obstacle})"
        text = f"{number_text(result.value, tested.digits, '+')} {interval}"
    values = list(result.by_seed)
    yield pair.but(column=f"{benchmark} {label}", text=text, value=result.value, n=result.n, values=values)
    column = f"{benchmark} {label}{ADJUSTED}"
    yield family.but(column=column, text=tested.p_text, value=tested.adjusted, n=result.n)
