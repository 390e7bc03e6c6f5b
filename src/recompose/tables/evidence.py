"""The evidence for the verdict on a claim: values by replicate, and the tests of its comparisons."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from recompose.records import LenientModel

EVERY_SEED = "every seed"  # in place of the seed of a value that no seed changes


class DifferenceTest(LenientModel):
    """The test of a comparison, before correction."""

    replicates: int  # that both sides share
    difference: float
    p: float  # that there is a difference; of a claim that something is kept: that it is beyond the margin
    p_margin: float  # that the difference is within the margin


class ComparisonEvidence(LenientModel):
    """A comparison of a claim."""

    # first - second, or (first - second) - (third - fourth)
    sides: Annotated[list[str], Field(min_length=2, max_length=4)]
    verdict: str
    margin: float
    is_kept: bool  # the claim is that the difference is within the margin
    test: DifferenceTest | None = None  # None: not tested
    p: float | None  # corrected for other comparisons
    p_margin: float | None
    price: str  # the replicates that decide it, if the difference is as measured / if it is zero; empty: unknown
    needed: int | None  # the first of these; None: too many

    @property
    def text(self) -> str:
        """The difference in words."""
        parts = [" - ".join(self.sides[start : start + 2]) for start in range(0, len(self.sides), 2)]
        return parts[0] if len(parts) == 1 else " - ".join(f"({part})" for part in parts)


class ClaimEvidence(LenientModel):
    """The evidence for a verdict: of the deciding comparison first."""

    unit: str
    values: dict[str, dict[str, float]]  # side -> seed -> value
    comparisons: Annotated[list[ComparisonEvidence], Field(min_length=1)]
    family: int  # the comparisons whose tests of a difference are corrected for each other
    margin_family: int  # the same of the tests of a difference within its margin

    @model_validator(mode="after")
    def _check_sides(self) -> Self:
        if unknown := {side for comparison in self.comparisons for side in comparison.sides} - self.values.keys():
            raise ValueError(f"it has no values of {min(unknown)}")
        return self

    def differences(self, comparison: ComparisonEvidence) -> dict[str, float]:
        """Return the difference at each seed that all sides of a comparison share."""
        sides = [self.values[side] for side in comparison.sides]
        numbered = [values.keys() for values in sides if EVERY_SEED not in values]
        seeds = [seed for seed in numbered[0] if all(seed in other for other in numbered)] if numbered else []
        signs = (1, -1, -1, 1)
        return {
            seed: sum(
                sign * values.get(seed, values.get(EVERY_SEED, 0.0)) for sign, values in zip(signs, sides, strict=False)
            )
            for seed in seeds
        }
