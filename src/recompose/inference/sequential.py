"""Tests of samples that grow: looks at declared numbers of replicates, among which the error is divided.

A look k may spend a share w_k of the error, and the shares add up to one. So the smallest p_k / w_k over all looks is a
valid p whatever made the sample stop growing: by Bonferroni's inequality, the probability that it is at most a is no
more than the sum of a w_k, which is a. It needs no assumption on how the looks depend on each other, and it holds for
Student's t in small samples, as normal boundaries do not. Against exact normal boundaries with the same spending it
asks for some 5 % more replicates.

The shares are the increments of the spending function of Lan and DeMets (Biometrika 70, 1983) that resembles O'Brien
and Fleming's boundaries (Biometrics 35, 1979), at 5 %: a first look at few replicates, where Student's t depends most
on the normal distribution, spends almost nothing, and the last look keeps about half.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

from recompose.errors import ArgumentError
from recompose.inference.estimates import ALPHA, Estimate, paired

MAX_LOOKS = 5


@dataclass(frozen=True)
class Looks:
    """The numbers of replicates at which a sample is tested; a single number is an ordinary test."""

    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.sizes) <= MAX_LOOKS:
            raise ArgumentError("looks", f"has {len(self.sizes)} entries, not 1 to {MAX_LOOKS}")
        if self.sizes[0] < 2 or any(b <= a for a, b in zip(self.sizes, self.sizes[1:], strict=False)):
            raise ArgumentError("looks", f"is {list(self.sizes)}, not rising numbers of two replicates or more")

    @property
    def shares(self) -> tuple[float, ...]:
        """The share of the error that each look may spend.

        >>> [round(share, 3) for share in Looks((4, 8, 16)).shares]
        [0.002, 0.11, 0.889]
        """
        spent = [_spent(size / self.sizes[-1]) for size in self.sizes]
        return tuple(after - before for before, after in zip([0.0, *spent], spent, strict=False))

    def reached(self, replicates: int) -> tuple[int, ...]:
        """Return the looks that so many replicates reach."""
        return tuple(size for size in self.sizes if size <= replicates)


def _spent(information: float) -> float:
    """Return the share of the error that may be spent up to a share of all replicates."""
    normal = NormalDist()
    return 2 * normal.cdf(normal.inv_cdf(ALPHA / 2) / sqrt(information)) / ALPHA


@dataclass(frozen=True)
class Look:
    """A test at one look."""

    estimate: Estimate
    share: float = 1.0  # of the error that it may spend
    replicates: int = 0

    @property
    def interval(self) -> tuple[float, float]:
        """The interval that the look's share of the error gives."""
        return self.estimate.interval(1 - ALPHA * self.share)


@dataclass(frozen=True)
class SequentialTest:
    """The tests of a difference at one look or several."""

    looks: tuple[Look, ...]  # at least one

    @property
    def value(self) -> float:
        """The difference at the last look."""
        return self.looks[-1].estimate.value

    @property
    def interval(self) -> tuple[float, float]:
        """The repeated confidence interval: what the intervals of all looks have in common (Jennison and Turnbull,
        1989). If they have nothing in common, the interval of the last look.
        """
        low = max(look.interval[0] for look in self.looks)
        high = min(look.interval[1] for look in self.looks)
        return (low, high) if low <= high else self.looks[-1].interval

    def p_zero(self) -> tuple[float, bool]:
        """Return the p of no difference, and whether the difference is positive at the look that has it."""
        p, value = min((min(1.0, look.estimate.p_zero() / look.share), look.estimate.value) for look in self.looks)
        return p, value > 0

    def p_within(self, margin: float) -> float:
        """Return the p of a difference that is not within the margin."""
        return min(min(1.0, look.estimate.p_within(margin) / look.share) for look in self.looks)

    def p_beyond(self, margin: float) -> float:
        """Return the p of a difference that is not beyond the margin."""
        return min(min(1.0, look.estimate.p_beyond(margin) / look.share) for look in self.looks)


def look_at(differences: Sequence[float], looks: Looks | None = None) -> SequentialTest | None:
    """Return the tests of paired differences at the looks that they reach, or None before the first one.

    Args:
        differences: [n], in the order of replicates.
        looks: those declared beforehand; None: one, at all replicates.
    """
    looks = looks or Looks((len(differences),))
    tests = [
        Look(paired(differences[:size]), share, size)
        for size, share in zip(looks.sizes, looks.shares, strict=True)
        if size <= len(differences) and share > 0  # very early looks have no error to spend
    ]
    return SequentialTest(tuple(tests)) if tests else None
