"""The comparison of models on suites, item by item: the command ``recompose compare``.

Items that ask about the same image or caption are a unit, since they are right or wrong together; so are the captions
of an image in retrieval. Where a suite averages over groups of items, such as ARO's relations, a group is a unit.
Sub-tasks are resampled independently of each other.

Tests are corrected by Holm among all numbers of one level: of suites, of parts of suites, and of means over suites. A
suite without a number of its own, such as ELEVATER, counts with each of its sub-tasks.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args
from zlib import crc32

import numpy as np

from recompose.claims.estimates import ALPHA, holm
from recompose.console import first
from recompose.errors import DataError
from recompose.files import Document
from recompose.harness import paired_items
from recompose.harness.evaluation import FEW
from recompose.harness.named_suites import ALL
from recompose.harness.stored_evaluation import StoredEvaluation, read_evaluations, shared_suites
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.judges import Judge, Number, judge_of
from recompose.tracks.vlc.suites.scores import has_scores
from recompose.tracks.vlc.suites.subtasks import aggregate, names_in
from recompose.tracks.vlc.suites.values import PREFIX, headline, trees

Scores = Mapping[str, np.ndarray]
# the number of a suite; of a part of one; a mean over suites. p are corrected among the numbers of one level
Level = Literal["suite", "part", "mean"]
Finding = Literal["higher", "lower", "undecided"]  # the other model's number against the baseline's
MEANS = tuple(name.removeprefix(PREFIX) for name in headline())
SLOW_RESAMPLES = 1_000  # of a number that is no mean of its items, whose draws cannot be summed up
EXACT, UNITS = "McNemar, exact", "bootstrap over {}"


@dataclass(frozen=True, kw_only=True)
class ComparisonRow:
    """A number of two models on the same items; fractions, or correlations."""

    name: str  # of a sub-task or a mean
    level: Level = "part"
    baseline: str = ""
    other: str = ""
    items: int  # that both models have scores for
    units: int  # of items that belong together, which are drawn together; as many as items if all are independent
    first: float  # the baseline's number
    second: float
    difference: float  # second - first
    test: str
    low: float | None = None  # of the 95 % interval of the difference; None: too few units
    high: float | None = None
    p: float | None = None  # of no difference
    corrected_p: float | None = None  # for all numbers of the level, by Holm
    detectable: float | None = None  # the smallest true difference found with a power of 80 %, corrected; None: none is
    only_first: int | None = None  # items that the baseline alone has right, of accuracies
    only_second: int | None = None
    mcnemar_p: float | None = None  # as if all items were independent, of accuracies over items
    finding: Finding = "undecided"
    differing: int = 0  # units whose numbers differ, or all of a number that is no mean of its items
    draws: np.ndarray | None = None  # [resamples] of the difference; None: a single unit

    @property
    def document(self) -> Document:
        """Its columns in files: all but what the tests follow from."""
        return {name: value for name, value in vars(self).items() if name not in ("differing", "draws")}


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
    baseline, *models = evaluations = read_evaluations(folders, suites)
    shared, notes = shared_suites(evaluations)
    rows = [
        replace(row, baseline=baseline.name, other=model.name)
        for model in models
        for row in paired_numbers(shared, baseline.scores, model.scores, resamples)
    ]
    tops = _tops(shared, {row.name for row in rows})
    tested = _corrected([_tested(row, tops) for row in rows])
    names = tuple(evaluation.name for evaluation in evaluations)
    return ComparisonSummary(names, tested, (*notes, *_left_out(shared, baseline, models), *_without_spread(tested)))


def _tops(suites: Sequence[Suite], names: Set[str]) -> set[str]:
    """Return the numbers of whole suites among these names; of a suite without one, all that it has."""
    return {name for suite in suites for name in ([suite.name] if suite.name in names else _leaves([suite]))}


def _tested(row: ComparisonRow, tops: Set[str]) -> ComparisonRow:
    """Return a number with its level, its interval and its p, which is not corrected yet."""
    low = high = p = mcnemar_p = None
    if row.draws is not None:
        p = paired_items.bootstrap_p(row.draws, row.differing)
        low, high = paired_items.percentile_interval(row.draws) if np.ptp(row.draws) else (None, None)
    if row.only_first is not None and row.only_second is not None:
        mcnemar_p = paired_items.mcnemar(row.only_first, row.only_second)
        if row.test == EXACT:
            low, high = paired_items.accuracy_interval(row.only_first, row.only_second, row.items)
            p = mcnemar_p
    level: Level = "mean" if row.name in MEANS else "suite" if row.name in tops else "part"
    return replace(row, level=level, low=low, high=high, p=p, mcnemar_p=mcnemar_p)


def _corrected(rows: Sequence[ComparisonRow]) -> tuple[ComparisonRow, ...]:
    """Return all rows, with p corrected for the other numbers of their level, and what follows from that."""
    corrected = {(row.other, row.name): row for row in rows}
    for level in get_args(Level):
        family = [row for row in rows if row.level == level and row.p is not None]
        for row, p in zip(family, holm([row.p or 0.0 for row in family]), strict=True):
            direction: Finding = "higher" if row.difference > 0 else "lower"
            finding = direction if p < ALPHA else "undecided"
            detectable = _detectable(row, ALPHA / len(family))
            corrected[row.other, row.name] = replace(row, corrected_p=p, detectable=detectable, finding=finding)
    return tuple(corrected.values())


def _detectable(row: ComparisonRow, level: float) -> float | None:
    """Return the smallest difference that a test of this level finds with a power of 80 %; None if it finds none.

    A spread of zero, as of models that agree on all items, tells nothing about it.
    """
    if row.test == EXACT:
        return paired_items.detectable_by_mcnemar((row.only_first or 0) + (row.only_second or 0), row.items, level)
    if row.draws is None or not np.ptp(row.draws):
        return None
    return paired_items.detectable_by_spread(row.draws, level)


def paired_numbers(suites: Sequence[Suite], first: Scores, second: Scores, resamples: int) -> list[ComparisonRow]:
    """Return the numbers of all sub-tasks and means of these suites, for two models; items without scores of both are
    left out.

    Args:
        suites: the suites.
        first: the scores of one model, as ``Suite.scores`` returns them.
        second: the scores of the other model, of the same items.
        resamples: of a bootstrap.

    Raises:
        DataError: the scores of a sub-task do not fit it.
    """
    rows: list[ComparisonRow] = []
    for suite in suites:
        for name in suite.tasks:
            try:
                rows += _task_numbers(judge_of(suite, name), first, second, resamples)
            except (ValueError, LookupError) as error:
                message = f"{suite.name}: {name}: it cannot be compared: {error}"
                raise DataError(message, code="wrong-scores", place=name) from None
    return [*rows, *_means(suites, rows, resamples)]


def _task_numbers(judge: Judge, first: Scores, second: Scores, resamples: int) -> Iterator[ComparisonRow]:
    """Yield the numbers of a sub-task; retrieval has one for each direction, groups and triplets one for each sense."""
    for leaf in judge.task.leaves(judge.name):
        items = has_scores(first[leaf]) & has_scores(second[leaf]) & judge.counting(leaf)
        if not items.any():
            continue
        units = judge.units(leaf)[items]
        senses = (judge.numbers(leaf, scores[leaf][items], items) for scores in (first, second))
        for baseline, compared in zip(*senses, strict=True):
            yield _number(baseline, compared, units, judge.unit, resamples)


def _number(baseline: Number, compared: Number, units: np.ndarray, unit: str, resamples: int) -> ComparisonRow:
    """Return a number of two models, given the units of its items [items] and the noun for them."""
    items, generator = len(units), np.random.default_rng(crc32(baseline.name.encode()))  # the same for a name
    first, second = baseline.value(items), compared.value(items)
    draws: np.ndarray | None = None
    only: tuple[int, int] | None = None
    if baseline.of_items and compared.of_items:  # no mean of its items, such as a correlation
        ours, theirs = baseline.of_items, compared.of_items
        few = min(resamples, SLOW_RESAMPLES)
        draws = paired_items.bootstrap(lambda rows: theirs(rows) - ours(rows), items, few, generator)
        unit, drawn, differing = "items", items, items
    else:
        assert baseline.right is not None and compared.right is not None
        unit, sums, sizes, classes = _drawn(baseline, compared.right.astype(np.int64) - baseline.right, units, unit)
        if len(sizes) > 1:
            draws = paired_items.bootstrap_mean(sums, sizes, resamples, generator, classes)
        drawn, differing = len(sizes), int(np.count_nonzero(sums))
        if baseline.groups is None:
            only = int((baseline.right & ~compared.right).sum()), int((compared.right & ~baseline.right).sum())
    return ComparisonRow(
        name=baseline.name,
        items=items,
        units=drawn,
        first=first,
        second=second,
        difference=second - first,
        test=EXACT if only and drawn == items else UNITS.format(unit),
        only_first=only and only[0],
        only_second=only and only[1],
        differing=differing,
        draws=draws,
    )


def _drawn(
    number: Number, differences: np.ndarray, units: np.ndarray, unit: str
) -> tuple[str, np.ndarray, np.ndarray, np.ndarray | None]:
    """Return what is drawn of a share of right items: the noun, and the sum of differences of each, its number of
    items, and its class in a mean over classes.
    """
    if number.groups is None:  # an accuracy over items
        _, place, sizes = np.unique(units, return_inverse=True, return_counts=True)
        return unit, np.bincount(place, weights=differences), sizes, None
    if number.are_groups_drawn:  # a mean over groups of accuracies, whose units are groups
        _, place, counts = np.unique(number.groups, return_inverse=True, return_counts=True)
        return "groups", np.bincount(place, weights=differences) / counts, np.ones(len(counts), dtype=np.int64), None
    return unit, differences, np.ones(len(units), dtype=np.int64), number.groups  # a mean over classes


def _means(suites: Sequence[Suite], rows: Sequence[ComparisonRow], resamples: int) -> Iterator[ComparisonRow]:
    """Yield each mean whose parts all have a number."""
    all_trees = trees(suites)
    order = dict.fromkeys(name for tree in all_trees for name in names_in(tree))
    inside = {row.name: row for row in rows if row.name in order}
    sizes = {name: row.items for name, row in inside.items()}

    def means_of(values: Mapping[str, float]) -> dict[str, float]:
        return aggregate(values, sizes, all_trees)

    firsts = means_of({name: row.first for name, row in inside.items()})
    seconds = means_of({name: row.second for name, row in inside.items()})
    shares = {  # of each leaf in each mean: a mean is linear
        name: means_of({leaf: float(leaf == name) for leaf in inside}) for name in inside
    }
    for name in order:
        if name in inside or name not in firsts:
            continue
        below = [row for row in inside.values() if shares[row.name][name]]
        drawn = [shares[row.name][name] * np.resize(row.draws, resamples) for row in below if row.draws is not None]
        yield ComparisonRow(
            name=name,
            items=sum(row.items for row in below),
            units=sum(row.units for row in below),
            first=firsts[name],
            second=seconds[name],
            difference=seconds[name] - firsts[name],
            test=UNITS.format("items"),
            differing=sum(row.differing for row in below),
            draws=np.sum(drawn, axis=0) if len(drawn) == len(below) else None,
        )


def _leaves(suites: Sequence[Suite]) -> Iterator[str]:
    """Yield the names of the scores of suites."""
    yield from (leaf for suite in suites for name, task in suite.tasks.items() for leaf in task.leaves(name))


def _left_out(suites: Sequence[Suite], baseline: StoredEvaluation, models: Sequence[StoredEvaluation]) -> list[str]:
    """Return a note for each model with items that it or the baseline has no scores for."""
    notes = list[str]()
    for model in models:
        both = (has_scores(baseline.scores[leaf]) & has_scores(model.scores[leaf]) for leaf in _leaves(suites))
        if count := sum(int((~scored).sum()) for scored in both):
            notes.append(f"{count:,} items without scores of both {baseline.name} and {model.name} are left out")
    return notes


def _without_spread(rows: Sequence[ComparisonRow]) -> list[str]:
    """Return a note about the numbers without an interval."""
    names = {row.name: row for row in rows if row.low is None}
    single = [name for name, row in names.items() if row.units == 1]
    alone = f"all items of {single[0]} are of one image, caption or group; " if single else ""
    return [f"{alone}no interval, as draws do not differ: {', '.join(first(names, FEW))}"] if names else []
