"""The price of a verdict: the replicates that would decide a comparison."""

from collections.abc import Mapping
from dataclasses import dataclass

from recompose.inference.estimates import ALPHA
from recompose.inference.power import Question, SampleSize, sample_size
from recompose.inference.sequential import Looks
from recompose.report.claims.verdicts import UNDECIDED, ClaimComparison, TestedComparison


@dataclass(frozen=True)
class Price:
    """The replicates that decide a comparison with 80 % probability."""

    spread: float  # the standard deviation of the differences so far
    as_measured: SampleSize  # if the difference is what was measured
    if_zero: SampleSize  # if there is no difference

    @property
    def text(self) -> str:
        """Both numbers of replicates in short."""
        return f"{self.as_measured.text} / {self.if_zero.text}"


@dataclass(frozen=True)
class OpenTests:
    """The tests of a paper on a benchmark that are not significant so far.

    The error of each further verdict is divided among these: after Holm's correction no more than their number is
    against one of them.
    """

    beyond: int  # of a difference; of a claim that something is kept: of one beyond the margin
    within: int  # of a difference within the margin

    @classmethod
    def count(cls, tested: Mapping[ClaimComparison, TestedComparison]) -> "OpenTests":
        """Count them; what is not run yet is open."""
        beyond = {c.hypothesis for c, t in tested.items() if t.correction is None or t.correction.beyond >= ALPHA}
        within = sum(t.correction is None or t.correction.within >= ALPHA for t in tested.values())
        return cls(len(beyond), within)


def question_of(comparison: ClaimComparison, open_tests: OpenTests, spread: float) -> Question:
    """Return the question of a comparison, tested at the levels that are left to it."""
    levels = ALPHA / max(1, open_tests.beyond), ALPHA / max(1, open_tests.within)
    return Question(spread, comparison.margin, *levels, comparison.is_kept)


def price(tested: TestedComparison, open_tests: OpenTests, looks: Looks | None = None) -> Price | None:
    """Return the price of an undecided comparison, or None if it is decided or its spread is unknown.

    Args:
        tested: the comparison.
        open_tests: those of its paper on the benchmark.
        looks: those at which it is tested; None: once.
    """
    result = tested.difference
    if tested.verdict != UNDECIDED or result.value is None or not result.spread:
        return None
    question = question_of(tested.comparison, open_tests, result.spread)
    as_measured, if_zero = (sample_size(question, expected, looks, result.n) for expected in (result.value, 0.0))
    return Price(result.spread, as_measured, if_zero)
