"""The price of a verdict: the replicates that would decide a comparison."""

from collections.abc import Mapping
from dataclasses import dataclass

from recompose.inference.estimates import ALPHA
from recompose.inference.power import MOST, Question, replicates_needed
from recompose.report.claims.verdicts import NEGLIGIBLE, UNDECIDED, ClaimComparison, TestedComparison

PRICED_FROM = 2  # replicates: one has no spread


@dataclass(frozen=True)
class Price:
    """The replicates that decide a comparison with 80 % probability; None: more than a thousand."""

    spread: float  # the standard deviation of the differences so far
    as_measured: int | None  # if the difference is what was measured
    if_zero: int | None  # if there is no difference

    @property
    def text(self) -> str:
        """Both numbers of replicates in short."""
        return f"{replicates_text(self.as_measured)} / {replicates_text(self.if_zero)}"


def replicates_text(count: int | None) -> str:
    """Return a number of replicates, or that it is more than what is counted."""
    return f"> {MOST}" if count is None else str(count)


def question_of(tested: TestedComparison, family: int, spread: float) -> Question:
    """Return the question of a comparison, tested at the level that is left to it among so many comparisons."""
    level = ALPHA / max(1, family)
    comparison = tested.comparison
    return Question(spread, comparison.margin, level, level, comparison.is_kept)


def price(tested: TestedComparison, open_comparisons: int) -> Price | None:
    """Return the price of an undecided comparison, or None if it is decided or its spread is unknown.

    Args:
        tested: the comparison.
        open_comparisons: the undecided comparisons of its paper on the benchmark. The error is divided among these:
            after Holm's correction no more than their number is against one of them.
    """
    result = tested.difference
    if tested.verdict != UNDECIDED or result.value is None or not result.spread:
        return None
    question = question_of(tested, open_comparisons, result.spread)
    return Price(result.spread, replicates_needed(question, result.value), replicates_needed(question, 0.0))


def open_comparisons(tested: Mapping[ClaimComparison, TestedComparison]) -> int:
    """Return the number of comparisons among which the error of each further verdict is divided.

    A negligible difference may still be tested against zero, so it counts.
    """
    return sum(comparison.verdict in (UNDECIDED, NEGLIGIBLE) for comparison in tested.values())
