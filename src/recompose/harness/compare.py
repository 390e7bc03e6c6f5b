"""The comparison of models on suites, item by item: the command ``recompose compare``.

Tests are corrected by Holm among all numbers of one level: of suites, of parts of suites, and of means over suites. A
suite without a number of its own, such as ELEVATER, counts with each of its sub-tasks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal

from recompose.claims.estimates import ALPHA, holm
from recompose.console import first
from recompose.errors import DataError
from recompose.harness.evaluation import FEW
from recompose.harness.named_suites import ALL
from recompose.harness.paired_numbers import PairedNumber, paired_numbers
from recompose.harness.stored_evaluation import StoredEvaluation, read_evaluations, shared_suites
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.scores import has_scores
from recompose.tracks.vlc.suites.values import PREFIX, headline

MEANS = tuple(name.removeprefix(PREFIX) for name in headline())
# the number of a suite; of a part of one; a mean over suites. p are corrected among the numbers of one level
Level = Literal["suite", "part", "mean"]
Finding = Literal["higher", "lower", "undecided"]  # the other model's number against the baseline's


@dataclass(frozen=True)
class ComparisonRow:
    """A number of two models on the same items; fractions, or correlations."""

    name: str  # of a sub-task or a mean
    level: Level
    baseline: str
    other: str
    items: int  # that both models have scores for
    units: int  # of items that belong together, which are drawn together; as many as items if all are independent
    first: float  # the baseline's number
    second: float
    difference: float  # second - first
    test: str
    low: float | None  # of the 95 % interval of the difference; None: too few units
    high: float | None
    p: float | None
    corrected_p: float | None  # for all numbers of the level, by Holm
    detectable: float | None  # the smallest true difference found with a power of 80 %, corrected; None: none is found
    only_first: int | None  # items that the baseline alone has right, of accuracies
    only_second: int | None
    mcnemar_p: float | None  # as if all items were independent, of accuracies over items
    finding: Finding


@dataclass(frozen=True)
class ComparisonSummary:
    """The result of a comparison."""

    names: tuple[str, ...]  # of the evaluations, the baseline first
    rows: tuple[ComparisonRow, ...]
    notes: tuple[str, ...]


def compare(folders: Sequence[Path], suites: Sequence[str] = (ALL,), resamples: int = 10_000) -> ComparisonSummary:
    """Compare evaluations with the first one, on the items that they share.

    Args:
        folders: of evaluations.
        suites: names; ``ALL``: those that all evaluations have.
        resamples: of a bootstrap.

    Raises:
        DataError: there are fewer than two evaluations, one is damaged or absent, a suite is, or a sub-task of them has
            other items.
    """
    if len(folders) < 2:
        raise DataError("a comparison needs two evaluations or more", code="one-evaluation", place=folders[0])
    baseline, *compared = evaluations = read_evaluations(folders, suites)
    shared, notes = shared_suites(evaluations)
    numbers = {
        evaluation.name: paired_numbers(shared, baseline.scores, evaluation.scores, resamples)
        for evaluation in compared
    }
    levels = _levels(shared, [number.name for number in chain(*numbers.values())])
    rows = _rows(baseline.name, numbers, levels)
    names = tuple(evaluation.name for evaluation in evaluations)
    return ComparisonSummary(names, rows, (*notes, *_left_out(shared, baseline, compared), *_without_spread(rows)))


def _levels(suites: Sequence[Suite], names: Sequence[str]) -> dict[str, Level]:
    """Return the level of each number."""
    tops: set[str] = set()
    for suite in suites:
        leaves = (task.leaves(name) for name, task in suite.tasks.items())
        tops |= {suite.name} if suite.name in names else {*chain.from_iterable(leaves)}
    return {name: "mean" if name in MEANS else "suite" if name in tops else "part" for name in names}


def _rows(baseline: str, numbers: dict[str, list[PairedNumber]], levels: dict[str, Level]) -> tuple[ComparisonRow, ...]:
    """Return all rows, with p corrected for the other numbers of their level."""
    tested = [(model, number) for model, differences in numbers.items() for number in differences]
    corrected: dict[tuple[str, str], float] = {}
    sizes: dict[Level, int] = {}
    for level in {*levels.values()}:
        family = [(model, number) for model, number in tested if levels[number.name] == level and number.p is not None]
        p_values = holm([number.p for _, number in family if number.p is not None])
        corrected |= {(model, number.name): p for (model, number), p in zip(family, p_values, strict=True)}
        sizes[level] = max(1, len(family))
    rows = []
    for model, number in tested:
        level, corrected_p = levels[number.name], corrected.get((model, number.name))
        direction: Finding = "higher" if number.difference > 0 else "lower"
        first, second = number.values
        low, high = number.interval or (None, None)
        only_first, only_second = number.only or (None, None)
        row = ComparisonRow(
            name=number.name,
            level=level,
            baseline=baseline,
            other=model,
            items=number.items,
            units=number.units,
            first=first,
            second=second,
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
            finding="undecided" if corrected_p is None or corrected_p >= ALPHA else direction,
        )
        rows.append(row)
    return tuple(rows)


def _left_out(suites: Sequence[Suite], baseline: StoredEvaluation, others: Sequence[StoredEvaluation]) -> list[str]:
    """Return a note for each model with items that it or the baseline has no scores for."""
    notes = list[str]()
    leaves = [leaf for suite in suites for name, task in suite.tasks.items() for leaf in task.leaves(name)]
    for model in others:
        both = (has_scores(baseline.scores[leaf]) & has_scores(model.scores[leaf]) for leaf in leaves)
        if count := sum(int((~scored).sum()) for scored in both):
            notes.append(f"{count:,} items without scores of both {baseline.name} and {model.name} are left out")
    return notes


def _without_spread(rows: Sequence[ComparisonRow]) -> list[str]:
    """Return a note about the numbers without an interval."""
    names = {row.name: row for row in rows if row.low is None}
    single = [name for name, row in names.items() if row.units == 1]
    alone = f"all items of {single[0]} are of one image, caption or group; " if single else ""
    return [f"{alone}no interval, as draws do not differ: {', '.join(first(names, FEW))}"] if names else []
