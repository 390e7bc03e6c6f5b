"""Cells of means."""

import pytest

from recompose.plan import Recipe
from recompose.tables.cells import cell_of, mean_cell
from recompose.tables.metric import Metric

PERCENT = Metric("%", 1.0, 1, 1)  # numbers that are in their unit already


def evaluation(seed: int) -> Recipe:
    return Recipe("evaluations", f"csp on d, seed {seed}", {"seed": seed}, labels={"method": "csp", "seed": seed})


def test_a_value_is_the_mean_and_the_sample_standard_deviation() -> None:
    runs = [evaluation(seed) for seed in range(3)]
    found = mean_cell(cell_of(runs, runs, ["csp"], "d"), [1.0, 2.0, 6.0], PERCENT)
    assert found.value == 3.0
    assert found.spread == pytest.approx(((4 + 1 + 9) / 2) ** 0.5)
    assert found.text == "3.0 ± 2.6"
    assert found.n == 3
    assert found.made_from == [each.key for each in runs]


def test_a_single_run_has_no_spread_and_none_has_no_value() -> None:
    one = mean_cell(cell_of([evaluation(0)], [evaluation(0)], ["clip"], "d"), [1.0], PERCENT)
    assert (one.text, one.spread) == ("1.0", None)
    none = mean_cell(cell_of([], [evaluation(0)], ["clip"], "d"), [], PERCENT)
    assert (none.text, none.value, none.missing) == ("not run", None, [evaluation(0).key])
