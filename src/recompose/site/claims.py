"""The dialog of a claim: its comparisons with the values pair by pair, the tests, the price, and what belongs to it."""

from collections.abc import Mapping

from recompose.claims.differences import number_text
from recompose.claims.outcome import reading
from recompose.claims.verdicts import probability_text
from recompose.files import Document
from recompose.papers.declaration import Claim
from recompose.parts.cells import EVERY_SEED, Cell, ClaimEvidence, ComparisonEvidence, DifferenceTest
from recompose.tables.published import Published
from recompose.tracks.track import Track


def claim_dialog(
    published: Published, table: str, track: Track, claim: Claim, verdict: Cell, interval: str, is_synthetic: bool
) -> Document:
    """Return the content of the dialog of a claim on a data set, as the page's script reads it.

    Args:
        published: the reports.
        table: of claims, as <paper>/<artifact>.
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
    sides = {label: _evaluations(published, table, verdict, label) for label in evidence.values}
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


def _evaluations(published: Published, table: str, verdict: Cell, label: str) -> dict[str, str]:
    """Return the evaluations of a side by seed: those of the method that its label names."""
    names = [name for name in verdict.names if label == name or label.endswith(f" of {name}")]
    keys = (key for name in names for key in published.evaluations(table, name, verdict.benchmark).values())
    return {str(published.recipes[key].labels.get("seed", EVERY_SEED)): key for key in keys}


def _comparison(
    evidence: ClaimEvidence, comparison: ComparisonEvidence, digits: int, keys: Mapping[str, Mapping[str, str]]
) -> Document:
    differences, test = evidence.differences(comparison), comparison.test
    mean = sum(differences.values()) / len(differences) if differences else None
    difference = _text(test.difference if test else mean, digits, "+")
    return {
        **{part: getattr(comparison, part) for part in ("text", "sides", "verdict", "is_kept")},
        "difference": difference,
        "margin": f"{comparison.margin:g}",
        "pairs": [
            {
                "seed": seed,
                "sides": [_side(evidence.values[side], keys[side], seed, digits) for side in comparison.sides],
                "difference": _text(differences.get(seed), digits, "+"),
            }
            for seed in _seeds(evidence, comparison)
        ],
        "test": {"replicates": test.replicates, "difference": difference, **_probabilities(test)} if test else None,
        **_probabilities(comparison),
        "price": comparison.price.split(" / ") if comparison.price else [],
    }


def _seeds(evidence: ClaimEvidence, comparison: ComparisonEvidence) -> list[str]:
    """Return the seeds of the values of a comparison, those that no seed changes apart."""
    seeds = {seed for side in comparison.sides for seed in evidence.values[side]} - {EVERY_SEED}
    return sorted(seeds, key=lambda seed: (len(seed), seed)) or [EVERY_SEED]


def _side(values: Mapping[str, float], keys: Mapping[str, str], seed: str, digits: int) -> Document:
    """Return the value of a side at a seed with its evaluation, which is the only one of what no seed changes."""
    value = values.get(seed, values.get(EVERY_SEED))
    only = next(iter(keys.values())) if len(keys) == 1 else ""
    return {"text": _text(value, digits), "key": "" if value is None else keys.get(seed, only)}


def _text(value: float | None, digits: int, sign: str = "") -> str:
    return "" if value is None else number_text(value, digits, sign)


def _probabilities(test: DifferenceTest | ComparisonEvidence) -> Document:
    """Return both p of a test or of a comparison, in words."""
    return {"p": probability_text(test.p), "p_margin": probability_text(test.p_margin)}
