"""Expectations: what has to hold of numbers whatever papers claim, from made-up results."""

from typing import Any

import pytest

from recompose.tables.expectations import Expectation, is_above, mean_of
from tests.tables.fakes import Fake, by_seed


def auc(*values: float) -> dict[int, Any]:
    return by_seed(*({"test/closed/dense/auc": value} for value in values))


def test_means_are_over_what_is_there() -> None:
    results = Fake({"clip": {"d": auc(0.2, 0.4)}}, missing={("clip", "d", 1)})
    assert mean_of(results, "czsl", "clip", "test/closed/dense/auc", "d") == pytest.approx(0.2)
    assert mean_of(results, "czsl", "csp", "test/closed/dense/auc", "d") is None


def test_a_method_that_is_not_above_is_named_and_an_equal_one_is_not_above() -> None:
    results = Fake({"clip": {"d": auc(0.2)}, "csp": {"d": auc(0.3)}, "coop": {"d": auc(0.2)}})
    found = list(is_above(results, "czsl", "test/closed/dense/auc", ["csp", "coop"], "clip", "all are above"))
    assert found == [Expectation("all are above on d (not coop)", holds=False)]


def test_nothing_is_said_of_what_is_not_measured_and_each_benchmark_is_said_of() -> None:
    results = Fake({"clip": {"d": auc(0.2), "e": auc(0.2), "f": auc(0.2)}, "csp": {"d": auc(0.1), "e": auc(0.3)}})
    found = list(is_above(results, "czsl", "test/closed/dense/auc", ["csp"], "clip", "above"))
    assert [each.holds for each in found] == [False, True]
