"""Comparisons of stored evaluations: numbers against those of each model, tests against plain counts, and what is
refused.
"""

import csv
import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest
from typer.testing import CliRunner

from recompose.claims.estimates import holm
from recompose.data.pictures import Picture
from recompose.errors import DataError
from recompose.harness.compare import ComparisonRow, compare
from recompose.harness.comparison_files import write_comparison
from recompose.harness.stored_evaluation import digests, read_evaluations
from recompose.main import app
from recompose.tracks.vlc.data.formats.sugarcrepe import MEAN as SUGARCREPE
from recompose.tracks.vlc.data.index import write_suites
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.scores import write_scores
from recompose.tracks.vlc.suites.tasks import Choices, Classes, Groups, Pool, Similarity, Task, Triplets
from recompose.tracks.vlc.suites.values import metrics
from tests.errors import raises

pytestmark = pytest.mark.slow

ITEMS, DRAWS = 30, 200
numbers = np.arange(ITEMS)
TEXTS = tuple(f"text {number}" for number in range(3 * ITEMS))
IMAGES = tuple(Picture(f"{number}.png") for number in range(2 * ITEMS))
PAIRS = np.stack([numbers, numbers + ITEMS], axis=1)
RELATIONS = tuple("on" if number < 9 else "under" if number < 20 else "in" for number in range(ITEMS))


def suite(name: str, tasks: dict[str, Task]) -> Suite:
    return Suite(name, IMAGES, TEXTS, tasks)


def world() -> list[Suite]:
    """A suite of each kind; the items of WhatsUp ask about five images."""
    choices = Choices("i2t", numbers, PAIRS, np.zeros(ITEMS, dtype=int))
    labels = numbers % 3
    classes = Classes(numbers, labels, ((0,), (1,), (2,)), ("a", "b", "c"))
    several = replace(classes, labels=np.eye(3, dtype=bool)[labels])
    elevater = {"caltech101": classes, "mnist": classes, "voc2007classification": several}
    return [
        suite("sugarcrepe", dict.fromkeys(SUGARCREPE.leaves, choices)),
        suite("whatsup", {"whatsup/a": replace(choices, asked=numbers % 5)}),
        suite("aro", {"aro/vg_relation": replace(choices, groups=RELATIONS)}),
        suite("winoground", {"winoground": Groups(PAIRS, PAIRS)}),
        suite("coco", {"coco": Pool(np.arange(10), numbers, numbers // 3)}),
        suite("elevater", {f"elevater/{name}": task for name, task in elevater.items()}),
        suite("sick", {"sick": Similarity(numbers, numbers + 1, numbers % 5 + 0.5)}),
        suite(
            "sugarcrepe_pp", {"sugarcrepe_pp/swap_obj": Triplets(numbers, np.stack([*PAIRS.T, PAIRS[:, 1] + ITEMS], 1))}
        ),
    ]


Scores = dict[str, np.ndarray]


def scores_of(seed: int, help_: float = 0.0) -> Scores:
    """Random scores of the world; ``help_`` is added to right candidates."""
    rng = np.random.default_rng(seed)
    scores = {}
    for name in (*SUGARCREPE.leaves, "whatsup/a", "aro/vg_relation"):
        scores[name] = rng.random((ITEMS, 2)) + help_ * np.eye(2)[0]
    scores["winoground"] = rng.random((ITEMS, 2, 2)) + help_ * np.eye(2)
    scores |= {"coco/i2t": rng.integers(0, 3, 10), "coco/t2i": rng.integers(0, 3, ITEMS)}
    for name in ("caltech101", "mnist", "voc2007classification"):
        scores[f"elevater/{name}"] = rng.random((ITEMS, 3)) + help_ * np.eye(3)[numbers % 3]
    scores["sick"] = rng.random(ITEMS) + help_ * (numbers % 5)
    scores["sugarcrepe_pp/swap_obj"] = rng.random((ITEMS, 6)) + help_ * np.array([1, 1, 0, 1, 0, 0])
    return scores


FIRST, SECOND = scores_of(1), scores_of(2, help_=0.4)


def write_document(folder: Path, suites: Iterable[Suite], files: dict[str, str] | None = None) -> None:
    document = {"model": "m", "weights": {"name": None}, "suites": [suite.name for suite in suites]}
    (folder / "results.json").write_text(json.dumps(document | {"metrics": {}, "items": {}, "files": files or {}}))


def store_evaluation(folder: Path, suites: Iterable[Suite], scores: Scores) -> Path:
    suites = list(suites)
    write_suites(suites, folder)
    write_scores(scores, folder / "scores.safetensors")
    write_document(folder, suites)
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    root = tmp_path_factory.mktemp("evaluations")
    return store_evaluation(root / "a", world(), FIRST), store_evaluation(root / "b", world(), SECOND)


def rows_of(*folders: Path, suites: tuple[str, ...] = ("all",)) -> dict[str, ComparisonRow]:
    return {row.name: row for row in compare(folders, suites, DRAWS).rows}


def test_scores_or_items_that_were_written_after_the_results_are_refused(tmp_path: Path) -> None:
    suites = [suite for suite in world() if suite.name == "sick"]
    others = {
        "scores.safetensors": lambda folder: write_scores({"sick": SECOND["sick"]}, folder / "scores.safetensors"),
        "suites/sick.json": lambda folder: write_suites([replace(suites[0], texts=suites[0].texts[::-1])], folder),
    }
    for file, write in others.items():
        folder = store_evaluation(tmp_path / file, suites, {"sick": FIRST["sick"]})
        write_document(folder, suites, digests(folder, suites))
        assert read_evaluations([folder])[0].suites.keys() == {"sick"}
        write(folder)
        with raises(DataError, "other-files", folder / file):
            read_evaluations([folder])


def test_another_comparison_in_the_folder_is_not_replaced(folders: tuple[Path, Path], tmp_path: Path) -> None:
    def write(*names: str, suites: tuple[str, ...] = ("sick",)) -> None:
        evaluations = tuple(path for path in (*folders, folders[0].parent / "c") if path.name in names)
        write_comparison(compare(evaluations, suites, DRAWS), tmp_path)

    store_evaluation(folders[0].parent / "c", world(), scores_of(3))
    write("a", "b")
    for names, suites in ((("a", "c"), ("sick",)), (("a", "b"), ("winoground",))):
        with raises(DataError, "other-comparison", tmp_path / "comparison.json"):
            write(*names, suites=suites)
    write("a", "b", suites=("sick", "winoground"))
    rows = json.loads((tmp_path / "comparison.json").read_text())["rows"]
    assert {"sick", "winoground"} <= {row["name"] for row in rows}


@pytest.fixture(scope="module")
def rows(folders: tuple[Path, Path]) -> dict[str, ComparisonRow]:
    return rows_of(*folders)


def test_the_numbers_are_those_of_each_model(rows: dict[str, ComparisonRow]) -> None:
    first, second = (metrics(world(), scores) for scores in (FIRST, SECOND))
    assert {"sugarcrepe", "sugarcrepe/micro", "winoground/text", "coco/t2i", "sick", "aro/vg_relation"} <= {*rows}
    for name, row in rows.items():
        assert row.first == pytest.approx(first[f"test/{name}"], abs=1e-12), name
        assert row.second == pytest.approx(second[f"test/{name}"], abs=1e-12), name
        assert row.difference == pytest.approx(row.second - row.first)
        assert row.low is not None and row.high is not None and row.low <= row.difference <= row.high, name


def test_an_accuracy_is_tested_by_the_items_that_differ(rows: dict[str, ComparisonRow]) -> None:
    name = "sugarcrepe/swap_obj"
    first, second = (scores[name] for scores in (FIRST, SECOND))
    right = [[row[0] > row[1] for row in scores] for scores in (first, second)]
    only = [sum(one and not two for one, two in zip(*order, strict=True)) for order in (right, right[::-1])]
    row = rows[name]
    assert [row.only_first, row.only_second] == only and (row.items, row.units) == (ITEMS, ITEMS)
    assert row.p == row.mcnemar_p == pytest.approx(binomtest(only[1], sum(only)).pvalue)


def test_what_belongs_together_is_resampled_together(rows: dict[str, ComparisonRow]) -> None:
    units = {"whatsup/a": 5, "aro/vg_relation": 3, "coco/i2t": 10, "coco/t2i": 10, "winoground": ITEMS}
    assert {name: rows[name].units for name in units} == units
    tests = {name: rows[name].test for name in ("whatsup/a", "aro/vg_relation", "winoground", "sugarcrepe")}
    assert [*tests.values()] == [
        "bootstrap over images",
        "bootstrap over groups",
        "McNemar, exact",
        "bootstrap over items",
    ]


def test_the_interval_of_a_mean_is_that_of_plain_draws(folders: tuple[Path, Path]) -> None:
    rng, draws = np.random.default_rng(0), []
    rights = [[scores[name][:, 0] > scores[name][:, 1] for name in SUGARCREPE.leaves] for scores in (FIRST, SECOND)]
    differences = [second.astype(int) - first for first, second in zip(*rights, strict=True)]
    for _ in range(4_000):
        parts = {
            name: rng.choice(values, ITEMS).mean() for name, values in zip(SUGARCREPE.leaves, differences, strict=True)
        }
        kinds = [[value for name, value in parts.items() if f"/{kind}_" in name] for kind in ("replace", "swap", "add")]
        draws.append(np.mean([np.mean(values) for values in kinds]))  # equal items: micro means are means
    rows = compare(folders, ("sugarcrepe",), 4_000).rows
    row = next(row for row in rows if row.name == "sugarcrepe")
    assert [row.low, row.high] == pytest.approx(np.quantile(draws, [0.025, 0.975]).tolist(), abs=0.02)


def test_p_are_corrected_among_the_numbers_of_their_level(folders: tuple[Path, Path], tmp_path: Path) -> None:
    third = store_evaluation(tmp_path / "c", world(), scores_of(3, help_=0.1))
    summary = compare((*folders, third), resamples=DRAWS)
    assert summary.names == ("a", "b", "c")
    levels = {row.name: row.level for row in summary.rows}
    tops = {name for name, level in levels.items() if level == "suite"}
    assert tops == {"sugarcrepe", "whatsup/a", "aro/vg_relation", "winoground", "coco/i2t", "coco/t2i", "sick"} | {
        "sugarcrepe_pp/swap_obj",
        *(name for name in levels if name.startswith("elevater/")),
    }
    for level in {*levels.values()}:
        family = [row for row in summary.rows if row.level == level]
        assert [row.corrected_p for row in family] == pytest.approx(holm([row.p or 0.0 for row in family]))
        for row in family:
            decided = (row.corrected_p or 0.0) < 0.05
            assert (row.finding == "undecided") != decided
            assert not decided or row.finding == ("higher" if row.difference > 0 else "lower")


def test_a_model_does_not_differ_from_a_copy(folders: tuple[Path, Path], tmp_path: Path) -> None:
    copy = store_evaluation(tmp_path / "copy", world(), FIRST)
    for row in rows_of(folders[0], copy, suites=("sugarcrepe", "aro", "winoground", "sick")).values():
        assert (row.difference, row.p, row.finding, row.detectable) == (0.0, 1.0, "undecided", None), row.name
        assert (row.low is None) == (row.test != "McNemar, exact"), row.name  # no spread is no knowledge


def test_items_count_if_both_models_have_scores(folders: tuple[Path, Path], tmp_path: Path) -> None:
    lacking = scores_of(2, help_=0.4)
    lacking["sugarcrepe/swap_obj"][3:5] = np.nan
    lacking["coco/t2i"][:4] = -1
    other = store_evaluation(tmp_path / "other", world(), lacking)
    summary = compare((folders[0], other), ("sugarcrepe", "coco"), DRAWS)
    rows = {row.name: row for row in summary.rows}
    assert (rows["sugarcrepe/swap_obj"].items, rows["coco/t2i"].items, rows["coco/t2i"].units) == (28, 26, 9)
    assert any(note.startswith("6 items without scores") for note in summary.notes)


def test_the_same_items_may_have_other_numbers(folders: tuple[Path, Path], tmp_path: Path) -> None:
    """An evaluation of a part of a suite numbers its images and texts anew."""
    groups = Groups(len(IMAGES) - 1 - PAIRS, len(TEXTS) - 1 - PAIRS)
    turned = Suite("winoground", IMAGES[::-1], TEXTS[::-1], {"winoground": groups})
    other = store_evaluation(tmp_path / "turned", [turned], {"winoground": SECOND["winoground"]})
    assert rows_of(folders[0], other)["winoground"].items == ITEMS


@pytest.mark.parametrize(
    "changed",
    [
        {"texts": ("another text", *TEXTS[1:])},
        {"images": (Picture("other.png"), *IMAGES[1:])},
        {"images": (Picture("0.png", (0, 0, 5, 5)), *IMAGES[1:])},
        {"form": "colorswap"},
    ],
)
def test_other_items_are_refused(folders: tuple[Path, Path], tmp_path: Path, changed: dict[str, Any]) -> None:
    suites = [replace(world()[3], **changed)]
    other = store_evaluation(tmp_path / "other", suites, {"winoground": SECOND["winoground"]})
    with raises(DataError, "other-items", "winoground") as caught:
        rows_of(folders[0], other)
    assert "\n" not in str(caught.value)


def test_what_one_model_lacks_is_named_and_left_out(folders: tuple[Path, Path], tmp_path: Path) -> None:
    suites = [each for each in world() if each.name in ("winoground", "sick")]
    other = store_evaluation(tmp_path / "other", suites, {name: SECOND[name] for name in ("winoground", "sick")})
    summary = compare((folders[0], other), resamples=DRAWS)
    assert {row.name for row in summary.rows} == {"winoground", "winoground/text", "winoground/image", "sick"}
    assert any("coco" in note or "sugarcrepe" in note for note in summary.notes)
    with raises(DataError, "unknown-suite", "other: sugarcrepe"):
        rows_of(folders[0], other, suites=("sugarcrepe",))


def test_wrong_folders_are_one_line(folders: tuple[Path, Path], tmp_path: Path) -> None:
    first = folders[0]
    old, damaged, shorter, other = (
        store_evaluation(tmp_path / name, world(), FIRST) for name in ("old", "damaged", "shorter", "other")
    )
    rmtree(old / "suites")
    (other / "results.json").write_text('{"suites": "sick"}')
    (damaged / "scores.safetensors").write_bytes(b"no scores")
    write_scores(FIRST | {"sick": np.zeros(3)}, shorter / "scores.safetensors")
    cases: dict[str, tuple[Path, ...]] = {
        "one-evaluation": (first,),
        "same": (first, first.parent / "b" / ".." / "a"),
        "no-result": (first, first.parent / "bb"),
        "damaged-evaluation": (first, damaged),
        "other-files": (first, shorter),
        "damaged-result": (first, other),
    }
    for code, given in (*cases.items(), ("damaged-evaluation", (first, old))):
        with raises(DataError, code) as caught:
            rows_of(*given)
        assert "\n" not in str(caught.value)


def test_the_command_prints_a_table_and_writes_files(folders: tuple[Path, Path], tmp_path: Path) -> None:
    hostile = store_evaluation(tmp_path / "[b]|<b>$x$", world(), SECOND)
    arguments = ["compare", str(folders[0]), str(hostile), "--suites", "sugarcrepe,winoground", "--resamples", "1000"]
    out = tmp_path / "out"
    done = CliRunner().invoke(app, [*arguments, "--out", str(out)])
    assert done.exit_code == 0, done.output
    expected = rows_of(folders[0], hostile, suites=("sugarcrepe", "winoground"))
    row, line = expected["winoground"], next(line for line in done.output.splitlines() if " winoground " in line)
    assert line.split()[1:4] == [f"{100 * row.first:.2f}", f"{100 * row.second:.2f}", f"{100 * row.difference:+.2f}"]
    with (out / "comparison.csv").open(newline="") as file:
        table = {each["name"]: float(each["difference"]) for each in csv.DictReader(file)}
    assert table == pytest.approx({name: each.difference for name, each in expected.items()})
    document = json.loads((out / "comparison.json").read_text())
    assert document["names"] == ["a", "[b]|<b>$x$"] and len(document["rows"]) == len(expected)
    assert json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout) == document
    page = (out / "comparison.md").read_text()
    assert "<b>" not in page and "\\[b\\]&#124;&lt;b&gt;$x$" in page
    assert (out / "figure.svg").stat().st_size and (out / "figure.csv").stat().st_size
