"""Expectations: what has to hold of numbers whatever papers claim, from made-up results."""

from typing import Any

import pytest

from recompose.tables.expectations import Above, Expectation, mean_of
from recompose.tracks import TRACKS
from tests.tables.fakes import Fake, by_seed


def auc(*values: float) -> dict[int, Any]:
    return by_seed(*({"test/closed/dense/auc": value} for value in values))


def test_means_are_over_what_is_there() -> None:
    results = Fake({"clip": {"d": auc(0.2, 0.4)}}, missing={("clip", "d", 1)})
    assert mean_of(results, "czsl", "clip", "test/closed/dense/auc", "d") == pytest.approx(0.2)
    assert mean_of(results, "czsl", "csp", "test/closed/dense/auc", "d") is None


def test_a_method_that_is_not_above_is_named_and_an_equal_one_is_not_above() -> None:
    results = Fake({"clip": {"d": auc(0.2)}, "csp": {"d": auc(0.3)}, "coop": {"d": auc(0.2)}})
    found = list(Above("all are above", "test/closed/dense/auc", ("csp", "coop"), than="clip").check(results, "czsl"))
    assert found == [Expectation("all are above on d (not coop)", holds=False)]


def test_nothing_is_said_of_what_is_not_measured_and_each_benchmark_is_said_of() -> None:
    results = Fake({"clip": {"d": auc(0.2), "e": auc(0.2), "f": auc(0.2)}, "csp": {"d": auc(0.1), "e": auc(0.3)}})
    found = list(Above("above", "test/closed/dense/auc", ("csp",), than="clip").check(results, "czsl"))
    assert [each.holds for each in found] == [False, True]


@pytest.mark.parametrize(("accuracy", "holds"), [(0.25, False), (0.26, True)])
def test_chance_is_one_in_so_many_unseen_classes(accuracy: float, holds: bool) -> None:
    results = Fake({"eszsl": {"d": by_seed({"test/accuracy": accuracy})}}, counts={"unseen_classes": 4})
    (check,) = TRACKS["gzsl"].expectations
    assert [expectation.holds for expectation in check.check(results, "gzsl")] == [holds]
