"""The state of suites on disk, and `recompose doctor --suites`."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from recompose.cli import app
from recompose.errors import DataError
from recompose.harness.survey import suites_present, survey
from recompose.tracks.vlc.suites.catalogue import FORMS
from tests.errors import raises
from tests.tracks.vlc.data.formats.published import SICK, pair, write_files, write_json
from tests.tracks.vlc.tiny_suites import write_sugarcrepe


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_files(tmp_path, SICK)
    write_files(tmp_path, {"winoground/examples.jsonl": [pair(3, 0, "ex_{}_img_{}")]})
    (tmp_path / "sts_b").mkdir()
    (tmp_path / "sts_b/sts-test.csv").write_text("no table")
    return tmp_path


def names_of(requested: Sequence[str], root: Path) -> list[str]:
    """The names of the suites that are there of those that were requested."""
    return [suite.name for suite in suites_present(requested, root)[0]]


def test_named_suites_must_be_there_and_all_means_those_that_are(root: Path, tmp_path: Path) -> None:
    assert names_of(("winoground", "sick", "sick"), root) == ["winoground", "sick"]
    (_, absent), names = suites_present(("all",), root), names_of(("all",), root)
    assert names == ["sick", "sts_b", "winoground"] and {*names, *absent} == {*FORMS}
    with raises(DataError, "unknown-suite", "sugarcrep"):
        suites_present(("sick", "sugarcrep"), root)
    with raises(DataError, "missing-suite", f"{root}: crepe, aro") as error:
        suites_present(("sick", "crepe", "aro"), root)
    assert "aro/coco_order.json" in str(error.value)
    (tmp_path / "empty").mkdir()
    with raises(DataError, "missing-suite", tmp_path / "empty"):
        suites_present(("all",), tmp_path / "empty")
    with raises(DataError, "missing-folder", tmp_path / "nowhere"):
        suites_present(("all",), tmp_path / "nowhere")


def test_a_suite_of_one_s_own_has_a_name_and_the_form_of_a_published_one(root: Path) -> None:
    (root / "winoground").rename(root / "mine")
    surveyed = survey("mine:winoground", root, with_images=False)
    assert surveyed.suite and (surveyed.suite.name, surveyed.suite.form) == ("mine", "winoground")
    assert names_of(("mine:winoground",), root) == ["mine"]
    assert names_of(("all", "mine:winoground"), root) == ["sick", "sts_b", "mine"]
    for name in ("comp:winoground", "sick:winoground", "../mine:winoground", ":winoground"):
        with raises(DataError, "wrong-name", name):
            suites_present((name,), root)
    with raises(DataError, "unknown-suite", "winogroud"):
        survey("mine:winogroud", root)
    with raises(DataError, "missing-suite", f"{root}: other:winoground") as error:
        suites_present(("other:winoground",), root)
    assert "other/examples.jsonl" in str(error.value)


def test_sub_tasks_whose_images_are_there_are_evaluated(tmp_path: Path) -> None:
    write_sugarcrepe(tmp_path)
    items = json.loads((tmp_path / "sugarcrepe/swap_obj.json").read_text())
    items["0"]["filename"] = "absent.jpg"
    write_json(tmp_path / "sugarcrepe/swap_obj.json", items)
    surveyed = survey("sugarcrepe", tmp_path)
    assert surveyed.state == "partial" and surveyed.suite and len(surveyed.suite.tasks) == 6
    assert surveyed.line.startswith("sugarcrepe is evaluated without sugarcrepe/swap_obj and means over them: images")
    assert surveyed.error and surveyed.error.code == "missing-image" and "absent.jpg" in str(surveyed.error.place)


def test_the_doctor_lists_all_suites(root: Path) -> None:
    done = CliRunner().invoke(app, ["doctor", "--suites", "--json", "--data", str(root)])
    states = {suite["subject"]: suite for suite in json.loads(done.stdout)}
    assert done.exit_code == 1 and [*states] == [*FORMS]
    expected = {"sick": "complete", "winoground": "incomplete", "sts_b": "broken", "aro": "absent"}
    assert {name: states[name]["state"] for name in expected} == expected
    assert states["sick"]["remedy"] == "" and "visual_genome_relation.json" in states["aro"]["remedy"]
    shown = CliRunner().invoke(app, ["doctor", "--suites", "--data", str(root)])
    assert shown.stdout.splitlines()[-1] == f"1 complete, 1 incomplete, 1 broken, {len(FORMS) - 3} absent"
