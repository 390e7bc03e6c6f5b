"""What a study has seen: its comparisons at a stage, computed from stored scores."""

from collections.abc import Iterable

from recompose.allocation.next_stage import OpenComparison
from recompose.exhibits.results import PartialResults, Results
from recompose.inference.estimates import DECIMALS, rounded
from recompose.papers.declaration import Paper
from recompose.params.allocation import Observation, Replicates
from recompose.plan import Recipe
from recompose.report.claims.paper_tests import compare_all, open_tests
from recompose.report.claims.price import OpenTests, question_of
from recompose.report.claims.verdicts import UNDECIDED, ClaimComparison, TestedComparison
from recompose.report.results import StoredResults

DIGITS = 6  # that are written, and that the next stage rests on: other processors may differ in those after


class StageResults(PartialResults):
    """The results as they were at a stage: of each method and variant the first replicates."""

    def __init__(self, results: Results, replicates: Replicates) -> None:
        super().__init__(results)
        self._replicates = replicates

    def planned(self, track: str, name: str, benchmark: str) -> list[Recipe]:
        count = self._replicates.get(track, {}).get(name, 1)
        return super().planned(track, name, benchmark)[:count]


def processors(results: StoredResults, replicates: Replicates) -> list[str]:
    """Return the kinds of processors that computed the evaluations of a stage, as far as they are known."""
    until = StageResults(results, replicates)
    builds = (
        results.build_info(evaluation)
        for track, counts in replicates.items()
        for benchmark in results.benchmarks(track)
        for name in counts
        for evaluation in until.planned(track, name, benchmark)
    )
    return sorted({build.processor_kind for build in builds if build})


def look(results: Results, papers: Iterable[Paper]) -> tuple[list[Observation], list[OpenComparison]]:
    """Return every tested comparison as it stands, and those that are undecided."""
    observations, undecided = [], []
    for paper in papers:
        for benchmark in paper.benchmarks_among(results.benchmarks(paper.track)):
            tested = compare_all(results, paper, benchmark)
            remaining = open_tests(results, paper, benchmark, tested)
            for comparison, result in tested.items():
                if result.correction is None or result.difference.value is None:
                    continue
                name = comparison_name(comparison)
                observations.append(_observation(paper, benchmark, name, result))
                if result.verdict == UNDECIDED:
                    name = f"{paper.name}/{benchmark}/{name}"
                    undecided.append(_open_comparison(paper, name, result, remaining))
    return observations, undecided


def comparison_name(comparison: ClaimComparison) -> str:
    """Return a name for a comparison that no other one of its paper has."""
    plain = f"{comparison.higher} - {comparison.lower} in {comparison.metric}"
    if comparison.lower_metric:
        plain = f"{comparison.higher} in {comparison.metric} - {comparison.lower_metric}"
    parts = [f"beyond {comparison.beyond}" if comparison.beyond else ""]
    parts += [f"beyond {comparison.gain.higher} - {comparison.gain.lower}" if comparison.gain else ""]
    kept = " kept" if comparison.is_kept else ""
    return " ".join(filter(None, (plain, *parts, f"margin {comparison.margin:g}{kept}")))


def _observation(paper: Paper, benchmark: str, name: str, result: TestedComparison) -> Observation:
    assert result.correction is not None and result.difference.value is not None
    return Observation(
        paper=paper.name,
        benchmark=benchmark,
        comparison=name,
        replicates=result.difference.n,
        difference=rounded(round(result.difference.value, DECIMALS), DIGITS),
        p=rounded(result.correction.beyond, DIGITS),
        p_margin=rounded(result.correction.within, DIGITS),
        verdict=result.verdict,
    )


def _open_comparison(paper: Paper, name: str, result: TestedComparison, open_tests: OpenTests) -> OpenComparison:
    assert result.difference.value is not None
    question = question_of(result.comparison, open_tests, rounded(result.difference.spread or 0.0, DIGITS))
    return OpenComparison(
        name,
        paper.track,
        tuple(result.comparison.methods),
        rounded(round(result.difference.value, DECIMALS), DIGITS),
        question,
        result.difference.n,
    )
