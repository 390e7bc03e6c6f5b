"""The evidence that lineage keeps of a claim."""

from collections.abc import Iterator, Sequence

from recompose.exhibits.evidence import EVERY_SEED, ClaimEvidence, ComparisonEvidence, LookEvidence
from recompose.inference.estimates import rounded
from recompose.inference.sequential import Look
from recompose.report.claims.price import Price
from recompose.report.claims.sides import Side
from recompose.report.claims.verdicts import TestedComparison

DIGITS = 6  # that are written


def evidence_of(comparisons: Sequence[TestedComparison], prices: Sequence[Price | None]) -> ClaimEvidence:
    """Return the evidence of a claim.

    Args:
        comparisons: of the claim, the deciding one first.
        prices: of each of them.
    """
    values: dict[str, dict[str, float]] = {}
    for tested in comparisons:
        for side in _sides(tested):
            values.setdefault(side.label, {}).update(_values(side))
    families = next((tested.correction for tested in comparisons if tested.correction), None)
    return ClaimEvidence(
        unit=comparisons[0].unit,
        values={label: dict(sorted(by_seed.items(), key=_seed_order)) for label, by_seed in values.items()},
        comparisons=[_comparison(tested, cost) for tested, cost in zip(comparisons, prices, strict=True)],
        family=families.family if families else 0,
        margin_family=families.margin_family if families else 0,
    )


def _sides(tested: TestedComparison) -> Iterator[Side]:
    for side in (tested.difference.higher, tested.difference.lower):
        yield from side.parts or (side,)


def _values(side: Side) -> dict[str, float]:
    if side.is_constant:
        return dict.fromkeys([EVERY_SEED], rounded(side.mean, DIGITS)) if side.values else {}
    return {str(seed): rounded(value, DIGITS) for seed, value in side.values.items()}


def _seed_order(item: tuple[str, float]) -> int:
    return -1 if item[0] == EVERY_SEED else int(item[0])


def _comparison(tested: TestedComparison, cost: Price | None) -> ComparisonEvidence:
    test, correction = tested.difference.test, tested.correction
    return ComparisonEvidence(
        sides=[side.label for side in _sides(tested)],
        verdict=tested.verdict_text,
        margin=tested.comparison.margin,
        is_kept=tested.comparison.is_kept,
        looks=[_look(look, tested) for look in test.looks] if test else [],
        p=rounded(correction.beyond, DIGITS) if correction else None,
        p_margin=rounded(correction.within, DIGITS) if correction else None,
        price=cost.text if cost else "",
        needed=cost.as_measured.replicates if cost else None,
        in_new_study=bool(cost and cost.as_measured.is_new),
    )


def _look(look: Look, tested: TestedComparison) -> LookEvidence:
    estimate, margin = look.estimate, tested.comparison.margin
    return LookEvidence(
        replicates=look.replicates,
        share=rounded(look.share, DIGITS),
        difference=rounded(estimate.value, DIGITS),
        p=rounded(estimate.p_beyond(margin) if tested.comparison.is_kept else estimate.p_zero(), DIGITS),
        p_margin=rounded(estimate.p_within(margin), DIGITS),
    )
