"""Prices of verdicts, counted once more by plain loops."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from recompose.errors import PlanError
from recompose.inference.estimates import ALPHA
from recompose.inference.power import Question, decision_probability
from recompose.monitor import power
from recompose.monitor.power import GIVEN, ClaimPrice, affordable, price_claims
from recompose.report.claims.verdicts import UNDECIDED
from recompose.workspace import Workspace
from tests.allocation.studies import SECONDS, prepare_study, run
from tests.errors import raises

pytestmark = pytest.mark.slow

THREE = {"profiles.study.allocation": None, "profiles.study.czsl.seeds": [0, 1, 2], "profiles.study.czsl.looks": None}


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Three replicates of a few methods."""
    root = prepare_study(tmp_path, monkeypatch, THREE)
    run(root)
    return Workspace(root)


def prices(work: Workspace, **chosen: object) -> list[ClaimPrice]:
    return price_claims(work, work.papers, **chosen)  # type: ignore[arg-type]


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


def test_the_price_is_the_fewest_replicates_that_decide_and_what_they_lack_once(work: Workspace) -> None:
    undecided = [price for price in prices(work) if price.verdict == UNDECIDED]
    assert len(undecided) > 5
    family = len({comparison.text for price in undecided for comparison in price.comparisons})
    assert family > 5
    for price in undecided:
        for comparison in price.comparisons:
            assert comparison.difference is not None
            assert comparison.spread.value
            for needed, difference in ((comparison.as_measured, comparison.difference), (comparison.if_zero, 0.0)):
                assert needed is not None
                assert not needed.is_new  # the profile declares no looks
                if needed.replicates is not None and needed.replicates < 400:
                    levels = question_levels(work, price)
                    question = Question(comparison.spread.value, comparison.margin, *levels, comparison.is_kept)
                    assert decision_probability(question, difference, needed.replicates) >= 0.8
                    assert decision_probability(question, difference, needed.replicates - 1) < 0.8
        needs = {each: each.as_measured and each.as_measured.replicates for each in price.comparisons}
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


def question_levels(work: Workspace, price: ClaimPrice) -> tuple[float, float]:
    """The levels that are left to a comparison: 5 % divided by the tests of either kind that are not significant."""
    from recompose.report.claims.paper_tests import compare_all
    from recompose.report.results import StoredResults

    (paper,) = (paper for paper in work.papers if paper.name == price.paper)
    beyond, within = set(), 0
    for comparison, tested in compare_all(StoredResults(work), paper, price.benchmark).items():
        if tested.correction is None or tested.correction.beyond >= ALPHA:
            beyond.add((comparison.metric, comparison.higher, comparison.lower, comparison.lower_metric))
        within += tested.correction is None or tested.correction.within >= ALPHA
    return ALPHA / len(beyond), ALPHA / within


def test_a_given_spread_replaces_all_and_one_claim_can_be_asked_for(work: Workspace) -> None:
    everything = prices(work)
    name = next(price.claim for price in everything if price.verdict == UNDECIDED)
    (one,) = prices(work, claim=name, spread=0.5)
    assert {(each.spread.value, each.spread.source) for each in one.comparisons} == {(0.5, GIVEN)}
    with raises(PlanError, "unknown-claim", "no-claim"):
        prices(work, claim="no-claim")


def test_without_replicates_the_spread_is_that_of_reports_the_profile_s_own_first(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (paper,) = (paper for paper in work.papers if paper.name == "msci")
    root, name = work.root, "best-auc-in-closed-world"
    spreads = {"reports/aside": 3.0, "reports/study": 2.0, "reports/zenith": 4.0}

    def read(folder: Path, papers: object) -> SimpleNamespace:
        cell = SimpleNamespace(row=name, part="spread", value=spreads[folder.relative_to(root).as_posix()])
        return SimpleNamespace(lineages={"msci/claims": SimpleNamespace(cells=[cell])})

    for folder in spreads:
        (root / folder).mkdir(parents=True, exist_ok=True)
    monkeypatch.setattr(power.PublishedLineage, "read", read)
    shutil.rmtree(root / "measured")
    (one,) = price_claims(Workspace(root), [paper], name)
    assert {(each.spread.value, each.spread.source) for each in one.comparisons} == {(2.0, power.PILOT)}


def test_the_cheapest_claims_are_paid_first_as_long_as_the_hours_last() -> None:
    def claim(name: str, seconds: float | None) -> ClaimPrice:
        return ClaimPrice("p", name, "d", UNDECIDED, (), seconds)

    claims = [claim("dear", 7200), claim("cheap", 1000), claim("unknown", None), claim("middle", 2600)]
    for hours, names in ((0, []), (0.5, ["cheap"]), (1, ["cheap", "middle"]), (3, ["cheap", "middle", "dear"])):
        assert [price.claim for price in affordable(claims, hours)] == names
