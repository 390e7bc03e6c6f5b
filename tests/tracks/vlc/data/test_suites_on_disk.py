"""All suites by their names."""

from pathlib import Path

import pytest

from recompose.errors import DataError
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.data.suites_on_disk import FORMS, layout_of, missing_subtasks, present_suites, read_suite
from recompose.tracks.vlc.suites.catalogue import CLASSIFICATIONS, RETRIEVALS, SIMILARITIES, SUBTASKS
from tests.errors import raises


def test_each_suite_that_is_evaluated_has_a_format() -> None:
    suites = {name.split("/")[0] for name in (*SUBTASKS, *CLASSIFICATIONS, *RETRIEVALS, *SIMILARITIES)}
    assert suites == {*FORMS}


@pytest.mark.parametrize("name", FORMS)
def test_a_format_knows_its_name_and_says_what_it_needs_in_one_line(name: str, tmp_path: Path) -> None:
    assert f"{name}/" in layout_of(name)
    assert "mine/" in layout_of(name, "mine") and "<suite>" not in layout_of(name, "mine")
    with raises(DataError, "missing-file", tmp_path / name) as error:
        read_suite(name, tmp_path)
    assert "\n" not in str(error.value)


def test_suites_are_present_where_their_folders_are(tmp_path: Path) -> None:
    for name in ("winoground", "aro", "images", "unheard-of"):
        (tmp_path / name).mkdir()
    assert present_suites(tmp_path) == ["aro", "winoground"]
    assert present_suites(tmp_path / "nowhere") == []


def test_the_nearest_name_of_a_suite_is_said(tmp_path: Path) -> None:
    with raises(DataError, "unknown-suite", "SugarCreep") as error:
        read_suite("SugarCreep", tmp_path)
    assert "sugarcrepe" in str(error.value) and "aro" not in str(error.value)
    with raises(DataError, "unknown-suite", "x") as error:
        read_suite("x", tmp_path)
    assert all(form in str(error.value) for form in FORMS)


def test_what_a_suite_lacks_is_said() -> None:
    suite = Suite("whatsup", (), (), dict.fromkeys(["whatsup/a", "whatsup/b", "whatsup/vg_qa_one"]))  # type: ignore[arg-type]
    assert missing_subtasks(suite) == ["whatsup/coco_qa_one", "whatsup/coco_qa_two", "whatsup/vg_qa_two"]
    assert len(missing_subtasks(Suite("elevater", (), (), {"elevater/mnist": None}))) == 20  # type: ignore[dict-item]
    assert missing_subtasks(Suite("elevater", (), (), {"elevater/of-a-user": None})) == []  # type: ignore[dict-item]
