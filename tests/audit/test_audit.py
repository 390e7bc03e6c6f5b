"""The audit where more is looked at than a number's state: messages, what is counted, and clones without results."""

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest

from recompose.audit import audit as module
from recompose.audit.findings import Audit
from recompose.files import read_json, write_text
from recompose.tables.provenance import PROVENANCE, Provenance
from tests.audit.invented import correct_artifact, edit_artifact, edit_provenance
from tests.audit.worlds import (
    CELL,
    MADE_FROM_EVALUATIONS,
    SHOWN,
    TABLE,
    all_of,
    audited,
    copy_of,
    correct,
    data_of,
    dirty,
    edit_csv,
    edit_json,
    edit_made,
    evaluations_of,
    findings,
    first_of,
    index_of,
    indexes_of,
    key_of,
    moved,
    replace_once,
)
from tests.conftest import Project


def test_the_clean_world_is_clean(clean: Audit) -> None:
    assert (findings(clean), clean.unchecked) == ([], [])
    assert clean.words.keys() == {"current"}
    assert (clean.evaluations, clean.recomputed) == (2, 2)
    assert {name: len(states) for name, states in clean.cells.items() if states} == SHOWN


def test_an_audit_writes_nothing(root: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()}
    audited(root)
    after = {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()}
    assert after == before


def test_code_that_no_commit_holds_is_a_fact_beside_the_state(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dirty(root, first_of(root), monkeypatch)
    found = audited(root)
    assert (found.clean, found.uncommitted) == (True, (key_of(first_of(root)),))
    assert "no commit holds" in found.outcome
    edit_made(root, dirty=False)
    assert not audited(root).clean


# data sets and indexes


@pytest.fixture
def with_data(chance_project: Project, tmp_path: Path) -> Path:
    """A copy whose raw data may be changed, too."""
    return copy_of(chance_project.root, tmp_path / "project", "data")


def test_changed_images_are_found_some_are_named_and_all_are_counted(with_data: Path, clean: Audit) -> None:
    images = sorted(data_of(with_data).glob("images/*/*.png"))
    images[3].write_bytes(images[3].read_bytes() + b"0")
    found = audited(with_data)
    place = images[3].relative_to(with_data).as_posix()
    assert findings(found) == [("changed", place, "was changed since it was indexed")]
    assert (moved(found, clean), found.recomputed) == ({}, 2)
    for image in images[:7]:
        image.unlink()
    why = "was changed since it was indexed, one of 7 changed files"
    named = [("changed", path.relative_to(with_data).as_posix(), why) for path in images[:5]]
    assert findings(audited(with_data)) == named


def test_raw_data_that_is_not_here_is_not_checked_and_nothing_is_blamed(root: Path, clean: Audit) -> None:
    (root / "data").unlink()
    found = audited(root)
    assert (findings(found), moved(found, clean)) == ([], {})
    assert sorted(line for line in found.unchecked if line.startswith("data/")) == sorted(
        f"data/shapes-pairs-{index.name} is not on this disk" for index in indexes_of(root)
    )


# reports that were changed themselves, in a project with its results and in a clone without them


def test_edited_numbers_of_a_figure_are_found_where_it_is_drawn_again(root: Path, clean: Audit) -> None:
    path = root / "reports/smoke/msci/figure-curves.csv"
    lines = path.read_text().splitlines()
    ((number, line),) = ((number, line) for number, line in enumerate(lines, start=1) if line.endswith(",1.5873"))
    other = line.replace("1.5873", "9.5873")
    replace_once(path, line, other)
    correct_artifact(root / "reports/smoke", "msci/figure-curves", path.name)
    found = audited(root)
    why = f"line {number} shows {other}; its runs give {line}"
    assert findings(found) == [("changed", "reports/smoke/msci/figure-curves.csv", why)]
    assert moved(found, clean) == {"msci/figure-curves": {"changed": 1}}


def test_a_table_without_its_column_of_values_shows_no_number(root: Path, clean: Audit) -> None:
    edit_csv(root, "text,value", "text,worth")
    assert moved(audited(root), clean) == {TABLE: {"changed": SHOWN[TABLE]}}


@pytest.mark.parametrize("text", ["", "[" * 100_000, '{"cells": NaN}', "\udcff"])
def test_nonsense_anywhere_is_found_and_no_error(root: Path, text: str) -> None:
    """The same nonsense in every kind of file: each is named, and the others are still checked."""
    content = text.encode("utf-8", errors="surrogateescape")
    inside = [evaluations_of(root)[0] / "record.json", index_of(root) / "content.json"]
    names = ("msci/table-3.csv", "msci/figure-curves.csv", "duplex/table-1.md")
    for path in (*inside, *(root / "reports/smoke" / name for name in names)):
        path.write_bytes(content)
    found = audited(root)
    places = {place.partition(" · ")[0] for _, place, _ in findings(found)}
    assert places >= {path.relative_to(root).as_posix() for path in inside}
    assert places >= {f"reports/smoke/{name}" for name in names}
    assert "reports/smoke/duplex/table-3.csv" not in places
    (root / "reports/smoke/provenance.json").write_bytes(content)
    found = audited(root)
    assert "reports/smoke/provenance.json" in {place.partition(": ")[0] for _, place, _ in findings(found)}


# files of results whose records, too, were forged


def test_nonsense_in_scores_is_found_where_every_record_was_made_to_agree(root: Path) -> None:
    folder, _ = evaluations_of(root)
    (folder / "scores.safetensors").write_text("nonsense")
    correct(folder / "record.json", "scores.safetensors")
    files, key = read_json(folder / "record.json")["files"], f"evaluations/{folder.name}"

    def agree(made: dict[str, Any]) -> None:
        made["results"][key]["files"]["scores.safetensors"] = files["scores.safetensors"]

    edit_json(root / "reports/smoke/made.json", agree)
    found = [(state, why) for state, place, why in findings(audited(root)) if place == f"results/{key}"]
    ((state, why),) = found
    assert state == "changed"
    assert why.startswith("has scores that cannot be read: ")


# clones


@pytest.fixture
def clone(root: Path) -> Path:
    """What a clone of a repository holds, without DVC: neither data nor results."""
    (root / "data").unlink()
    shutil.rmtree(root / "results")
    (root / "dvc.lock").unlink(missing_ok=True)
    return root


def test_a_clone_is_clean_as_far_as_can_be_told(clone: Path, clean: Audit) -> None:
    found = audited(clone)
    assert findings(found) == []
    assert moved(found, clean) == all_of("unchecked", SHOWN)
    assert (found.evaluations, found.recomputed, found.files) == (2, 0, 0)
    unchecked = found.unchecked
    lost = {f"results/{key} is not on this disk" for key in read_json(clone / "reports/smoke/made.json")["results"]}
    assert len(lost) == 4 and lost <= set(unchecked)
    followed = {name: len(cells) for name, cells in found.compared.items() if name in MADE_FROM_EVALUATIONS and cells}
    assert followed.items() <= MADE_FROM_EVALUATIONS.items() and len(followed) > 1
    assert "dvc.lock is missing, so the reports were not compared with it" in unchecked


def test_edited_values_are_found_in_a_clone_and_nothing_follows_from_them(clone: Path) -> None:
    path = clone / "reports/smoke/provenance.json"
    head, metrics = path.read_text().split('\n"metrics": ', 1)
    path.write_text(f'{head}\n"metrics": {metrics.replace("0.", "0.1", 1)}')
    found = audited(clone)
    assert findings(found) == [("changed", "reports/smoke/provenance.json", "was changed since it was written")]
    assert not any(found.compared[name] for name in MADE_FROM_EVALUATIONS)
    why = "was not computed again: some results behind it are missing or not valid"
    assert {f"{name} {why}" for name in MADE_FROM_EVALUATIONS if "figure" not in name} <= {*found.unchecked}
    assert "the page was not compared: it needs results that are missing or not valid" in found.unchecked


def test_values_are_read_as_they_were_written(tmp_path: Path) -> None:
    """Each evaluation has its own metrics again; costs and what is no number are left out."""
    values = {
        "evaluations/c": {"b": 1 / 3},
        "evaluations/a": {"a": 0.1, "b": 2.0, "cost/seconds": 5.0},
        "evaluations/b": {"a": 1e-9, "nothing": math.nan, "b": -1.0},
    }
    write_text(tmp_path / PROVENANCE, Provenance.of([], values, {}, {}).text)
    assert Provenance.read(tmp_path).values == {
        "evaluations/a": {"a": 0.1, "b": 2.0},
        "evaluations/b": {"a": 1e-9, "b": -1.0},
        "evaluations/c": {"b": 1 / 3},
    }


def test_a_number_that_differs_in_its_last_digits_is_found(chance: Project) -> None:
    """Metrics that are computed again from the same scores are the same to the last bit."""
    reports = chance.root / "reports/smoke"

    def shifted(values: list[float]) -> list[float]:
        return [math.nextafter(value, math.inf) for value in values]

    def shift_cells(lineage: Any) -> None:
        for cell in lineage["cells"]:
            cell["values"] = shifted(cell["values"])

    def shift_metrics(document: Any) -> None:
        for group in document["metrics"]:
            group["evaluations"] = {key: shifted(values) for key, values in group["evaluations"].items()}

    edit_artifact(reports, TABLE, shift_cells)
    edit_provenance(reports, shift_metrics)
    found = {place.partition(" · ")[0].partition(" of ")[0] for _, place, _ in findings(audited(chance.root))}
    assert found == {f"reports/smoke/provenance.json: {what}" for what in (TABLE, "metrics")}


@pytest.mark.parametrize("text", ["not JSON", "infinite"])
def test_published_values_that_are_none_are_found(chance: Project, text: str) -> None:
    reports = chance.root / "reports/smoke"
    document = read_json(reports / PROVENANCE)
    for group in document["metrics"]:
        group["evaluations"] = {key: [math.inf for _ in values] for key, values in group["evaluations"].items()}
    (reports / PROVENANCE).write_text(json.dumps(document) if text == "infinite" else text)
    ((state, place, why),) = findings(audited(chance.root))
    assert (state, place) == ("changed", f"reports/smoke/{PROVENANCE}") and "cannot be read" in why


def test_an_edited_cell_is_found_in_a_clone(clone: Path) -> None:
    edit_csv(clone, digest=False)
    found = audited(clone)
    assert findings(found) == [("changed", CELL, "shows '9.9 ± 1.1'; it was '0.8 ± 1.1'")]
    assert {state.word for state in found.cells[TABLE].values()} == {"changed"}


@pytest.mark.slow
def test_a_table_and_its_cell_edited_together_are_found_by_the_lock(chance: Project) -> None:
    """DVC itself is asked: of a clone that holds no results, and only there."""
    edit_csv(chance.root, cell=True)
    for name in ("data", "results"):
        shutil.rmtree(chance.root / name)
    assert ("changed", "reports/smoke", "does not match dvc.lock (modified)") in findings(audited(chance.root))


def test_the_lock_is_not_asked_where_there_are_evaluations(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who works with Snakemake alone has a lock of something else."""
    monkeypatch.setattr(module, "check_lock", lambda root: pytest.fail("dvc was asked"))
    assert findings(audited(root)) == []


LOCK = "stages: {reports: {outs: [{path: reports/demo}]}}"


@pytest.mark.parametrize(
    ("lock", "place", "state"),
    [
        (LOCK, "reports/demo", "changed"),
        (LOCK, "reports/large", "unchecked"),  # of a profile that the lock tells nothing of
        ("stages: [", "reports/demo", "changed"),
        ("stages: {reports: 3}", "reports/demo", "changed"),
    ],
)
def test_reports_differ_from_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lock: str, place: str, state: str
) -> None:
    (tmp_path / "dvc.lock").write_text(lock)
    status = {"reports": [{"changed outs": {place: "modified"}}, "changed command"]}
    monkeypatch.setattr(module, "_dvc_status", lambda root: status)
    assert [(finding.state, finding.place) for finding in module.check_lock(tmp_path)] == [(state, place)]
