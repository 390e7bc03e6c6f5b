"""What a study has seen: its comparisons at a stage, computed from stored scores."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from recompose.allocation.next_stage import OpenComparison
from recompose.exhibits.results import Results
from recompose.inference.sequential import Looks
from recompose.papers.declaration import Paper
from recompose.params.allocation import Observation, Replicates
from recompose.plan import Plan, Recipe
from recompose.report.claims.paper_tests import compare_all
from recompose.report.claims.price import OpenTests, question_of
from recompose.report.claims.verdicts import UNDECIDED, ClaimComparison, TestedComparison

DIGITS = 6  # that are written and compared


class StageResults(Results):
    """The results as they were at a stage: of each method and variant the first replicates."""

    def __init__(self, results: Results, replicates: Replicates) -> None:
        self._results, self._replicates = results, replicates

    @property
    def plan(self) -> Plan:
        return self._results.plan

    def benchmarks(self, track: str) -> list[str]:
        return self._results.benchmarks(track)

    def looks(self, track: str) -> Looks | None:
        return self._results.looks(track)

    def data(self, track: str, benchmark: str) -> Recipe:
        return self._results.data(track, benchmark)

    def planned(self, track: str, name: str, benchmark: str) -> list[Recipe]:
        count = self._replicates.get(track, {}).get(name, 1)
        return self._results.planned(track, name, benchmark)[:count]

    def complete(self, track: str, name: str, benchmark: str) -> list[Recipe]:
        return [evaluation for evaluation in self.planned(track, name, benchmark) if self.is_complete(evaluation)]

    def is_complete(self, recipe: Recipe) -> bool:
        return self._results.is_complete(recipe)

    def metrics(self, evaluation: Recipe) -> Mapping[str, float]:
        return self._results.metrics(evaluation)

    def statistics(self, data: Recipe) -> Mapping[str, float]:
        return self._results.statistics(data)

    def file(self, recipe: Recipe, name: str) -> Path:
        return self._results.file(recipe, name)

    def folder(self, recipe: Recipe) -> Path:
        return self._results.folder(recipe)

    def raw(self, data: Recipe) -> Path:
        return self._results.raw(data)


def look(results: Results, papers: Iterable[Paper]) -> tuple[list[Observation], list[OpenComparison]]:
    """Return every tested comparison as it stands, and those that are undecided."""
    observations, undecided = [], []
    for paper in papers:
        for benchmark in results.benchmarks(paper.track):
            tested = compare_all(results, paper, benchmark)
            open_tests = OpenTests.count(tested)
            for comparison, result in tested.items():
                if result.correction is None or result.difference.value is None:
                    continue
                name = comparison_name(comparison)
                observations.append(_observation(paper, benchmark, name, result))
                if result.verdict == UNDECIDED:
                    name = f"{paper.name}/{benchmark}/{name}"
                    undecided.append(_open_comparison(paper, name, result, open_tests))
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
        difference=_rounded(result.difference.value),
        p=_rounded(result.correction.beyond),
        p_margin=_rounded(result.correction.within),
        verdict=result.verdict,
    )


def _open_comparison(paper: Paper, name: str, result: TestedComparison, open_tests: OpenTests) -> OpenComparison:
    question = question_of(result.comparison, open_tests, result.difference.spread or 0.0)
    assert result.difference.value is not None
    return OpenComparison(name, paper.track, tuple(result.comparison.methods), result.difference.value, question)


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
