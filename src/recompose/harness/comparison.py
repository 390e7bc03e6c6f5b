"""The comparison of evaluations of models, of the command ``recompose compare``: its options and its result."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from recompose.harness.evaluation import ALL

# the number of a suite; of a part of one; a mean over suites. p are corrected among the numbers of one level
Level = Literal["suite", "part", "mean"]
Finding = Literal["higher", "lower", "undecided"]  # the other model's number against the baseline's


@dataclass(frozen=True)
class ComparisonRequest:
    """The options of a comparison."""

    folders: tuple[Path, ...]  # of evaluations; the first one is the baseline
    suites: tuple[str, ...] = (ALL,)  # names; ``ALL``: those that all evaluations have
    resamples: int = 10_000  # of a bootstrap


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
