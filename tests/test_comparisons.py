"""Comparisons: what a file declares, its mistakes, its numbers against plain ones, its targets."""

import copy
import math
import re
from itertools import product
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import pytest
from scipy.stats import t as student

from recompose.claims.estimates import holm
from recompose.claims.verdicts import ClaimTests
from recompose.errors import PlanError
from recompose.papers.comparison import compared_variants
from recompose.recipes.plan import Plan, TrackPlan
from recompose.tables.measured import against
from recompose.tables.reports import planned_recipes
from recompose.tracks import TRACKS
from recompose.workspace import Workspace
from tests.configuration import GONE, edit, text_of, write_params
from tests.errors import raises
from tests.tables.fakes import Fake, by_cell, by_seed, key

AUC, H = "test/closed/dense/auc", "test/closed/dense/harmonic_mean"
FILE: dict[str, Any] = {
    "track": "czsl",
    "baseline": "csp",
    "methods": ["troika", "csp-wide"],
    "variants": {"csp-wide": {"method": "csp", "settings": {"dropout": 0.5}}},
    "datasets": ["shapes-pairs"],
    "metrics": {"AUC": AUC, "H": H},
    "margin": {"AUC": 1.5},
}


def declare(root: Path, name: str = "mine", **values: object) -> None:
    """Write a comparison with some of its keys changed."""
    document = copy.deepcopy(FILE)
    edit(document, values)
    (root / "comparisons").mkdir(exist_ok=True)
    (root / "comparisons" / f"{name}.yaml").write_text(text_of(document))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_params(tmp_path, "demo")
    return tmp_path


def test_a_file_becomes_a_table_verdicts_a_figure_and_its_variants(root: Path) -> None:
    declare(root)
    work = Workspace(root)
    (mine,) = work.comparisons
    assert mine in work.papers and mine.target == "comparisons/mine"
    assert mine.compared == ["csp", "troika", "csp-wide"] and mine.is_comparison
    assert {(claim.higher, *claim.lower, claim.metric, claim.margin.value) for claim in mine.claims.values()} == {
        ("troika", "csp", AUC, 1.5),
        ("csp-wide", "csp", AUC, 1.5),
        ("troika", "csp", H, 0.0),
        ("csp-wide", "csp", H, 0.0),
    }
    seeds = work.params.chosen.tracks["czsl"].model_dump()["seeds"]
    planned = work.plan.evaluations("czsl", "csp-wide", "shapes-pairs")
    assert [recipe.labels["seed"] for recipe in planned] == seeds
    assert {recipe.needs["run"].document["settings"]["dropout"] for recipe in planned} == {0.5}


def test_a_method_that_the_profile_lacks_is_run_for_the_comparison_alone(tmp_path: Path) -> None:
    write_params(tmp_path, "demo", {"profiles.demo.czsl.methods": ["csp", "clip"]})
    declare(tmp_path)
    work = Workspace(tmp_path)
    params = work.params
    assert set(compared_variants(TRACKS["czsl"], params, work.comparisons)) == {"troika", "csp-wide"}
    assert len(work.plan.evaluations("czsl", "troika", "shapes-pairs")) > 1
    assert work.plan.tracks["czsl"].methods == ("csp", "clip")


def test_two_files_may_share_a_variant_but_not_its_name(root: Path) -> None:
    declare(root)
    declare(root, "other")
    assert [comparison.name for comparison in Workspace(root).comparisons] == ["mine", "other"]
    declare(root, "other", variants={"csp-wide": {"method": "csp", "settings": {"dropout": 0.4}}})
    with raises(PlanError, "name-taken", "comparisons/other.yaml: variants.csp-wide"):
        _ = Workspace(root).plan


OF_COMPARISON = ("baseline", "methods", "metrics", "margin", "variants")
MISTAKES: list[tuple[dict[str, object], str, str]] = [
    ({"methods": ["cps", "csp-wide"]}, "unknown-name", "'csp'"),
    ({"baseline": ["csp", "troika", "csp-wide"]}, "no-rows", "methods"),
    ({"track": "clsz"}, "unknown-name", "'czsl'"),
    ({"datasets": ["shapes-pears"]}, "unknown-name", "'shapes-pairs'"),
    ({"metrics": {"AUC": "test/closed/dense/auk"}}, "unknown-metric", AUC),
    ({"metrics": {"AUC": AUC, "auc": H}}, "repeated-label", "metrics"),
    ({"margin": {"AUK": 1}}, "unknown-name", "'AUC'"),
    ({"margin": "1.5"}, "wrong-value", "margin"),
    ({"datasets": [2020]}, "wrong-value", "datasets"),
    ({"datasets": [["shapes-pairs"]]}, "wrong-value", "datasets"),
    ({"artifacts": {}, "venue": "here"}, "wrong-value", "no artifacts and no venue"),
    ({"baseline": GONE, "title": "A paper", "artifacts": {}}, "wrong-value", "no margin and no methods and no metrics"),
    (dict.fromkeys(OF_COMPARISON, GONE) | {"title": "A paper", "artifacts": {}}, "missing-key", "baseline"),
    ({"variants.csp-wide.settings": {"dropuot": 0.1}}, "unknown-key", "variants.csp-wide.settings"),
    ({"methods": ["troika"]}, "unused-variant", "variants.csp-wide"),
    ({"methods": ["coop"], "variants": {"troika": {"method": "csp"}}}, "unused-variant", "variants.troika"),
    ({"variants.troika": {"method": "csp"}}, "name-taken", "variants.troika"),
]


@pytest.mark.parametrize(("values", "code", "hint"), MISTAKES)
def test_a_mistake_names_its_file_and_what_helps(root: Path, values: dict[str, object], code: str, hint: str) -> None:
    declare(root, **values)
    with raises(PlanError, code, "comparisons/mine.yaml") as error:
        _ = Workspace(root).plan
    assert hint in str(error.value)
    assert all(re.match(r"comparisons/mine\.yaml:[0-9]+: ", line) for line in str(error.value).splitlines())


@pytest.mark.parametrize(
    ("before", "after", "code", "place"),
    [
        ('"AUC": 1.5', '"AUC": .inf', "wrong-value", "margin.AUC"),
        ('"dropout": 0.5', '"dropout": .nan', "wrong-value", "variants.csp-wide.settings.dropout"),
        ('"dropout": 0.5', "training: {lr: 1.0, 2: 3}", "unknown-key", "variants.csp-wide.settings.training.2"),
    ],
)
def test_numbers_and_keys_that_json_lacks_are_mistakes(
    root: Path, before: str, after: str, code: str, place: str
) -> None:
    declare(root)
    file = root / "comparisons/mine.yaml"
    file.write_text(file.read_text().replace(before, after))
    with raises(PlanError, code, place):
        _ = Workspace(root).plan


def test_wrong_names_have_the_lines_on_which_they_are_written(root: Path) -> None:
    declare(root, methods=["cps", "troika"], variants={"csp-wide": {"method": "cspp"}})
    lines = (root / "comparisons/mine.yaml").read_text().splitlines()
    with raises(PlanError, "unknown-name", "variants.csp-wide.method, methods.0") as error:
        _ = Workspace(root).plan
    numbers = [int(line.split(":")[1]) for line in str(error.value).splitlines()]
    assert ["cspp" in lines[numbers[0] - 1], "cps" in lines[numbers[1] - 1]] == [True, True]


def test_a_profile_without_its_data_sets_has_no_such_comparison(tmp_path: Path) -> None:
    write_params(tmp_path, "paper")
    declare(tmp_path)
    assert Workspace(tmp_path).comparisons == []


VALUES = {  # AUC by method, data set and seed, as shares
    "csp": {"d": [0.20, 0.22, 0.21], "e": [0.30, 0.33, 0.29]},
    "troika": {"d": [0.25, 0.26, 0.265], "e": [0.31, 0.30, 0.32]},
    "csp-wide": {"d": [0.21, 0.20, 0.22], "e": [0.30, 0.35, 0.28]},
}


def test_its_numbers_are_those_of_a_plain_paired_test_corrected_within_the_file(root: Path) -> None:
    declare(root, metrics={"AUC": AUC}, margin=1.5)
    (mine,) = Workspace(root).comparisons
    mine = mine.model_copy(update={"datasets": {"d": "d", "e": "e"}})
    measured = {
        name: {data: by_seed(*({AUC: value} for value in values)) for data, values in of.items()}
        for name, of in VALUES.items()
    }
    results: Any = Fake(measured)
    places = list(product(("d", "e"), ("troika", "csp-wide")))
    differences = {
        (data, row): [100 * (a - b) for a, b in zip(VALUES[row][data], VALUES["csp"][data], strict=True)]
        for data, row in places
    }
    p = []
    for values in differences.values():
        error = stdev(values) / math.sqrt(3)
        p.append(2 * float(student.sf(abs(mean(values)) / error, 2)))
    adjusted = dict(zip(places, holm(p), strict=True))
    cells = by_cell(against(results, mine, "table"))
    evaluations = {(name, data): tuple(results.planned("czsl", name, data)) for name, data in product(VALUES, "de")}
    plan = Plan({"czsl": TrackPlan({}, evaluations, ())})
    for (data, row), values in differences.items():
        reach = float(student.ppf(0.975, 2)) * stdev(values) / math.sqrt(3)
        cell = cells[row, f"{data} AUC", "difference"]
        assert cell.value == pytest.approx(mean(values))
        low, high = (float(end) for end in cell.text.partition("(")[2].rstrip(")").split(" to "))
        assert (low, high) == pytest.approx((mean(values) - reach, mean(values) + reach), abs=0.051)
        assert cells[row, f"{data} AUC, adjusted p", "difference"].value == pytest.approx(adjusted[data, row])
        corrected, own = (cells[row, f"{data} AUC{end}", "difference"] for end in (", adjusted p", ""))
        assert {*corrected.made_from} == {
            key(name, place, seed) for name, place, seed in product(VALUES, "de", range(3))
        }
        assert {*own.made_from} == {key(name, data, seed) for name, seed in product(("csp", row), range(3))}
        for cell in (corrected, own):  # what it rests on is what the plan has for it
            assert {recipe.key for recipe in planned_recipes(plan, "czsl", cell)} == {*cell.made_from}
        assert cells[row, f"{data} AUC", "measured"].value == pytest.approx(100 * mean(VALUES[row][data]))
    tests = ClaimTests.of(results, mine, "d")
    assert {one.correction.family for one in tests.comparisons.values()} == {4}
    assert tests.levels[0] == pytest.approx(0.035 / sum(value >= 0.035 for value in adjusted.values()))
