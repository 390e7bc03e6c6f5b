"""Prices of verdicts, counted once more by plain loops on runs that are made up, and what a user is told."""

from dataclasses import replace
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from recompose.claims.estimates import FAMILY_ALPHA
from recompose.claims.price import (
    GIVEN,
    MEASURED,
    ClaimPrice,
    ComparisonPrice,
    Price,
    Question,
    core_seconds,
    decision_probability,
)
from recompose.claims.verdicts import SUPPORTED, UNDECIDED, ClaimTests
from recompose.commands import power
from recompose.commands.power import sentences
from recompose.costs import CostEstimate, Costs
from recompose.errors import PlanError
from recompose.recipes.plan import Recipe
from recompose.recipes.store import Store
from recompose.tables.stored_results import StoredResults
from recompose.workspace import PROFILE, Workspace
from tests.audit.invented import publish
from tests.configuration import write_params
from tests.errors import raises

SECONDS = {"data": 2.0, "pixels": 1.0, "features": 1.5, "runs": 10.0, "evaluations": 3.0}
STUDY = {
    "profiles.study.gzsl": None,
    "profiles.study.vlc": None,
    "profiles.study.czsl.methods": ["chance", "clip", "coop", "csp", "gipcol", "dfsp", "c-s-o", "troika", "msci"],
    "profiles.study.czsl.seeds": [0, 1, 2],
    "profiles.study.czsl.variant_seeds": [0],
    "profiles.study.czsl.interpretation_seeds": [0],
}
PRICED = ComparisonPrice("a - b", ("a", "b"), 1.5, 0.5, 4, 2.0, MEASURED, Price(12, 55))
UNDECIDED_CLAIM = ClaimPrice("p", "better\x1b[2J", "d", UNDECIDED, [PRICED], 3600.0, None)
DECIDED_CLAIM = ClaimPrice("p", "decided-one", "d", SUPPORTED, [])


class Measured(dict[str, float]):
    """The metrics of an evaluation: a method's own level, and what the seed adds."""

    def __init__(self, name: str, seed: int) -> None:
        super().__init__()
        self._name, self._seed = name, seed

    def get(self, metric: str, default: Any = None) -> float:
        """Any metric."""
        level = Random(f"{self._name} {metric}").choice([0.2, 0.2, 0.205, 0.24])
        return level + Random(f"{self._name} {metric} {self._seed}").gauss(0, 0.012)


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Three replicates of a few methods, complete as long as the folder ``measured`` is there."""
    write_params(tmp_path, "study", STUDY)
    (tmp_path / "measured").mkdir()
    monkeypatch.delenv(PROFILE, raising=False)
    monkeypatch.setattr(Costs, "estimate", lambda costs, recipe: CostEstimate(SECONDS[recipe.kind]))
    monkeypatch.setattr(Store, "is_complete", lambda store, recipe: (tmp_path / "measured").exists())
    monkeypatch.setattr(
        StoredResults,
        "metrics",
        lambda results, evaluation: Measured(evaluation.labels["name"], evaluation.labels["seed"]),
    )
    return Workspace(tmp_path)


def prices(work: Workspace, only: str | None = None, spread: float | None = None) -> list[ClaimPrice]:
    """What the command prints for programs."""
    printed: list[list[ClaimPrice]] = []
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(power, "print_json", printed.append)
        power.power(work, work.papers, only, spread, as_json=True)
    return printed[0]


def seconds_of(work: Workspace, replicates: dict[str, int]) -> float:
    """The time of what these methods lack, each recipe of the first replicate once for each further replicate."""
    more: dict[str, tuple[int, str]] = {}
    for name, count in replicates.items():
        evaluations = work.plan.evaluations("czsl", name, "shapes-pairs")
        waiting = [evaluations[0]]
        while waiting:
            recipe = waiting.pop()
            before = more.get(recipe.digest, (0, ""))[0]
            more[recipe.digest] = max(before, count - len(evaluations), 0), recipe.kind
            waiting += recipe.needs.values()
    return sum(count * SECONDS.get(kind, 0.0) for count, kind in more.values())


@pytest.mark.slow
def test_the_price_is_the_fewest_replicates_that_decide_and_what_they_lack_once(work: Workspace) -> None:
    undecided = [price for price in prices(work) if price.verdict == UNDECIDED]
    assert len(undecided) > 5
    family = len({comparison.text for price in undecided for comparison in price.comparisons})
    assert family > 5
    for price in undecided:
        for comparison in price.comparisons:
            assert comparison.difference is not None
            assert comparison.spread and comparison.price
            for needed, difference in (
                (comparison.as_measured, comparison.difference),
                (comparison.price.if_zero, 0.0),
            ):
                if needed is not None and needed < 400:
                    levels = question_levels(work, price)
                    question = Question(comparison.spread, comparison.margin, *levels, comparison.is_kept)
                    assert decision_probability(question, difference, needed) >= 0.8
                    assert decision_probability(question, difference, needed - 1) < 0.8
        needs = {each: each.as_measured for each in price.comparisons}
        contradicting = [each for each in price.comparisons if each.contradicts and needs[each]]
        decisive = [min(contradicting, key=lambda each: needs[each] or 0)] if contradicting else price.comparisons
        counts: dict[str, int] = {}
        for comparison in decisive:
            for method in comparison.methods:
                counts[method] = max(counts.get(method, 0), needs[comparison] or 0)
        if all(needs[comparison] for comparison in decisive):
            assert price.core_seconds_as_measured == pytest.approx(seconds_of(work, counts))
        else:
            assert price.core_seconds_as_measured is None


@pytest.mark.parametrize("is_published", [True, False])
def test_a_replicate_makes_nothing_anew_that_replicates_share(is_published: bool) -> None:
    """Of 5 replicates, 2 are there: the corpus of the backbone is made once, and so is published data."""
    backbone = Recipe("backbones", "clip", {}, {"corpus": Recipe("data", "scenes", {})})
    evaluations = []
    for seed in (0, 1):
        data = Recipe("data", "images", {} if is_published else {"seed": seed}, track="czsl")
        run = Recipe("runs", "csp", {"seed": seed}, {"data": data, "backbone": backbone}, track="czsl")
        evaluations.append(Recipe("evaluations", "csp", {}, {"data": data, "run": run}, track="czsl"))
    results: Any = SimpleNamespace(planned=lambda *_: evaluations, complete=lambda *_: evaluations)
    seconds = core_seconds(results, lambda recipe: SECONDS[recipe.kind], "czsl", "images", [(["csp"], 5)])
    assert seconds == 3 * (SECONDS["runs"] + SECONDS["evaluations"] + (0 if is_published else SECONDS["data"]))


def question_levels(work: Workspace, price: ClaimPrice) -> tuple[float, float]:
    """The levels that are left to a comparison: 3.5 % divided by the tests of either kind that are not significant."""
    (paper,) = (paper for paper in work.papers if paper.name == price.paper)
    beyond, within = set(), 0
    for comparison, tested in ClaimTests.of(StoredResults(work), paper, price.benchmark).comparisons.items():
        if tested.correction.beyond >= FAMILY_ALPHA:
            beyond.add(comparison.sides)
        within += tested.correction.within >= FAMILY_ALPHA
    return FAMILY_ALPHA / len(beyond), FAMILY_ALPHA / within


@pytest.mark.slow
def test_a_given_spread_replaces_all_and_one_claim_can_be_asked_for(work: Workspace) -> None:
    everything = prices(work)
    name = next(price.claim for price in everything if price.verdict == UNDECIDED)
    (one,) = prices(work, only=name, spread=0.5)
    assert {(each.spread, each.source) for each in one.comparisons} == {(0.5, GIVEN)}
    with raises(PlanError, "unknown-claim", "no-claim"):
        prices(work, only="no-claim")


# what a user is told


def test_where_nothing_was_measured_no_verdict_is_counted() -> None:
    """All verdicts are undecided there, which says nothing about the claims."""
    price = replace(UNDECIDED_CLAIM, comparisons=[replace(PRICED, difference=None, n=0)])
    text = "\n".join(sentences([price]))
    assert "nothing was measured" in text and "1 undecided" not in text
    assert "nothing was measured" not in "\n".join(sentences([price, DECIDED_CLAIM]))


@pytest.mark.slow
def test_a_clone_without_scores_has_the_prices_of_its_reports(work: Workspace) -> None:
    """The prices follow from the published numbers as they do from the same numbers of stored scores."""
    stored = prices(work)
    names = {metric for paper in work.papers for claim in paper.claims.values() for metric in claim.metrics}
    values = {}
    for evaluation in work.plan.of("evaluations"):
        measured = Measured(evaluation.labels["name"], evaluation.labels["seed"])
        values[evaluation.key] = {name: measured.get(name) for name in names}
    publish(work.reports, {}, values)
    (work.root / "measured").rmdir()
    assert [price.comparisons for price in prices(work)] == [price.comparisons for price in stored]
