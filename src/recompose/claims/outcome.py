"""What came out of a paper's claims on a benchmark, in three sentences that follow from the verdicts."""

from collections.abc import Iterable, Iterator, Sequence

from recompose.claims.verdicts import NEGLIGIBLE, REVERSED, SUPPORTED, UNDECIDED, VERDICTS
from recompose.console import pluralize
from recompose.parts.cells import Cell

HANDFUL = 5  # claims that a sentence names


def reading(verdict: str, is_synthetic: bool) -> str:
    """Return a verdict as people read it, with the kind of data that it holds for.

    Example:
        >>> reading("reversed here", is_synthetic=True)
        'reversed on synthetic data'
        >>> reading("undecided (one seed)", is_synthetic=True)
        'undecided (one seed)'
    """
    return verdict.replace(" here", " on synthetic data", 1) if is_synthetic else verdict


def outcome(benchmark: str, is_synthetic: bool, claims: Sequence[Cell]) -> list[str]:
    """Return what holds here, what does not, and what nobody could tell with the replicates that would tell it.

    Args:
        benchmark: the data of the verdicts.
        is_synthetic: whether this project drew the data.
        claims: the cells of their verdicts, in the order of the paper; at least one.
    """
    scope = scope_text(benchmark, is_synthetic, (claim.n or 0 for claim in claims))
    of = {verdict: [claim for claim in claims if claim.verdict == verdict] for verdict in VERDICTS}
    supported, total = of[SUPPORTED], pluralize(len(claims), "claim")
    count = f"{len(supported)} of {total}" if supported else f"none of {total}"
    holds = f"{count} {'hold' if len(supported) > 1 else 'holds'} here{_names(supported)}"
    return [
        f"{scope[0].upper()}{scope[1:]}: {holds}.",
        _contradicted(of[REVERSED], of[NEGLIGIBLE], is_synthetic),
        _undecided(of[UNDECIDED]),
    ]


def scope_text(benchmark: str, is_synthetic: bool, counts: Iterable[int]) -> str:
    """Return the data of verdicts and their number of replicates, in words."""
    positive = sorted({count for count in counts if count})
    return f"on {benchmark}{', synthetic' if is_synthetic else ''}, {span(positive) or 'no'} {_replicates(positive)}"


def generalisation(is_synthetic: bool) -> str:
    """Return what verdicts generalise to, and what they do not."""
    if is_synthetic:
        return (
            "A verdict generalises to other replicates of the same generator (data, split, images and training, at the "
            "same budget). It does not generalise to the paper's data: a reversed claim does not refute the paper."
        )
    return (
        "A verdict generalises to other trainings on the same published data, with its split and images. It does not "
        "generalise to other splits, images or data sets."
    )


def _contradicted(reversed_claims: list[Cell], negligible: list[Cell], is_synthetic: bool) -> str:
    first = f"{_count(reversed_claims)} {reading(REVERSED, is_synthetic)}{_names(reversed_claims)}"
    if not reversed_claims and not negligible:
        return f"{first}, and none is negligible."
    second = f"{_count(negligible).lower()} negligible{_names(negligible)}"
    return f"{first}; {second}."


def _undecided(claims: list[Cell]) -> str:
    if not claims:
        return "Every claim is decided."
    needed = {claim: _needed(claim) for claim in claims}
    counted = sorted((claim for claim in claims if needed[claim]), key=lambda claim: needed[claim] or 0)
    dear, unknown = ([claim for claim in claims if needed[claim] == number] for number in (0, None))
    costs = "; ".join(_costs([needed[claim] or 0 for claim in counted], len(dear), len(unknown)))
    return f"{_count(claims)} undecided{_names([*counted, *dear, *unknown])}: {costs}."


def _needed(claim: Cell) -> int | None:
    """Return the replicates that decide the deciding comparison if its difference is as measured; 0: too many; None:
    unknown.
    """
    decisive = claim.evidence and claim.evidence.comparisons[0]
    return (decisive.needed or 0) if decisive and decisive.price else None


def _costs(counted: list[int], dear: int, unknown: int) -> Iterator[str]:
    """Yield what would decide claims: replicates, too many of them, or what is unknown."""
    if counted:
        total = len(counted) + dear + unknown
        objects = f"{len(counted)} of them" if len(counted) < total else "it" if total == 1 else "each"
        differences = "differences are" if len(counted) > 1 else "the difference is"
        yield (
            f"{span(counted)} {_replicates(counted)} would decide {objects} with 80 % probability, if {differences} "
            "as measured"
        )
    if dear:
        yield f"{dear} would take too many replicates"
    if unknown:
        yield f"the price of {unknown} is unknown, for want of a spread over replicates"


def _count(claims: list[Cell]) -> str:
    return f"{len(claims) or 'None'} {'are' if len(claims) > 1 else 'is'}"


def _names(claims: list[Cell]) -> str:
    """Return the names of a handful of claims in brackets, and how many more there are."""
    names = [claim.row for claim in claims[:HANDFUL]]
    more = [f"{len(claims) - HANDFUL} more"] if len(claims) > HANDFUL else []
    return f" ({', '.join([*names, *more])})" if claims else ""


def span(numbers: Sequence[int]) -> str:
    """Return the ends of sorted numbers in words."""
    return " to ".join(str(number) for number in dict.fromkeys((*numbers[:1], *numbers[-1:])))


def _replicates(numbers: Sequence[int]) -> str:
    return "replicate" if numbers and numbers[-1] == 1 else "replicates"
