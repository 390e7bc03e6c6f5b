"""The comparison of models on suites, item by item: the command ``recompose compare``.

Tests are corrected by Holm among all numbers of one level: of suites, of parts of suites, and of means over suites. A
suite without a number of its own, such as ELEVATER, counts with each of its sub-tasks.
"""

from collections.abc import Sequence
from itertools import chain

from recompose.claims.correction import holm
from recompose.claims.estimates import ALPHA
from recompose.errors import DataError
from recompose.harness.comparison import (
    ComparisonRequest,
    ComparisonRow,
    ComparisonSummary,
    Finding,
    Level,
)
from recompose.harness.evaluation import FEW, listed
from recompose.harness.paired_numbers import PairedNumber, paired_numbers
from recompose.harness.stored_evaluation import StoredEvaluation, read_evaluations, shared_suites
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.scores import has_scores
from recompose.tracks.vlc.suites.values import PREFIX, headline

MEANS = tuple(name.removeprefix(PREFIX) for name in headline())


def compare(request: ComparisonRequest) -> ComparisonSummary:
    """Compare evaluations with the first one, on the items that they share.

    Raises:
        DataError: there are fewer than two evaluations, one is damaged or absent, a suite is, or a sub-task of them has
            other items.
    """
    if len(request.folders) < 2:
        raise DataError("a comparison needs two evaluations or more", code="one-evaluation", place=request.folders[0])
    evaluations = read_evaluations(request.folders)
    suites, notes = shared_suites(evaluations, request.suites)
    baseline, *others = evaluations
    numbers = {other.name: paired_numbers(suites, baseline.scores, other.scores, request.resamples) for other in others}
    levels = _levels(suites, [number.name for number in chain(*numbers.values())])
    rows = _rows(baseline.name, numbers, levels)
    names = tuple(evaluation.name for evaluation in evaluations)
    return ComparisonSummary(names, rows, (*notes, *_left_out(suites, baseline, others), *_without_spread(rows)))


def _levels(suites: Sequence[Suite], names: Sequence[str]) -> dict[str, Level]:
    """Return the level of each number."""
    tops: set[str] = set()
    for suite in suites:
        leaves = (task.leaves(name) for name, task in suite.tasks.items())
        tops |= {suite.name} if suite.name in names else {*chain.from_iterable(leaves)}
    return {name: "mean" if name in MEANS else "suite" if name in tops else "part" for name in names}


def _rows(baseline: str, numbers: dict[str, list[PairedNumber]], levels: dict[str, Level]) -> tuple[ComparisonRow, ...]:
    """Return all rows, with p corrected for the other numbers of their level."""
    tested = [(other, number) for other, compared in numbers.items() for number in compared]
    corrected: dict[tuple[str, str], float] = {}
    sizes: dict[Level, int] = {}
    for level in {*levels.values()}:
        family = [(other, number) for other, number in tested if levels[number.name] == level and number.p is not None]
        p_values = holm([number.p for _, number in family if number.p is not None])
        corrected |= {(other, number.name): p for (other, number), p in zip(family, p_values, strict=True)}
        sizes[level] = max(1, len(family))
    return tuple(
        _row(baseline, other, number, levels[number.name], corrected.get((other, number.name)), sizes)
        for other, number in tested
    )


def _row(
    baseline: str,
    other: str,
    number: PairedNumber,
    level: Level,
    corrected_p: float | None,
    sizes: dict[Level, int],
) -> ComparisonRow:
    low, high = number.interval or (None, None)
    only_first, only_second = number.only or (None, None)
    return ComparisonRow(
        name=number.name,
        level=level,
        baseline=baseline,
        other=other,
        items=number.items,
        units=number.units,
        first=number.values[0],
        second=number.values[1],
        difference=number.difference,
        test=number.test,
        low=low,
        high=high,
        p=number.p,
        corrected_p=corrected_p,
        detectable=number.detectable(ALPHA / sizes[level]),
        only_first=only_first,
        only_second=only_second,
        mcnemar_p=number.mcnemar_p,
        finding=_finding(number.difference, corrected_p),
    )


def _finding(difference: float, corrected_p: float | None) -> Finding:
    if corrected_p is None or corrected_p >= ALPHA:
        return "undecided"
    return "higher" if difference > 0 else "lower"


def _left_out(suites: Sequence[Suite], baseline: StoredEvaluation, others: Sequence[StoredEvaluation]) -> list[str]:
    """Return a note for each model with items that it or the baseline has no scores for."""
    notes = []
    for other in others:
        names = [name for name in baseline.scores if name in other.scores and _is_shared(name, suites)]
        count = sum(
            int((~(has_scores(baseline.scores[name]) & has_scores(other.scores[name]))).sum()) for name in names
        )
        if count:
            notes.append(f"{count:,} items without scores of both {baseline.name} and {other.name} are left out")
    return notes


def _without_spread(rows: Sequence[ComparisonRow]) -> list[str]:
    """Return a note about the numbers without an interval."""
    names = {row.name: row for row in rows if row.low is None}
    single = [name for name, row in names.items() if row.units == 1]
    first = f"all items of {single[0]} are of one image, caption or group; " if single else ""
    return [f"{first}no interval, as draws do not differ: {listed([*names], FEW)}"] if names else []


def _is_shared(name: str, suites: Sequence[Suite]) -> bool:
    return any(name == task or name.rpartition("/")[0] == task for suite in suites for task in suite.tasks)
