"""What a study saw at a stage: later replicates change nothing."""

from math import sqrt

import pytest

from recompose.allocation.seen import StageResults, comparison_name, look
from recompose.inference.sequential import Looks
from recompose.report.claims.paper_tests import compare_all
from recompose.report.claims.verdicts import comparisons_of
from tests.report.test_claims import Fake, claim, margin, on_d, paper_of

VALUES = {
    "a": [14, 26, 36, 20, 41, 18],
    "b": [10, 21, 30, 25, 40, 11],
    "c": [9, 28, 30, 21, 38, 20],
}
PAPER = paper_of(one=claim(), other=claim(lower=["c"]), same=claim(lower=["c"], margin=margin(3), kept=True))


def study() -> Fake:
    work = on_d(**VALUES)
    work.declared = Looks((3, 6))
    return work


def test_a_stage_sees_the_first_replicates_of_each_method_alone() -> None:
    early = on_d(**{name: values[:3] for name, values in VALUES.items()})
    early.declared = study().declared
    counts = {"czsl": dict.fromkeys("abc", 3)}
    assert look(StageResults(study(), counts), [PAPER]) == look(early, [PAPER])  # type: ignore[arg-type]
    assert look(StageResults(study(), counts), [PAPER]) != look(study(), [PAPER])  # type: ignore[arg-type]
    one = StageResults(study(), {"czsl": {"a": 3}})  # type: ignore[arg-type]
    assert [len(one.planned("czsl", name, "d")) for name in "abc"] == [3, 1, 1]


def test_what_is_seen_is_the_difference_and_its_corrected_p() -> None:
    observations, undecided = look(study(), [PAPER])  # type: ignore[arg-type]
    assert [each.key for each in observations] == [
        ("p", "d", "a - b in test/closed/dense/auc margin 0.1"),
        ("p", "d", "a - c in test/closed/dense/auc margin 0.1"),
        ("p", "d", "a - c in test/closed/dense/auc margin 3 kept"),
    ]
    mean = sum(first - second for first, second in zip(VALUES["a"], VALUES["b"], strict=True)) / 6
    assert observations[0].difference == pytest.approx(mean, rel=1e-5)
    tested = compare_all(study(), PAPER, "d")  # type: ignore[arg-type]
    for observation, result in zip(observations, tested.values(), strict=True):
        assert result.correction
        assert observation.p == pytest.approx(result.correction.beyond, rel=1e-5)
        assert (observation.replicates, observation.verdict) == (6, result.verdict)
    assert [each.name for each in undecided] == [f"p/d/{of.comparison}" for of in observations]
    spread = undecided[0].question.spread
    differences = [first - second for first, second in zip(VALUES["a"], VALUES["b"], strict=True)]
    assert spread == pytest.approx(sqrt(sum((each - mean) ** 2 for each in differences) / 5), rel=1e-5)
    assert undecided[0].question.level == pytest.approx(0.05 / 3)
    assert [each.question.is_kept for each in undecided] == [False, False, True]


def test_what_is_decided_or_has_no_test_is_not_open() -> None:
    work = on_d(a=[50, 51.5, 52], b=[10, 11, 12], c=[60])
    observations, undecided = look(work, [PAPER])  # type: ignore[arg-type]
    assert [each.verdict for each in observations] == ["supported here"]
    assert undecided == []


def test_distinct_comparisons_have_distinct_names() -> None:
    metric = "test/closed/dense/seen"
    claims = [
        claim(),
        claim(lower=["c"]),
        claim(metric=metric),
        claim(margin=margin(2)),
        claim(kept=True),
        claim(beyond=metric),
        claim(gain={"higher": "c", "lower": "d"}),
        claim(lower=[], lower_metrics=[metric]),
    ]
    assert len({comparison_name(of) for each in claims for of in comparisons_of(each)}) == len(claims)
