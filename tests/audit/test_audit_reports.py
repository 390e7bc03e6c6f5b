"""The audit where reports themselves were changed, in a project with its results and in a clone without them."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recompose.audit.findings import Audit
from recompose.files import read_json
from tests.audit.worlds import (
    MADE_FROM_EVALUATIONS,
    SHOWN,
    all_of,
    audited,
    correct,
    edit_json,
    evaluations_of,
    findings,
    improve,
    index_of,
    moved,
    replace_once,
)
from tests.conftest import Project

CHANGED = "was changed since it was written"
TABLE = "msci/table-2"
ROW = "chance,shapes-pairs S,measured,exact,0.8 ± 1.1,0.793651"
REST = ",1.12239,2,,\n"
BETTER = "chance,shapes-pairs S,measured,exact,9.9 ± 1.1,9.9"
SEEN = ("measured", "exact", "chance", "shapes-pairs S")


def file_of(root: Path, ending: str, name: str = TABLE) -> Path:
    return root / "reports/smoke" / f"{name}.{ending}"


# tables


def test_a_cell_that_stands_in_the_lineage_alone_is_found(root: Path, clean: Audit) -> None:
    def invent(lineage: dict[str, Any]) -> None:
        lineage["cells"].append({**lineage["cells"][0], "row": "MSCI", "made_from": [], "names": [], "missing": []})

    edit_json(file_of(root, "lineage.json"), invent)
    found = audited(root)
    place = "reports/smoke/msci/table-2.lineage.json · MSCI · shapes-pairs S · exact"
    assert ("tampered", place, "its runs do not give it") in findings(found)
    assert {state for state, where, _ in findings(found) if "MSCI" not in where} == set()


# other files


@pytest.mark.parametrize("agreeing", [False, True])
def test_edited_numbers_of_a_figure_are_found(root: Path, clean: Audit, agreeing: bool) -> None:
    path = file_of(root, "csv", "msci/figure-curves")
    lines = path.read_text().splitlines()
    ((number, line),) = ((number, line) for number, line in enumerate(lines, start=1) if line.endswith(",1.5873"))
    other = line.replace("1.5873", "9.5873")
    replace_once(path, line, other)
    if agreeing:
        correct(file_of(root, "lineage.json", "msci/figure-curves"), path.name)
    found = audited(root, drawing=agreeing)
    why = f"line {number} shows {other}; its runs give {line}" if agreeing else CHANGED
    assert findings(found) == [("tampered", "reports/smoke/msci/figure-curves.csv", why)]
    assert moved(found, clean) == {"msci/figure-curves": {"tampered": 1}}


def test_a_deleted_lineage_is_found_and_hides_nothing_else(root: Path, clean: Audit) -> None:
    file_of(root, "lineage.json").unlink()
    (root / "reports/smoke/msci/table-3.md").write_text("")
    found = audited(root)
    assert findings(found) == [
        ("incomplete", "reports/smoke/msci/table-2.lineage.json", "is missing"),
        ("tampered", "reports/smoke/msci/table-3.md", CHANGED),
    ]
    assert moved(found, clean) == {TABLE: {"gone": 8}, "msci/table-3": {"tampered": 4}}
    assert found.recomputed == 2
    assert "msci/table-2: cannot be checked without its lineage" in found.unchecked


def drop(*path: str | int) -> Callable[[Any], None]:
    def edit(document: Any) -> None:
        for part in path[:-1]:
            document = document[part]
        del document[path[-1]]

    return edit


def put(value: Any, *path: str | int) -> Callable[[Any], None]:
    def edit(document: Any) -> None:
        for part in path[:-1]:
            document = document[part]
        document[path[-1]] = value

    return edit


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (drop("cells", 0, "text"), "cells.0.text: Field required"),
        (put([], "records"), "'list' object has no attribute 'items'"),
        (put(["evaluations/000000000000"], "cells", 0, "made_from"), "it has no record of evaluations/000000000000"),
        (put([], "asked"), "which is not among its planned evaluations"),
    ],
)
def test_a_lineage_of_another_form_is_found(root: Path, clean: Audit, edit: Callable[[Any], None], said: str) -> None:
    edit_json(file_of(root, "lineage.json"), edit)
    found = audited(root)
    ((state, place, why),) = findings(found)
    assert (state, place) == ("tampered", "reports/smoke/msci/table-2.lineage.json")
    assert why.startswith("invalid lineage: ") and said in why
    assert moved(found, clean) == {TABLE: {"gone": 8}}


@pytest.mark.parametrize("text", ["", "[" * 100_000, '{"cells": NaN}', "\udcff"])
def test_nonsense_anywhere_is_found_and_no_error(root: Path, text: str) -> None:
    """The same nonsense in every kind of file: each is named, and the others are still checked."""
    content = text.encode("utf-8", errors="surrogateescape")
    inside = [evaluations_of(root)[0] / "record.json", index_of(root) / "content.json"]
    names = ("msci/table-2.lineage.json", "msci/table-3.csv", "msci/figure-curves.csv")
    names = (*names, "duplex/table-1.md", "index.json")
    for path in (*inside, *(root / "reports/smoke" / name for name in names)):
        path.write_bytes(content)
    found = audited(root)
    places = {place.partition(" · ")[0] for _, place, _ in findings(found)}
    assert places >= {path.relative_to(root).as_posix() for path in inside}
    assert places >= {f"reports/smoke/{name}" for name in names}
    assert "reports/smoke/duplex/table-3.csv" not in places


# files of results whose records, too, were forged


@pytest.mark.parametrize("text", ["", "nonsense"])
def test_nonsense_in_scores_is_found_where_every_record_was_made_to_agree(root: Path, text: str) -> None:
    folder, _ = evaluations_of(root)
    (folder / "scores.safetensors").write_text(text)
    correct(folder / "record.json", "scores.safetensors")
    files, key = read_json(folder / "record.json")["files"], f"evaluations/{folder.name}"

    def agree(made: dict[str, Any]) -> None:
        made["results"][key]["files"]["scores.safetensors"] = files["scores.safetensors"]

    edit_json(root / "reports/smoke/made.json", agree)
    shutil.rmtree(root / "results/contents")
    ((state, place, why),) = findings(audited(root))
    assert (state, place) == ("tampered", f"results/{key}")
    assert why.startswith("its scores cannot be read: ")


# clones


@pytest.fixture
def clone(root: Path) -> Path:
    """What a clone of a repository holds, without DVC: neither data nor results."""
    (root / "data").unlink()
    shutil.rmtree(root / "results")
    (root / "dvc.lock").unlink(missing_ok=True)
    return root


def test_a_clone_is_clean_as_far_as_can_be_told(clone: Path, clean: Audit) -> None:
    found = audited(clone, drawing=True)
    assert findings(found) == []
    assert moved(found, clean) == all_of("unchecked", SHOWN)
    assert (found.evaluations, found.recomputed, found.files) == (2, 0, 0)
    unchecked = found.unchecked
    lost = {f"results/{key} is not on this disk" for key in read_json(clone / "reports/smoke/made.json")["results"]}
    assert len(lost) == 4 and lost <= set(unchecked)
    followed = {name: count for name in found.states if (count := found.followed(name))}
    assert followed.items() <= MADE_FROM_EVALUATIONS.items() and len(followed) > 1
    assert "dvc.lock: is missing, so the reports were not compared with it" in unchecked


def test_edited_values_are_found_in_a_clone_and_nothing_follows_from_them(clone: Path) -> None:
    values = clone / "reports/smoke/values.json"
    values.write_text(values.read_text().replace("0.", "0.1", 1))
    found = audited(clone)
    assert findings(found) == [("tampered", "reports/smoke/values.json", CHANGED)]
    assert not any(map(found.followed, found.states))
    unchecked = found.unchecked
    for name in MADE_FROM_EVALUATIONS:
        assert f"{name}: some results behind it are missing or not valid" in unchecked
    assert "the index: it needs evaluations that are missing or not valid" in unchecked


CELL = "reports/smoke/msci/table-2.csv · chance · shapes-pairs S · exact"


@pytest.mark.parametrize(
    ("old", "new", "finding"),
    [
        (ROW, BETTER, ("tampered", CELL, "shows '9.9 ± 1.1'; its runs give '0.8 ± 1.1'")),
        (f"{ROW}{REST}", "", ("tampered", CELL, "shows nothing; its runs give '0.8 ± 1.1'")),
    ],
)
def test_an_edited_cell_is_found_in_a_clone(
    clone: Path, clean: Audit, old: str, new: str, finding: tuple[str, str, str]
) -> None:
    replace_once(file_of(clone, "csv"), old, new)
    found = audited(clone)
    assert findings(found) == [finding]
    assert set(found.states[TABLE].values()) == {"tampered"}


def test_a_table_and_its_lineage_edited_together_are_found_by_the_lock(chance: Project) -> None:
    """DVC itself is asked: of a clone that holds no results, and only there."""
    replace_once(file_of(chance.root, "csv"), ROW, BETTER)
    edit_json(file_of(chance.root, "lineage.json"), improve)
    correct(file_of(chance.root, "lineage.json"), "table-2.csv")
    for name in ("data", "results"):
        shutil.rmtree(chance.root / name)
    assert ("tampered", "reports/smoke", "does not match dvc.lock (modified)") in findings(audited(chance.root))


def test_the_lock_is_not_asked_where_there_are_evaluations(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who works with Snakemake alone has a lock of something else."""
    from recompose.audit import audit as module

    monkeypatch.setattr(module, "check_lock", lambda root: pytest.fail("dvc was asked"))
    assert findings(audited(root)) == []
