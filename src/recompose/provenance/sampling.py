"""Samples of the runs behind the reports: the order in which they are drawn, and what a sample shows.

Each draw picks a number of the reports, all equally likely, and then one of the runs behind it. A run that was drawn
before is passed over. An evaluation of an untrained model counts as a run.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from random import Random

from recompose.errors import ArgumentError
from recompose.report.lineage import LineageCell
from recompose.report.published import PublishedLineage

EVALUATIONS = "evaluations/"  # the start of their keys
WRONG = Fraction(1, 5)  # the share of wrong runs for which the chance of detection is stated


@dataclass(frozen=True)
class ReportedRuns:
    """The runs behind the numbers of the reports."""

    evaluations: Mapping[str, tuple[str, ...]]  # key of a run -> keys of its evaluations
    weights: Mapping[str, float]  # key of a run -> the probability that one draw picks it

    @classmethod
    def of(cls, published: PublishedLineage) -> "ReportedRuns":
        """Return the runs behind all measured cells of tables, figures and claims."""
        evaluations: dict[str, dict[str, None]] = {}
        weights: dict[str, float] = {}
        run_of = {key: _run_of(published, key) for key in published.records if key.startswith(EVALUATIONS)}
        numbers = 0
        for artifact in published.lineages:
            for cell in published.cells(artifact):
                runs = {run_of[key] for key in cell.made_from if key in run_of}
                numbers += bool(runs)
                for run in runs:
                    weights[run] = weights.get(run, 0.0) + 1 / len(runs)
        for key, run in run_of.items():
            evaluations.setdefault(run, {})[key] = None
        return cls(
            {run: tuple(evaluations[run]) for run in sorted(weights)},
            {run: weights[run] / numbers for run in sorted(weights)},
        )

    def behind(self, cell: LineageCell) -> list[str]:
        """Return the runs behind a cell."""
        return [run for run, keys in self.evaluations.items() if not {*keys}.isdisjoint(cell.made_from)]


def _run_of(published: PublishedLineage, evaluation: str) -> str:
    """Return the key of the run that an evaluation scores; of an untrained model, the evaluation's own."""
    run = published.records[evaluation].needs.get("run")
    return run.key if run else evaluation


def draw(weights: Mapping[str, float], seed: str) -> Iterator[str]:
    """Yield all keys in random order: each is drawn from those that remain, in proportion to the weights.

    The order depends on the weights and the seed alone.

    Example:
        >>> weights = {"a": 0.5, "b": 0.25, "c": 0.25}
        >>> sorted(draw(weights, "seed"))
        ['a', 'b', 'c']
    """
    random, left = Random(seed), dict(sorted(weights.items()))
    while left:
        point = random.random() * sum(left.values())
        for key, weight in left.items():  # noqa: B007 - the last one remains where rounding leaves a rest
            point -= weight
            if point < 0:
                break
        del left[key]
        yield key


def detection(runs: int, drawn: int, share: Fraction = WRONG) -> float:
    """Return the probability that a sample has a wrong run, if a share of all runs, spread at random, is wrong.

    The number of wrong runs in a sample is hypergeometric, whatever the weights of the draw.

    Args:
        runs: the number of runs.
        drawn: the number of different runs in the sample.
        share: of wrong runs; their number is rounded down, but at least one is wrong.

    Raises:
        ArgumentError: there are fewer runs than were drawn.

    Example:
        >>> round(detection(276, 7), 3), detection(10, 9), detection(5, 0)
        (0.793, 1.0, 0.0)
    """
    if not 0 <= drawn <= runs:
        raise ArgumentError("drawn", f"is {drawn}, not a number from 0 to {runs}")
    wrong = max(int(share * runs), 1)
    return 1 - comb(runs - wrong, drawn) / comb(runs, drawn)


def detection_by_weight(drawn: int, weight: float) -> float:
    """Return a lower bound on the probability that a sample has a wrong run, however these were chosen.

    Args:
        drawn: the number of different runs in the sample.
        weight: the probability that one draw picks a wrong run: the sum of their weights.

    Example:
        >>> round(detection_by_weight(7, 0.2), 2)
        0.79
    """
    return 1 - (1 - weight) ** drawn
