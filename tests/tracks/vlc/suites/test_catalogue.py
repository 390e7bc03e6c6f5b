"""The table of suites against the trees, and what names and layouts say."""

from pathlib import Path

import pytest

from recompose.errors import DataError
from recompose.papers.declaration import load_paper
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.catalogue import (
    DRAWN,
    FORMS,
    LIMITED,
    PUBLISHED,
    SUBTASKS,
    TREES,
    check_form,
    layout_of,
    missing_subtasks,
    read_suite,
)
from recompose.tracks.vlc.suites.means import Mean, names_in
from recompose.tracks.vlc.tables.benchmarks import benchmarks
from recompose.tracks.vlc.tables.categories import categories
from tests.errors import raises
from tests.tables.fakes import Fake


def leaves(tree: Mean | str) -> tuple[str, ...]:
    return tree.leaves if isinstance(tree, Mean) else (tree,)


@pytest.mark.parametrize("form", FORMS)
def test_a_suite_declares_its_sub_tasks_and_means_under_its_name(form: str) -> None:
    check_form(form)
    module = PUBLISHED[form]
    names = [name for tree in module.MEANS for name in names_in(tree)]
    assert len({task.name for task in module.SUBTASKS}) == len(module.SUBTASKS)
    assert all(task.suite == form for task in module.SUBTASKS)
    assert form == "elevater" or all(name.split("/")[0] == form for name in names)
    metrics = {metric for task in module.SUBTASKS for metric in task.metric_names()}
    assert {leaf for tree in module.MEANS for leaf in leaves(tree)} <= metrics


def test_every_sub_task_is_in_a_tree() -> None:
    inside = {leaf for tree in TREES for leaf in leaves(tree)}
    assert all({*task.leaves} <= inside for task in SUBTASKS.values())
    assert {*DRAWN} < {*FORMS} and {*LIMITED} < {*FORMS}


@pytest.mark.parametrize("name", FORMS)
def test_a_format_knows_its_name_and_says_what_it_needs_in_one_line(name: str, tmp_path: Path) -> None:
    assert f"{name}/" in layout_of(name)
    assert "mine/" in layout_of(name, "mine") and "<suite>" not in layout_of(name, "mine")
    with raises(DataError, "missing-file", tmp_path / name) as error:
        read_suite(name, tmp_path)
    assert "\n" not in str(error.value)


def test_tables_of_benchmarks_and_of_methods_have_the_rows_of_their_papers_and_nothing_measured() -> None:
    fsc_clip, cae, results = load_paper("fsc-clip"), load_paper("clip-cae"), Fake({})
    cells = {(cell.row, cell.column): cell for cell in benchmarks(results, fsc_clip, "table-6")}  # type: ignore[arg-type]
    assert {row for row, _ in cells} == {row["row"] for row in fsc_clip.reported("table-6")}
    assert all(cell.text and not (cell.made_from or cell.missing or cell.n) for cell in cells.values())
    assert (cells["ARO", "sub-tasks"].text, cells["ARO", "items"].value) == ("4", 23_937 + 28_748 + 5_000 + 25_010)
    methods = {cell.row: cell.text for cell in categories(results, cae, "table-13")}  # type: ignore[arg-type]
    assert {row["row"] for row in cae.reported("table-13")} == {*methods}


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
