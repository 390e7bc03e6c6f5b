"""Claims on runs that are made up: what is compared, which verdicts follow, and what cells and forest plots say."""

import csv
import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from scipy.stats import ttest_1samp

from recompose.claims.cells import PARTS, summary, verdicts
from recompose.claims.differences import Difference, Side
from recompose.claims.outcome import generalisation
from recompose.claims.verdicts import VERDICTS
from recompose.palette import VERDICTS as COLOURS
from recompose.papers.declaration import Claim
from recompose.parts.cells import EVERY_SEED, Cell
from recompose.tables.artifacts import draw, figure_cells
from tests.tables.fakes import AUC, Fake, paper_of

SEEN, UNSEEN = (f"test/closed/dense/{name}" for name in ("seen", "unseen"))
SEEN_OVER_UNSEEN: dict[str, Any] = {"metric": SEEN, "lower": [], "lower_metrics": [UNSEEN]}
PRINTED = 2e-4  # the relative rounding error of the printed quantiles


def on_d(**values: Iterable[Any]) -> Fake:
    """Methods on one benchmark, by seed."""
    return Fake({name: {"d": dict(enumerate(of))} for name, of in values.items()})


def claim(**changed: Any) -> Claim:
    plain = {"sentence": "s", "artifact": "table-1", "metric": AUC, "higher": "a", "lower": ["b"]}
    return Claim(**({**plain, "margin": margin(0.1)} | changed))


def margin(value: float) -> dict[str, Any]:
    return {"value": value, "source": "by hand"}


def cells_of(work: Fake, **claims: Claim) -> dict[tuple[str, str], Cell]:
    """The cells by row and column."""
    cells = list(verdicts(work, paper_of(claims), "claims"))  # type: ignore[arg-type]
    found = {(cell.row, cell.column): cell for cell in cells}
    assert len(found) == len(cells)
    return found


def of_one(work: Fake, **changed: Any) -> dict[str, Cell]:
    """The cells of one claim on d, by what they say."""
    found = cells_of(work, c=claim(**changed))
    return {column.removeprefix("d "): cell for (_, column), cell in found.items() if column.startswith("d ")}


def texts(cells: dict[str, Cell]) -> list[str]:
    assert tuple(cells) == PARTS
    return [cell.text for cell in cells.values()]


def key(work: Fake, name: str, seed: int, benchmark: str = "d") -> str:
    return work.evaluation(name, benchmark, seed).key


# what is said


def test_a_claim_says_both_sides_their_difference_its_interval_n_and_p() -> None:
    work = on_d(a=[14, 26, 36], b=[10, 21, 30])
    found = of_one(work)
    reach = 4.303 / math.sqrt(3)  # of 4, 5 and 6
    assert texts(found) == [
        "supported here",
        "closed AUC: a 25.3 (3) - b 20.3 (3) = +5.0 points",
        f"+{5 - reach:.1f} to +{5 + reach:.1f}",
        "0.1",
        "3 pairs",
        "0.013",  # t = 5 sqrt 3 with two degrees of freedom: 1 - t / sqrt(t^2 + 2) = 1 - sqrt(75 / 77)
        "1.00",
        "-",
    ]
    assert found["adjusted p"].value == pytest.approx(1 - math.sqrt(75 / 77))
    assert found["estimate"].value == pytest.approx(5)
    assert found["estimate"].values == pytest.approx((4, 5, 6))
    for cell in found.values():
        assert (cell.source, cell.n) == ("measured", 3)
        assert set(cell.made_from) == {key(work, name, seed) for name in "ab" for seed in range(3)}


def test_a_number_that_is_not_zero_is_not_printed_as_zero_and_zero_has_no_sign() -> None:
    found = of_one(on_d(a=[10.001, 20.002, 30.003], b=[10, 20, 30]))
    assert found["estimate"].text == "closed AUC: a 20.0020 (3) - b 20.0000 (3) = +0.0020 points"
    assert found["95 % interval"].text == "-0.0005 to +0.0045"
    assert of_one(on_d(a=[10, 20], b=[10, 20]))["estimate"].text.endswith("b 15.0 (2) = 0.0 points")


def test_a_difference_of_a_constant_and_a_method_with_seeds_is_taken_at_each_seed() -> None:
    constant, varied = Side("a", {0: 1.0}, is_constant=True), Side("b", {1: 2.0, 2: 3.0})
    assert Difference.of([constant, varied]).by_seed == [-1, -2]
    assert Difference.of([varied, constant]).by_seed == [1, 2]
    assert Difference.of([constant, constant, varied, constant]).by_seed == [-1, -2]
    assert Difference.of([constant, constant]).by_seed == [0]


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        ([1, 5, 3], [2, 3, 4], "undecided (interval spans zero)"),
        ([3, 4, 5], [3, 4, 5], "negligible here"),
        ([4], [1], "undecided (one seed)"),
        ([3, 4], [2, 3], "undecided (two seeds)"),  # the same at both
        ([3, 4], [3, 4], "undecided (two seeds)"),
        ([14, 26.01], [10, 22], "undecided (two seeds)"),  # 4 and 4.01
        ([3, 4, 7], [2, 3, 6], "supported here"),  # the same at every seed
        ([14, 26.01, 30], [10, 22, 26], "supported here"),  # 4 and 4.01
    ],
)
def test_verdicts(a: list[float], b: list[float], verdict: str) -> None:
    assert of_one(on_d(a=a, b=b))["verdict"].text == verdict


@pytest.mark.parametrize("what", [math.nan, math.inf, {}])
def test_what_is_no_number_counts_as_not_measured(what: Any) -> None:
    found = of_one(on_d(a=[what, 4, 5], b=[9, 2, 2]))
    assert texts(found)[1] == "closed AUC: a 4.5 (2) - b 2.0 (2) = +2.5 points"
    assert found["n"].text == "2 pairs"


def test_what_was_not_run_says_so_and_what_is_missing_is_expected() -> None:
    work = on_d(a=[14, 26, 1000], b=[10, 21, 30])
    work.missing = {("a", "d", 2)}
    found = of_one(work)
    assert found["n"].text == "2 pairs"
    assert found["estimate"].value == pytest.approx(4.5)
    assert key(work, "a", 2) not in found["verdict"].made_from
    work.missing = {("b", "d", seed) for seed in range(3)}
    found = of_one(work)
    assert texts(found) == ["undecided (not run)", "not run", "unknown: not run", "0.1", "0", "-", "-", "-"]
    evidence = found["verdict"].evidence
    assert evidence is not None and (evidence.family, evidence.margin_family) == (0, 0)
    assert {cell.n for cell in found.values()} == {0}
    assert {cell.value for cell in found.values()} == {None, 0.1}
    for cell in found.values():
        assert all(value is None or math.isfinite(value) for value in (cell.value, *cell.values))


@pytest.mark.parametrize(
    ("seeds", "reason"), [((7, 8), "no common seeds"), ((7, 1), "one seed"), ((0, 1), "two seeds")]
)
def test_fewer_than_three_common_seeds_decide_nothing(seeds: tuple[int, int], reason: str) -> None:
    work = on_d(a=[10, 14], b=[])
    work.measured["b"]["d"] = dict.fromkeys(seeds, 1.0)
    found = of_one(work)
    assert found["verdict"].text == f"undecided ({reason})"
    assert found["95 % interval"].text == f"unknown: {reason}"


@pytest.mark.parametrize("spread", [0.0, 1e-7, 9.0])
def test_two_seeds_are_no_test_of_a_family_and_their_price_is_that_of_three_at_least(spread: float) -> None:
    work = on_d(a=[20 - spread, 20 + spread], b=[10, 10], c=[20, 21, 22], d=[10, 11, 14])
    found = cells_of(work, two=claim(), three=claim(higher="c", lower=["d"]))
    differences = [10, 10, 8]
    assert found["three", "d adjusted p"].value == pytest.approx(ttest_1samp(differences, 0).pvalue)  # not corrected
    assert found["two", "d verdict"].text == "undecided (two seeds)"
    assert found["two", "d estimate"].value == pytest.approx(10)
    assert (found["two", "d adjusted p"].value, found["two", "d adjusted p"].text) == (None, "-")
    evidence = found["two", "d verdict"].evidence
    assert evidence is not None
    (comparison,) = evidence.comparisons
    if spread:
        assert comparison.needed is not None and comparison.needed >= 3
        assert (comparison.needed == 3) == (spread < 1)
    else:  # two equal ones do not tell how much a third one differs
        assert (comparison.needed, comparison.price) == (None, "")


# constants


def test_a_method_that_no_seed_changes_is_a_constant_on_either_side() -> None:
    work = on_d(a=[14, 15, 16], b=[10])
    work.constant = {"b"}
    found = of_one(work)
    reach = 4.303 / math.sqrt(3)
    interval = f"+{5 - reach:.1f} to +{5 + reach:.1f}"
    assert texts(found)[:3] == ["supported here", "closed AUC: a 15.0 (3) - b 10.0 (1) = +5.0 points", interval]
    assert found["n"].text == "3, against a constant"
    turned = of_one(work, higher="b", lower=["a"])
    assert texts(turned)[:2] == ["reversed here", "closed AUC: b 10.0 (1) - a 15.0 (3) = -5.0 points"]
    work.measured["a"]["d"] = {0: 14}
    for constant, reason in (({"b"}, "one seed"), ({"a", "b"}, "no seeds to vary")):
        work.constant = constant
        assert of_one(work)["verdict"].text == f"undecided ({reason})"


# several comparisons


def test_a_claim_is_supported_if_all_are_and_reversed_if_one_is() -> None:
    values = {"a": [50, 51, 52], "far": [10, 11.1, 12], "near": [48, 49.1, 50], "noisy": [40, 90, 10]}
    work = on_d(**values, above=[60, 61.1, 62])
    work.measured |= {"absent": {"d": {0: 1.0}}, "once": {"d": {0: 49.0}}}
    work.missing = {("absent", "d", 0)}
    for lower, verdict, shown in (
        (["far"], "supported here", "far"),
        (["far", "near"], "supported here", "near"),
        (["near", "far"], "supported here", "near"),
        (["far", "noisy", "near"], "undecided (interval spans zero)", "noisy"),
        (["noisy", "once"], "undecided (one seed)", "once"),
        (["once", "absent"], "undecided (not run)", None),
        (["absent", "above", "noisy"], "reversed here", "above"),
    ):
        found = of_one(work, lower=lower)
        assert found["verdict"].text == verdict, lower
        assert shown is None or f"- {shown} " in found["estimate"].text
        made = {key(work, name, seed) for name in ("a", *lower) for seed in work.measured[name]["d"]}
        assert {*found["verdict"].made_from} == made - {key(work, "absent", 0)}


def test_distinct_comparisons_are_corrected_for_each_other_once() -> None:
    """Two claims of the same comparison and one of another: each p is 1 - |t| / sqrt(t^2 + 2), for n is three."""
    work = on_d(a=[14, 26, 36], b=[10, 21, 30], c=[13, 23, 36])  # 4, 5, 6 and 1, 3, 0
    rows = {"one": claim(), "again": claim(), "other": claim(lower=["c"])}
    found = cells_of(work, **rows)
    first, second = 5 * math.sqrt(3), (4 / 3) / math.sqrt(7 / 9)
    p = [1 - t / math.sqrt(t * t + 2) for t in (first, second)]
    adjusted = [found[row, "d adjusted p"].value for row in rows]
    assert adjusted == pytest.approx([2 * p[0], 2 * p[0], p[1]])


# gains, and metrics beside each other


def test_a_gain_is_a_difference_of_differences_by_seed() -> None:
    work = on_d(a=[13, 24, 38], b=[10, 20, 30], c=[6, 7, 9], d=[5, 5, 5])
    found = of_one(work, gain={"higher": "c", "lower": "d"})  # 3, 4 and 8 less 1, 2 and 4
    assert found["estimate"].values == pytest.approx((2, 2, 4))
    assert found["estimate"].text == "closed AUC: (a 25.0 - b 20.0) (3) - (c 7.3 - d 5.0) (3) = +2.7 points"
    reach = 4.303 * math.sqrt(4 / 3 / 3)
    assert found["95 % interval"].text == f"{8 / 3 - reach:+.1f} to {8 / 3 + reach:+.1f}"
    for name in "abcd":
        work.missing = {(name, "d", seed) for seed in range(3)}
        assert of_one(work, gain={"higher": "c", "lower": "d"})["verdict"].text == "undecided (not run)"


# two metrics of one method


def test_a_measure_can_be_put_beside_other_measures_of_the_same_method() -> None:
    values = [{UNSEEN: 0.20, SEEN: 0.45}, {UNSEEN: 0.24, SEEN: 0.50}, {UNSEEN: 0.22, SEEN: 0.475}]
    found = of_one(on_d(a=values), **SEEN_OVER_UNSEEN)
    shown = "closed S of a 47.5 (3) - closed U of a 22.0 (3) = +25.5 points"
    assert texts(found)[:2] == ["supported here", shown]
    assert found["estimate"].values == pytest.approx((25, 26, 25.5))
    assert (found["n"].text, found["estimate"].names) == ("3 pairs", ["a"])


# negligible


@pytest.mark.parametrize(
    ("each", "within", "verdict"),
    [
        ([0.1, -0.1, 0.2], 1.0, "supported here"),
        ([0.1, -0.1, 0.2], 0.3, "undecided (interval spans the margin)"),
        ([5.0, 5.1, 5.2], 1.0, "reversed here"),
        ([-5.0, -5.1, -5.2], 1.0, "reversed here"),
        ([0.9, 1.0, 1.1], 1.0, "undecided (interval spans the margin)"),
        ([0.0, 0.0, 0.0], 0.5, "supported here"),
        ([0.2], 1.0, "undecided (one seed)"),
        ([0.0, 0.0], 0.5, "undecided (two seeds)"),
    ],
)
def test_a_negligible_interval_lies_within_the_margin(each: list[float], within: float, verdict: str) -> None:
    found = of_one(on_d(a=[20 + one for one in each], b=[20] * len(each)), margin=margin(within), kept=True)
    assert found["verdict"].text == verdict
    assert found["margin"].text == f"to be within {within:g}"


def test_what_correction_leaves_undecided_names_the_family_of_its_test() -> None:
    """Two margins on one difference: a test that there is one, and two that it is within its margin."""
    work = on_d(a=[10.5, 9.5, 10.3, 9.7], b=[10.0] * 4)
    found = cells_of(work, narrow=claim(margin=margin(0.93)), wide=claim(margin=margin(0.95)))
    for row in ("narrow", "wide"):
        assert found[row, "d verdict"].text == "undecided (not after correction for 2 comparisons)"


# what lineage keeps


def test_a_verdict_keeps_values_tests_and_corrections_of_all_its_comparisons() -> None:
    """Each p is compared with scipy's t-test."""
    values = {"a": [24, 26.5, 25, 27, 26, 25.5, 25], "b": [20, 21, 22, 21, 20.5, 21.5, 20]}
    work = on_d(**values, c=[25, 26, 24, 28, 25, 27], rest=[20.0])
    work.constant = {"rest"}
    kept = claim(lower=["rest"], margin=margin(3), kept=True)
    found = cells_of(work, one=claim(lower=["b", "c"], margin=margin(1)), other=kept)
    stored = Cell.model_validate_json(json.dumps(found["one", "d verdict"].plain()))
    assert stored == found["one", "d verdict"]
    evidence = stored.evidence
    assert evidence is not None
    assert (evidence.family, evidence.margin_family, evidence.unit) == (3, 3, "points")
    assert evidence.values["b"] == {str(seed): value for seed, value in enumerate(values["b"])}
    undecided, supported = evidence.comparisons  # the deciding one first
    assert (undecided.text, supported.text, supported.verdict) == ("a - c", "a - b", "supported here")
    differences = [a - b for a, b in zip(values["a"], values["b"], strict=True)]
    assert list(evidence.differences(supported).values()) == pytest.approx(differences)
    expected = ttest_1samp(differences, 0)
    assert supported.test is not None
    assert supported.test.replicates == len(differences)
    # kept in six digits, which are multiplied
    assert supported.test.difference == pytest.approx(sum(differences) / len(differences), rel=1e-5)
    assert supported.test.p == pytest.approx(expected.pvalue, rel=1e-5)
    assert supported.p == pytest.approx(3 * expected.pvalue, rel=1e-4)
    assert undecided.price == found["one", "d replicates to decide"].text
    assert undecided.price.startswith(f"{undecided.needed} / ")
    of_kept = found["other", "d verdict"].evidence
    assert of_kept is not None
    assert of_kept.values["rest"] == {EVERY_SEED: 20.0}
    assert list(of_kept.differences(of_kept.comparisons[0]).values())[:2] == pytest.approx([4, 6.5])
    assert "evidence" not in found["one", "d estimate"].plain()
    spoiled = json.loads(json.dumps(stored.plain()))
    del spoiled["evidence"]["values"]["b"]
    with pytest.raises(ValidationError):
        Cell.model_validate(spoiled)


def test_what_came_out_is_a_paragraph_for_each_benchmark_and_one_for_each_kind_of_data() -> None:
    on_each = {"d": {0: 14, 1: 26}, "released": {0: 14, 1: 26}, "other": {0: 14, 1: 26}}
    work, paper = Fake({"a": on_each, "b": {name: {0: 10, 1: 20} for name in on_each}}), paper_of({"c": claim()})
    paragraphs = summary(work, paper, list(verdicts(work, paper, "claims")))  # type: ignore[arg-type]
    assert [text.split(":")[0] for text in paragraphs[:3]] == [
        "On d, synthetic, 2 replicates",
        "On released, 2 replicates",
        "On other, 2 replicates",
    ]
    assert paragraphs[3:] == [generalisation(True), generalisation(False)]


# the forest plot


@pytest.mark.slow
def test_a_forest_plot_has_a_line_for_every_distinct_comparison(tmp_path: Path) -> None:
    work = on_d(a=[14.2, 26, 35.8], b=[10, 21, 30], c=[1, 40, 20], e=[2])
    work.measured["a"]["d"] = {seed: {AUC: value / 100} for seed, value in work.measured["a"]["d"].items()}
    small = claim(margin=margin(1), kept=True)
    paper = paper_of({"one": claim(lower=["b", "c"]), "same": claim(), "single": claim(lower=["e"]), "small": small})
    draw(work, paper, "forest").write(tmp_path / "forest", "title")  # type: ignore[arg-type]
    with (tmp_path / "forest.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [tuple(line[part] for part in ("claims", "comparison", "verdict", "reason")) for line in lines] == [
        ("one same", "a - b", "supported here", ""),
        ("one", "a - c", "undecided", "interval spans zero"),
        ("single", "a - e", "undecided", "one seed"),
        ("small", "a - b, within ±1", "reversed here", ""),
    ]
    numbers = [float(lines[0][name]) for name in ("difference", "low", "high")]
    assert numbers == pytest.approx([5, 5 - 0.8 * 4.303 / math.sqrt(3), 5 + 0.8 * 4.303 / math.sqrt(3)], rel=PRINTED)
    assert (lines[2]["difference"], lines[2]["low"], lines[2]["p"]) == ("12.2000", "", "")
    svg = (tmp_path / "forest.svg").read_text()
    for verdict in VERDICTS:
        assert COLOURS[verdict].lower() in svg.lower()
        assert f">{verdict}<" in svg
    assert svg.count(">one seed<") == 1
    (cell,) = figure_cells(work, paper, "forest")  # type: ignore[arg-type]
    assert (cell.row, cell.column, cell.n) == ("all claims", "d forest", 10)
    assert set(cell.made_from) == {key(work, name, seed) for name in "abc" for seed in range(3)} | {key(work, "e", 0)}
