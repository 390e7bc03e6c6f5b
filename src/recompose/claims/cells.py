"""Tables of claims: the cells of each claim with their evidence, and what came out."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from recompose.claims.differences import Side
from recompose.claims.estimates import rounded
from recompose.claims.outcome import generalisation, outcome
from recompose.claims.price import Price, price
from recompose.claims.verdicts import VERDICTS, ClaimTests, TestedComparison
from recompose.papers.declaration import Artifact, Paper
from recompose.parts.cells import EVERY_SEED, Cell, ClaimEvidence, ComparisonEvidence, DifferenceTest, cell_of
from recompose.parts.results import Results

NOTE = """
Each claim shows the comparison that decides it. An estimate gives the mean of each side with its number of runs, and
their difference. Its 95 % interval is by Student's t, paired by the replicates that both sides share, three or more:
one or two decide nothing. A method that does not depend on the seed is a constant. The margin is the smallest
difference of interest. After correction, a comparison is supported if its difference is above zero, reversed if it is
below zero, and negligible if its interval lies within the margin; a margin "to be within" belongs to a claim that
something is kept, which is supported in that case. A claim of several comparisons is reversed if one of them is,
otherwise negligible if one of them is, and supported if all of them are. p is corrected, by Holm, for {family}: the
tests of a difference and those of a difference within its margin are two families, each at 3.5 %; the smaller p is
shown. The spread is the standard deviation of the difference over replicates. Replicates to decide, such as 12 / 40:
with 80 % probability, 12 replicates decide the comparison if the difference is as measured, and 40 if there is none,
when the error is divided among the open comparisons.
"""
DIGITS = 6  # of evidence that are written
Column = Callable[[TestedComparison, Price | None], tuple[str, float | None]]
# text and value of each column of a table of claims, given the deciding comparison and its price
COLUMNS: dict[str, Column] = {
    "verdict": lambda tested, _: (tested.verdict_text, None),
    "estimate": lambda tested, _: (tested.estimate_text, tested.difference.value),
    "95 % interval": lambda tested, _: (tested.interval_text, None),
    "margin": lambda tested, _: (tested.margin_text, tested.comparison.margin),
    "n": lambda tested, _: (tested.n_text, None),
    "adjusted p": lambda tested, _: (tested.p_text, tested.adjusted),
    "spread": lambda tested, _: (tested.spread_text, tested.difference.spread),
    "replicates to decide": lambda _, cost: (cost.text if cost else "-", None),
}
PARTS = tuple(COLUMNS)
FAMILY_PARTS = ("verdict", "adjusted p", "replicates to decide")  # what all comparisons of a paper decide


def verdicts(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    """Yield the cells of a table of claims: by benchmark a verdict, and the numbers of the deciding comparison."""
    for benchmark in paper.benchmarks_among(results.benchmarks(paper.track)):
        tests = ClaimTests.of(results, paper, benchmark)
        corrected = paper.claims if paper.is_comparison else tests.claims  # a row may be on other data sets alone
        all_methods = (method for claim in corrected.values() for method in claim.methods)
        family = family_basis(results, paper, benchmark, all_methods)
        for row, claim in tests.claims.items():
            claim_basis = basis_of(results, paper, benchmark, claim.methods)
            decisive, *_ = ordered = tests.of_claim(claim)
            prices = [price(comparison, tests.levels) for comparison in ordered]
            for part, column in COLUMNS.items():
                text, value = column(decisive, prices[0])
                basis = family if part in FAMILY_PARTS else claim_basis
                about = {"row": row, "column": f"{benchmark} {part}", "part": part, "metric": claim.metric}
                cell = basis.but(**about, text=text, value=value, n=decisive.difference.n)
                if part == "verdict":
                    cell = cell.but(evidence=evidence_of(ordered, prices))
                yield cell.but(values=list(decisive.difference.by_seed)) if part == "estimate" else cell


def evidence_of(comparisons: Sequence[TestedComparison], prices: Sequence[Price | None]) -> ClaimEvidence:
    """Return the evidence of a claim.

    Args:
        comparisons: of the claim, the deciding one first.
        prices: of each of them.
    """
    values: dict[str, dict[str, float]] = {}
    for side in (side for tested in comparisons for side in tested.difference.sides):
        values.setdefault(side.label, {}).update(_values(side))
    return ClaimEvidence(
        unit=comparisons[0].unit,
        values={label: dict(sorted(by_seed.items(), key=_seed_order)) for label, by_seed in values.items()},
        comparisons=[_comparison(tested, cost) for tested, cost in zip(comparisons, prices, strict=True)],
        family=max(tested.correction.family for tested in comparisons),
        margin_family=max(tested.correction.margin_family for tested in comparisons),
    )


def _values(side: Side) -> dict[str, float]:
    return {EVERY_SEED if side.is_constant else str(seed): rounded(v, DIGITS) for seed, v in side.values.items()}


def _seed_order(item: tuple[str, float]) -> int:
    return -1 if item[0] == EVERY_SEED else int(item[0])


def _comparison(tested: TestedComparison, cost: Price | None) -> ComparisonEvidence:
    comparison, test, correction = tested.comparison, tested.difference.test, tested.correction
    return ComparisonEvidence(
        sides=[side.label for side in tested.difference.sides],
        verdict=tested.verdict_text,
        margin=comparison.margin,
        is_kept=comparison.is_kept,
        test=DifferenceTest(
            replicates=len(tested.difference.by_seed),
            difference=rounded(test.value, DIGITS),
            p=rounded(comparison.p_beyond(test), DIGITS),
            p_margin=rounded(test.p_within(comparison.margin), DIGITS),
        )
        if test
        else None,
        p=rounded(correction.beyond, DIGITS) if test else None,
        p_margin=rounded(correction.within, DIGITS) if test else None,
        price=cost.text if cost else "",
        needed=cost.as_measured if cost else None,
    )


def note(paper: Paper, artifact: Artifact) -> str:
    """Return the note below a table of claims: what its columns mean, and what its paper adds."""
    return " ".join([*NOTE.format(family=paper.family).split(), *artifact.note.split()])


def basis_of(
    results: Results, paper: Paper, benchmark: str, methods: Iterable[str], others: Sequence[str] = ()
) -> Cell:
    """Return a cell that rests on the evaluations of some methods on a benchmark, and on others, without what it shows.

    Several methods may share an evaluation.
    """
    names, track = list(dict.fromkeys(methods)), paper.track
    planned = [each for place in (benchmark, *others) for name in names for each in results.planned(track, name, place)]
    distinct = {evaluation.key: evaluation for evaluation in planned if results.is_complete(evaluation)}
    return cell_of([*distinct.values()], names, benchmark).but(other_benchmarks=[*others])


def family_basis(results: Results, paper: Paper, benchmark: str, methods: Iterable[str]) -> Cell:
    """Return a cell that rests on all comparisons of methods that those on a benchmark are corrected for."""
    family = paper.corrected_with(benchmark, results.benchmarks(paper.track))
    return basis_of(results, paper, benchmark, methods, [name for name in family if name != benchmark])


def verdicts_by_benchmark(cells: Iterable[Cell]) -> dict[str, list[Cell]]:
    """Return the cells of verdicts among those of a table of claims, by benchmark."""
    by_benchmark: dict[str, list[Cell]] = {}
    for cell in cells:
        if cell.part == "verdict":
            by_benchmark.setdefault(cell.benchmark, []).append(cell)
    return by_benchmark


def verdict_counts(cells: Iterable[Cell]) -> dict[str, int]:
    """Return the number of verdicts of each kind."""
    counts = Counter(cell.verdict for cell in cells)
    return {verdict: counts[verdict] for verdict in VERDICTS}


def summary(results: Results, paper: Paper, cells: Sequence[Cell]) -> list[str]:
    """Return what came out, a paragraph for each benchmark, and what it generalises to."""
    by_benchmark = verdicts_by_benchmark(cells)
    track = results.tracks[paper.track]
    is_synthetic = {name: track.is_synthetic(results.data(paper.track, name)) for name in by_benchmark}
    paragraphs = [" ".join(outcome(name, is_synthetic[name], claims)) for name, claims in by_benchmark.items()]
    return [*paragraphs, *dict.fromkeys(map(generalisation, is_synthetic.values()))]
