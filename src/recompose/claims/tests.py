"""The tests of all claims of a paper on a benchmark, corrected for each other."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite, nan

from recompose.claims.correction import holm
from recompose.claims.differences import Difference, Side, difference, subtract
from recompose.claims.estimates import FAMILY_ALPHA
from recompose.claims.verdicts import (
    ClaimComparison,
    Correction,
    TestedComparison,
    comparisons_of,
    deciding_comparison,
)
from recompose.papers.declaration import Claim, Paper
from recompose.plan import Recipe
from recompose.tables.results import Results
from recompose.tracks import TRACKS

Place = tuple[str, ClaimComparison]  # a benchmark, and a comparison on it


@dataclass(frozen=True)
class ClaimTests:
    """The tests of a paper's claims on a benchmark."""

    claims: Mapping[str, Claim]  # whose methods are all planned
    comparisons: Mapping[ClaimComparison, TestedComparison]  # distinct ones: claims may share them
    # the error that is left to each test that is not significant so far: of a difference, and of one within its margin
    levels: tuple[float, float]

    @classmethod
    def of(cls, results: Results, paper: Paper, benchmark: str) -> "ClaimTests":
        """Test all distinct comparisons of a paper's claims on a benchmark, corrected for each other.

        Those of a user's own comparison are corrected for those on its other data sets, too.
        """
        family = paper.corrected_with(benchmark, results.benchmarks(paper.track))
        claims = {name: _planned_claims(results, paper, name) for name in family}
        differences = {
            (name, comparison): _difference(results, paper, name, comparison)
            for name in family
            for claim in claims[name].values()
            for comparison in comparisons_of(claim)
        }
        corrections = _corrections(differences)
        comparisons = {
            comparison: TestedComparison(
                comparison,
                result,
                TRACKS[paper.track].description_of(comparison.metrics[0]),
                tuple(_label(paper, metric) for metric in comparison.metrics),
                corrections.get((name, comparison)),
            )
            for (name, comparison), result in differences.items()
            if name == benchmark
        }
        return cls(claims[benchmark], comparisons, _levels(differences, corrections))

    def of_claim(self, claim: Claim) -> list[TestedComparison]:
        """Return the comparisons that a claim rests on, the deciding one first."""
        comparisons = [self.comparisons[comparison] for comparison in comparisons_of(claim)]
        decisive = deciding_comparison(comparisons)
        return [decisive, *(other for other in comparisons if other is not decisive)]


def _planned_claims(results: Results, paper: Paper, benchmark: str) -> dict[str, Claim]:
    return {
        row: claim
        for row, claim in paper.claims.items()
        if all(results.planned(paper.track, method, benchmark) for method in claim.methods)
    }


def _corrections(differences: Mapping[Place, Difference]) -> dict[Place, Correction]:
    """Return the corrected p of each tested comparison: those of differences and of margins apart."""
    tests = {place: result.test for place, result in differences.items() if result.test}
    beyond = {(name, comparison.hypothesis): comparison.p_beyond(test) for (name, comparison), test in tests.items()}
    adjusted = dict(zip(beyond, holm(list(beyond.values())), strict=True))
    within = holm([test.p_within(comparison.margin) for (_, comparison), test in tests.items()])
    return {
        (name, comparison): Correction(adjusted[name, comparison.hypothesis], p, len(beyond), len(within))
        for (name, comparison), p in zip(tests, within, strict=True)
    }


def _levels(places: Iterable[Place], corrections: Mapping[Place, Correction]) -> tuple[float, float]:
    """Return the error divided by the tests of differences, and of margins, that are not significant so far.

    After Holm's correction, no more than their number is against one of them. What was not run is open.
    """
    known = {place: corrections.get(place) for place in places}
    beyond = {
        (name, comparison.hypothesis)
        for (name, comparison), correction in known.items()
        if correction is None or correction.beyond >= FAMILY_ALPHA
    }
    within = sum(correction is None or correction.within >= FAMILY_ALPHA for correction in known.values())
    return FAMILY_ALPHA / max(1, len(beyond)), FAMILY_ALPHA / max(1, within)


def _label(paper: Paper, metric: str) -> str:
    """Return the label of a metric, or its name without the split if it has none."""
    labels = {name: label for label, name in TRACKS[paper.track].compared.items()}
    return labels.get(metric, metric.partition("/")[2].replace("/", " ").replace("_", " "))


def _difference(results: Results, paper: Paper, benchmark: str, comparison: ClaimComparison) -> Difference:
    sides = [_side(results, paper, benchmark, comparison, method, metric) for method, metric in comparison.sides]
    pairs = list(zip(sides[::2], sides[1::2], strict=True))
    return difference(*pairs[0]) if len(pairs) == 1 else difference(*(subtract(*pair) for pair in pairs))


def _side(
    results: Results, paper: Paper, benchmark: str, comparison: ClaimComparison, method: str, metric: str
) -> Side:
    """Return the values of a method, in the metric's unit; NaN and infinity count as not measured."""
    label = f"{_label(paper, metric)} of {method}" if len(comparison.metrics) > 1 else method
    factor = TRACKS[paper.track].description_of(metric).factor
    measured = {
        int(evaluation.labels["seed"]): factor * results.metrics(evaluation).get(metric, nan)
        for evaluation in results.complete(paper.track, method, benchmark)
    }
    values = {seed: value for seed, value in sorted(measured.items()) if isfinite(value)}
    planned = {name: results.planned(paper.track, name, benchmark) for name in comparison.methods}
    return Side(label, values, _is_constant(paper, planned[method], planned))


def _is_constant(paper: Paper, planned: list[Recipe], compared: Mapping[str, list[Recipe]]) -> bool:
    """Return True if no seed changes a method: it is run once, and all compared methods share the data."""
    evaluations = [evaluation for recipes in compared.values() for evaluation in recipes]
    data = {evaluation.needs["data"].digest for evaluation in evaluations if "data" in evaluation.needs}
    return len(planned) == 1 and len(data) <= 1 and not TRACKS[paper.track].depends_on_seed(planned[0])
