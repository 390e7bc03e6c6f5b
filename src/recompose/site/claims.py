"""The dialog of a claim: its comparisons with the values pair by pair, the tests, the price, and what belongs to it."""

from collections.abc import Iterator, Mapping

from recompose.claims.differences import number_text
from recompose.claims.outcome import reading
from recompose.claims.verdicts import probability_text
from recompose.files import Document
from recompose.papers.declaration import Claim
from recompose.parts.cells import EVERY_SEED, Cell, ClaimEvidence, ComparisonEvidence, DifferenceTest
from recompose.tables.lineage import Lineage
from recompose.tracks.track import Track


def claim_dialog(
    lineage: Lineage, track: Track, claim: Claim, verdict: Cell, interval: str, is_synthetic: bool
) -> Document:
    """Return the content of the dialog of a claim on a data set, as the page's script reads it.

    Args:
        lineage: of the table of claims.
        track: of the paper.
        claim: as declared.
        verdict: its cell, with the evidence.
        interval: of the difference that decides the claim, in words.
        is_synthetic: whether this project drew the data.
    """
    evidence = verdict.evidence
    if evidence is None:
        return {}
    digits = track.description_of(verdict.metric).digits
    sides = {label: _evaluations(lineage, verdict, label) for label in evidence.values}
    comparisons = [_comparison(evidence, comparison, digits, sides) for comparison in evidence.comparisons]
    return {
        "sentence": claim.sentence,
        "dataset": verdict.benchmark,
        "synthetic": is_synthetic,
        "verdict": reading(verdict.text, is_synthetic),
        "unit": evidence.unit,
        "comparisons": [{**comparisons[0], "interval": interval}, *comparisons[1:]],
        "family": evidence.family,
        "margin_family": evidence.margin_family,
        "belonging": list(dict.fromkeys(key for keys in sides.values() for key in keys.values())),
    }


def _evaluations(lineage: Lineage, verdict: Cell, label: str) -> dict[str, str]:
    """Return the complete evaluations of a side by seed: those of the method that its label names."""
    keys = [
        key
        for planned in lineage.planned
        if planned.benchmark == verdict.benchmark and (label == planned.name or label.endswith(f" of {planned.name}"))
        for key in planned.evaluations
        if key in lineage.records
    ]
    return {str(lineage.records[key].labels.get("seed", EVERY_SEED)): key for key in keys}


def _comparison(
    evidence: ClaimEvidence, comparison: ComparisonEvidence, digits: int, keys: Mapping[str, Mapping[str, str]]
) -> Document:
    differences, test = evidence.differences(comparison), comparison.test
    shown = _test(test, digits) if test else None
    return {
        **{part: getattr(comparison, part) for part in ("text", "sides", "verdict", "is_kept")},
        "difference": shown["difference"] if shown else _mean_text(differences, digits),
        "margin": f"{comparison.margin:g}",
        "pairs": list(_pairs(evidence, comparison, digits, keys)),
        "test": shown,
        **_probabilities(comparison),
        "price": comparison.price.split(" / ") if comparison.price else [],
    }


def _probabilities(test: DifferenceTest | ComparisonEvidence) -> Document:
    """Return both p of a test or of a comparison, in words."""
    return {"p": probability_text(test.p), "p_margin": probability_text(test.p_margin)}


def _mean_text(differences: Mapping[str, float], digits: int) -> str:
    return number_text(sum(differences.values()) / len(differences), digits, "+") if differences else ""


def _pairs(
    evidence: ClaimEvidence, comparison: ComparisonEvidence, digits: int, keys: Mapping[str, Mapping[str, str]]
) -> Iterator[Document]:
    """Yield a row for each seed: the value of each side with its evaluation, and the difference."""
    differences = evidence.differences(comparison)
    values = [evidence.values[side] for side in comparison.sides]
    seeds = sorted({seed for by_seed in values for seed in by_seed} - {EVERY_SEED}, key=lambda seed: (len(seed), seed))
    for seed in seeds or [EVERY_SEED]:
        yield {
            "seed": seed,
            "sides": [
                _value(by_seed.get(seed, by_seed.get(EVERY_SEED)), digits, _key(keys[side], seed))
                for side, by_seed in zip(comparison.sides, values, strict=True)
            ],
            "difference": number_text(differences[seed], digits, "+") if seed in differences else "",
        }


def _key(keys: Mapping[str, str], seed: str) -> str:
    """Return the evaluation of a seed, or the only one of a method that no seed changes."""
    return keys.get(seed, next(iter(keys.values())) if len(keys) == 1 else "")


def _value(value: float | None, digits: int, key: str) -> Document:
    return {"text": "" if value is None else number_text(value, digits), "key": "" if value is None else key}


def _test(test: DifferenceTest, digits: int) -> Document:
    difference = number_text(test.difference, digits, "+")
    return {"replicates": test.replicates, "difference": difference, **_probabilities(test)}
