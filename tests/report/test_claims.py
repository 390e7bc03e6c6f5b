"""Claims: differences against closed forms with Student's quantiles of printed tables, and the verdicts that follow."""

import math
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recompose.papers.declaration import Claim
from recompose.report.cells import Cell
from recompose.report.claims import VERDICTS, Difference, difference, verdicts
from tests.report.fakes import Fake, key, paper_of

QUANTILES = {1: 12.706, 2: 4.303, 4: 2.776}  # degrees of freedom -> 97.5 %, as printed in tables
PRINTED = 2e-4  # what their rounding leaves open, relatively
INFINITE = math.inf


def by_seed(*values: float) -> dict[int, float]:
    return dict(enumerate(values))


def near(value: float) -> Any:
    return pytest.approx(value, rel=PRINTED)


# differences


@pytest.mark.parametrize(
    ("each", "mean", "error"),
    [
        ([2.0, 5.0], 3.5, 1.5),  # stdev 3 / sqrt 2, over sqrt 2
        ([1.0, 2.0, 3.0], 2.0, 1 / math.sqrt(3)),
        ([-6.0, -5.0, -4.0], -5.0, 1 / math.sqrt(3)),
        ([1.0, 2.0, 3.0, 4.0, 5.0], 3.0, math.sqrt(2.5 / 5)),
    ],
)
def test_common_seeds_are_paired(each: list[float], mean: float, error: float) -> None:
    lower = [10.0, -3.0, 40.0, 7.0, 0.5][: len(each)]
    found = difference(by_seed(*(low + more for low, more in zip(lower, each, strict=True))), by_seed(*lower))
    reach = QUANTILES[len(each) - 1] * error
    assert found.n == len(each)
    assert found.value == pytest.approx(mean)
    assert found.value - found.low == near(reach)
    assert found.high - found.value == near(reach)


def test_what_seeds_share_does_not_widen_a_paired_interval() -> None:
    assert difference(by_seed(1, 100, 50), by_seed(0, 99, 49)) == Difference(1, 1, 1, 3)


def test_seeds_that_one_side_has_alone_do_not_count_where_two_are_common() -> None:
    higher, lower = {0: 3.0, 1: 7.0, 5: 1000.0}, {1: 2.0, 0: 1.0, 6: -1000.0}
    assert difference(higher, lower) == difference({0: 3.0, 1: 7.0}, {0: 1.0, 1: 2.0})


@pytest.mark.parametrize(
    ("known", "mean", "error"),
    [
        ([10.0, 14.0], 12.0, math.sqrt(8) * math.sqrt(3 / 2)),
        ([10.0, 12.0, 14.0], 12.0, 2 * math.sqrt(4 / 3)),
        ([10.0, 11.0, 12.0, 13.0, 14.0], 12.0, math.sqrt(2.5) * math.sqrt(6 / 5)),
    ],
)
@pytest.mark.parametrize("seed", [0, 9])
def test_against_a_single_seed_one_more_run_of_the_other_side_would_lie_in_the_interval(
    seed: int, known: list[float], mean: float, error: float
) -> None:
    """Whether the other side has that seed, too, or not; mirrored, the interval is, too."""
    found, mirrored = difference(by_seed(*known), {seed: 5.0}), difference({seed: 5.0}, by_seed(*known))
    reach = QUANTILES[len(known) - 1] * error
    assert found.n == mirrored.n == len(known)
    assert found.value == pytest.approx(mean - 5)
    assert found.high - found.value == near(reach)
    assert found.value - found.low == near(reach)
    assert (mirrored.value, mirrored.low, mirrored.high) == pytest.approx((-found.value, -found.high, -found.low))


@pytest.mark.parametrize("seed", [0, 1])
def test_a_single_seed_on_both_sides_says_nothing_for_sure(seed: int) -> None:
    assert difference({0: 9.0}, {seed: 1.0}) == Difference(8.0, -INFINITE, INFINITE, 1)


@pytest.mark.parametrize(("higher", "lower"), [({}, {0: 1.0}), ({0: 1.0}, {}), ({}, {}), ({0: 1.0, 1: 2.0}, {})])
def test_without_runs_there_is_no_difference(higher: dict[int, float], lower: dict[int, float]) -> None:
    found = difference(higher, lower)
    assert (found.n, found.verdict) == (0, "not run")
    assert math.isnan(found.value)


numbers = st.floats(-100, 100)


sides = st.lists(numbers, max_size=5).map(lambda values: by_seed(*values))


@settings(deadline=None)
@given(sides, sides)
def test_an_interval_holds_its_value_and_turns_with_the_sides(
    higher: dict[int, float], lower: dict[int, float]
) -> None:
    found, turned = difference(higher, lower), difference(lower, higher)
    assert found.n == turned.n
    if found.n:
        assert found.low <= found.value <= found.high
        assert (turned.value, turned.low, turned.high) == pytest.approx((-found.value, -found.high, -found.low))


# verdicts


@pytest.mark.parametrize(
    ("low", "high", "n", "verdict"),
    [
        (1e-12, 2.0, 3, "holds"),
        (0.0, 2.0, 3, "within seed noise"),
        (-1.0, 1.0, 3, "within seed noise"),
        (-2.0, 0.0, 3, "within seed noise"),
        (-2.0, -1e-12, 3, "fails"),
        (-INFINITE, INFINITE, 1, "within seed noise"),
        (1.0, 2.0, 0, "not run"),
        (-2.0, -1.0, 0, "not run"),
    ],
)
def test_a_verdict_is_where_the_interval_lies(low: float, high: float, n: int, verdict: str) -> None:
    assert Difference((low + high) / 2, low, high, n).verdict == verdict
    assert verdict in VERDICTS


# claims on evaluations that are made up

AUC, SEEN_AT_BEST = "test/closed/dense/auc", "test/closed/dense/seen"


def fake(measured: dict[str, dict[str, dict[int, Any]]], **more: Any) -> Fake:
    """Closed AUC in percent, where no measures are given by name."""
    values = {
        name: {
            benchmark: {seed: of if isinstance(of, dict) else {AUC: of / 100} for seed, of in seeds.items()}
            for benchmark, seeds in benchmarks.items()
        }
        for name, benchmarks in measured.items()
    }
    return Fake(values, **more)


def cells_of(work: Fake, **claim: Any) -> dict[str, Cell]:
    """The cells of one claim, by column."""
    whole = {"sentence": "s", "artifact": "table-1", "measure": AUC, "higher": "a", "lower": ["b"]} | claim
    found = list(verdicts(work, paper_of({"c": Claim(**whole)}), "claims"))  # type: ignore[arg-type]
    assert {cell.row for cell in found} <= {"c"}
    assert len({cell.column for cell in found}) == len(found)
    assert all((cell.part, cell.benchmark) == (cell.column[2:], cell.column[0]) for cell in found)
    return {cell.column: cell for cell in found}


def texts(cells: Iterable[Cell]) -> list[str]:
    return [cell.text for cell in cells]


def verdict_of(work: Fake, **claim: Any) -> str:
    return cells_of(work, **claim)["d verdict"].text


def interval_of(cells: dict[str, Cell]) -> tuple[float, ...]:
    """As printed, with two digits."""
    return tuple(map(float, cells["d 95 % interval"].text.split(" to ")))


def on_d(**values: list[float]) -> Fake:
    """Methods on one data set, by seed."""
    return fake({name: {"d": by_seed(*of)} for name, of in values.items()})


def test_a_claim_says_verdict_difference_interval_and_seeds() -> None:
    found = cells_of(on_d(a=[14, 26, 36], b=[10, 21, 30]))
    assert list(found) == ["d verdict", "d difference", "d 95 % interval", "d seeds"]
    assert texts(found.values()) == ["holds", "+5.00", "+2.52 to +7.48", "3"]
    assert found["d difference"].value == pytest.approx(5)
    assert [cell.value for column, cell in found.items() if column != "d difference"] == [None] * 3
    for cell in found.values():
        assert (cell.source, cell.n) == ("measured", 3)
        assert set(cell.made_from) == set(cell.expected) == {key(name, "d", seed) for name in "ab" for seed in range(3)}


def test_a_claim_that_fails_is_said_to() -> None:
    found = cells_of(on_d(a=[10, 21, 30], b=[14, 26, 36]))
    assert texts(found.values()) == ["fails", "-5.00", "-7.48 to -2.52", "3"]


def test_single_seeds_have_a_difference_and_no_interval() -> None:
    found = cells_of(on_d(a=[14], b=[10]))
    assert texts(found.values()) == ["within seed noise", "+4.00", "unknown: one seed", "1"]
    assert found["d difference"].value == pytest.approx(4)


def test_runs_that_are_missing_are_expected_and_not_read() -> None:
    work = on_d(a=[14, 26, 1000], b=[10, 21, 30])
    work.missing = {("a", "d", 2)}
    found = cells_of(work)
    assert found["d seeds"].text == "2"
    assert found["d difference"].value == pytest.approx(4.5)
    cell = found["d verdict"]
    assert set(cell.expected) - set(cell.made_from) == {key("a", "d", 2)}


def test_a_method_without_any_complete_run_is_not_run_in_every_column() -> None:
    work = on_d(a=[14, 26], b=[10, 21])
    work.missing = {("b", "d", 0), ("b", "d", 1)}
    found = cells_of(work)
    assert texts(found.values()) == ["not run"] * 4
    for cell in found.values():
        assert (cell.value, cell.n) == (None, 0)
        assert set(cell.made_from) == {key("a", "d", seed) for seed in range(2)}
        assert len(set(cell.expected)) == 4


def test_several_comparisons_show_the_worst() -> None:
    """By verdict, and among equal ones by the lower end of the interval."""
    values = {
        "a": [50, 51, 52],
        "far": [10, 11, 12],
        "near": [48, 49, 50],
        "noisy": [40, 90, 10],
        "above": [60, 61, 62],
    }
    work = on_d(**values, absent=[1.0])
    work.missing = {("absent", "d", 0)}
    for lower, verdict, value in (
        (["far"], "holds", 40),
        (["far", "near"], "holds", 2),
        (["near", "far"], "holds", 2),
        (["far", "noisy", "near"], "within seed noise", 51 - 140 / 3),
        (["noisy", "absent"], "not run", None),
        (["absent", "above", "noisy"], "fails", -10),
    ):
        found = cells_of(work, lower=lower)
        assert found["d verdict"].text == verdict
        assert found["d difference"].value == (value if value is None else pytest.approx(value))
        assert set(found["d verdict"].expected) == {
            key(name, "d", seed) for name in ("a", *lower) for seed in work.measured[name]["d"]
        }


def test_data_sets_that_are_not_asked_for_have_no_cells() -> None:
    """Neither where no method of a claim is asked for, nor where only some are."""
    work = fake(
        {"a": {"d": by_seed(3, 4), "e": by_seed(3, 4)}, "b": {"d": by_seed(1, 2), "f": by_seed(1, 2)}},
        names=("d", "e", "f", "g"),
    )
    assert {column.split()[0] for column in cells_of(work)} == {"d"}
    others = {"higher": "b", "lower": "unknown"}
    assert not cells_of(work, gain=others)
    assert not cells_of(work, lower=["b", "unknown"])


def test_every_data_set_has_a_verdict_of_its_own() -> None:
    work = fake({"a": {"d": by_seed(3, 4), "e": by_seed(1, 1)}, "b": {"d": by_seed(1, 2), "e": by_seed(3, 3)}})
    found = cells_of(work)
    assert [found[f"{dataset} verdict"].text for dataset in "de"] == ["holds", "fails"]
    assert set(found["e verdict"].expected) == {key(name, "e", seed) for name in "ab" for seed in range(2)}


# gains


def test_a_gain_is_a_difference_of_differences_by_seed() -> None:
    work = on_d(a=[13, 24, 38], b=[10, 20, 30], c=[6, 7, 9], d=[5, 5, 5])
    found = cells_of(work, gain={"higher": "c", "lower": "d"})
    # 3, 4 and 8 less 1, 2 and 4
    each = [2, 2, 4]
    reach = QUANTILES[2] * math.sqrt(4 / 3 / 3)
    assert found["d difference"].value == pytest.approx(sum(each) / 3)
    assert interval_of(found) == pytest.approx((8 / 3 - reach, 8 / 3 + reach), abs=0.01)
    assert found["d seeds"].text == "3"
    assert {*found["d verdict"].expected} == {key(name, "d", seed) for name in "abcd" for seed in range(3)}


def test_a_gain_beside_one_of_a_single_seed_is_that_of_one_more_run() -> None:
    work = on_d(a=[13, 24, 38], b=[10, 20, 30], c=[106], d=[5])
    found = cells_of(work, gain={"higher": "c", "lower": "d"})
    reach = QUANTILES[2] * math.sqrt(7) * math.sqrt(4 / 3)  # of 3, 4 and 8
    assert found["d difference"].value == pytest.approx(5 - 101)
    assert interval_of(found) == pytest.approx((-96 - reach, -96 + reach), abs=0.01)
    assert found["d verdict"].text == "fails"


def test_a_gain_is_not_run_where_one_of_its_four_methods_is_not() -> None:
    work = on_d(a=[13, 24], b=[10, 20], c=[6, 7], d=[5, 5])
    gain = {"higher": "c", "lower": "d"}
    assert verdict_of(work, gain=gain) == "holds"
    for name in "abcd":
        work.missing = {(name, "d", 0), (name, "d", 1)}
        assert verdict_of(work, gain=gain) == "not run"


def test_a_gain_can_be_put_beside_that_in_another_measure() -> None:
    groups = "test/closed/groups/unbiased"

    def of(unseen: float, seen: float) -> dict[str, float]:
        return {f"{groups}/unseen": unseen / 100, f"{groups}/seen": seen / 100}

    work = fake({"a": {"d": {0: of(20, 45), 1: of(24, 49)}}, "b": {"d": {0: of(10, 42), 1: of(12, 41)}}})
    found = cells_of(work, measure=f"{groups}/unseen", beyond=f"{groups}/seen")
    # unseen + 10 and 12; seen + 3 and 8
    assert found["d difference"].value == pytest.approx((10 - 3 + 12 - 8) / 2)
    assert cells_of(work, measure=f"{groups}/unseen")["d difference"].value == pytest.approx(11)
    assert cells_of(work, measure=f"{groups}/seen")["d difference"].value == pytest.approx(5.5)


# measures


@pytest.mark.parametrize("name", ["seen", "unseen", "harmonic_mean", "auc"])
@pytest.mark.parametrize("world", ["closed", "feasible"])
def test_the_measure_of_a_claim_is_taken_by_its_name_in_its_unit(world: str, name: str) -> None:
    names = ("seen", "unseen", "harmonic_mean", "auc")
    others = {
        f"{split}/{each}/{sweep}/{one}": 5.0
        for split in ("val", "test")
        for each in ("closed", "feasible", "open")
        for sweep in ("dense", "field")
        for one in names
    }
    measure = f"test/{world}/dense/{name}"

    def of(value: float) -> dict[str, float]:
        return others | {measure: value}

    work = fake({"a": {"d": by_seed(of(0.5), of(0.75))}, "b": {"d": by_seed(of(0.25), of(0.25))}})
    found = cells_of(work, measure=measure)
    assert found["d difference"].value == pytest.approx(37.5)
    assert {cell.measure for cell in found.values()} == {measure}


def test_costs_can_be_compared() -> None:
    work = fake(
        {
            "a": {"d": by_seed(*({"cost/test_seconds": v} for v in (51, 53)))},
            "b": {"d": by_seed(*({"cost/test_seconds": v} for v in (47, 47)))},
        }
    )
    found = cells_of(work, measure="cost/test_seconds")
    assert found["d difference"].value == pytest.approx(5)
    assert found["d seeds"].text == "2"


def test_an_evaluation_without_the_measure_does_not_count() -> None:
    work = fake({"a": {"d": by_seed(14, {}, 36)}, "b": {"d": by_seed(10, 21, 30)}})
    assert cells_of(work)["d seeds"].text == "2"
