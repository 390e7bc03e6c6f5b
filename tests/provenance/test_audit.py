"""The audit in bad worlds: what was done is found and named, and nothing else is blamed."""

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recompose.digest import sha256_file
from recompose.files import read_json, write_json
from recompose.papers.declaration import PAPERS, load_paper
from recompose.plan import Run
from recompose.provenance.audit import audit
from recompose.provenance.checks.findings import Audit
from recompose.report.artifacts import make_artifacts
from recompose.report.index import write_index
from recompose.report.site.build import write_page
from recompose.workspace import Workspace
from tests.conftest import Project

Found = tuple[str, str, str]  # state, place, what is said
MADE_FROM_RUNS = {
    "duplex/table-3": 8,
    "duplex/table-4": 4,
    "msci/table-2": 8,
    "msci/table-3": 4,
    "msci/figure-curves": 1,
}
FROM_INDEX = {"duplex/table-1": 11, "duplex/table-12": 20, "duplex/table-13": 10, "msci/table-1": 8}
PAPERS_LOADED = [load_paper(name) for name in PAPERS]


def audited(root: Path) -> Audit:
    return audit(Workspace(root), PAPERS_LOADED)


def findings(found: Audit) -> list[Found]:
    return sorted((each.state, each.place, each.why) for each in found.findings)


@pytest.fixture(scope="module")
def clean(chance_project: Project) -> Audit:
    return audited(chance_project.root)


def moved(found: Audit, clean: Audit) -> dict[str, dict[str, int]]:
    """How many cells of each artifact are in another state than in the clean world, by that state."""
    counts: dict[str, dict[str, int]] = {}
    for name, states in clean.states.items():
        for key in states | found.states[name]:
            now = found.states[name].get(key, "gone")
            if now != states.get(key):
                of = counts.setdefault(name, {})
                of[now] = of.get(now, 0) + 1
    return counts


def all_of(state: str, *parts: dict[str, int]) -> dict[str, dict[str, int]]:
    return {name: {state: count} for part in parts for name, count in part.items()}


def stale_rows(why: str) -> list[Found]:
    """What is found where what shows chance's runs is stale."""
    cells = {name: "1 cell" if count == 1 else f"{count} cells" for name, count in MADE_FROM_RUNS.items()}
    return [("stale", f"{name} · chance ({said})", why) for name, said in cells.items()]


def runs_of(root: Path) -> list[Path]:
    """The folders of the runs, by seed."""
    records = [(read_json(path)["recipe"]["seed"], path.parent) for path in root.glob("results/runs/*/run.json")]
    return [folder for _, folder in sorted(records)]


def index_of(root: Path) -> Path:
    (record,) = root.glob("results/index/*/record.json")
    return record.parent


def data_of(root: Path) -> Path:
    (folder,) = root.glob("data/shapes-pairs-*/")
    return folder


def edit_json(path: Path, edit: Callable[[Any], object]) -> None:
    document = read_json(path)
    edit(document)
    write_json(path, document)


def replace_once(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) >= 1, old
    path.write_text(text.replace(old, new, 1))


def correct(record: Path, *names: str) -> None:
    """Make a record, or a lineage, agree with files that were changed, as a forger would."""

    def edit(document: dict[str, Any]) -> None:
        for name in names:
            path = record.parent / name
            digest = sha256_file(path)
            document["files"][name] = (
                digest if "cells" in document else {"sha256": digest, "bytes": path.stat().st_size}
            )

    edit_json(record, edit)


def remake_reports(root: Path) -> None:
    """What the last two phases do."""
    from recompose.provenance.audit import audit_artifacts

    work = Workspace(root)
    for paper in PAPERS_LOADED:
        make_artifacts(work, paper)
    write_page(work, PAPERS_LOADED, audit_artifacts(work, PAPERS_LOADED))
    write_index(work, PAPERS_LOADED)


def test_the_clean_world_is_clean(clean: Audit) -> None:
    assert (findings(clean), clean.report.unchecked) == ([], [])
    assert {state for states in clean.states.values() for state in states.values()} == {"current"}
    assert (clean.runs, clean.recomputed) == (2, 2)
    shown = {name: len(states) for name, states in clean.states.items() if states}
    assert shown == MADE_FROM_RUNS | FROM_INDEX | {"duplex/table-13": 40}  # 30 of which nobody asks for


# runs


def better(metrics: dict[str, Any]) -> None:
    metrics["test/closed"]["dense"]["auc"] = 0.5


def test_an_edited_metric_is_found(chance: Project, clean: Audit) -> None:
    run, _ = runs_of(chance.root)
    edit_json(run / "metrics.json", better)
    found = audited(chance.root)
    ((state, place, why),) = findings(found)
    assert (state, place) == ("tampered", f"results/runs/{run.name}/metrics.json")
    assert why.startswith("has ") and " bytes instead of " in why
    assert (moved(found, clean), found.recomputed) == ({}, 2)  # the numbers that are shown follow from scores


def test_an_edited_metric_is_found_where_its_record_was_made_to_agree(chance: Project, clean: Audit) -> None:
    run, _ = runs_of(chance.root)
    own = read_json(run / "metrics.json")["test/closed"]["dense"]["auc"]
    edit_json(run / "metrics.json", better)
    correct(run / "run.json", "metrics.json")
    found = audited(chance.root)
    record, metrics = findings(found)
    assert record[:2] == ("tampered", f"results/runs/{run.name}")
    assert record[2].startswith("its record is not the one that the reports have: files.metrics.json.bytes was ")
    why = f"does not follow from scores.safetensors: test/closed dense auc is 0.5 in it and {own} by its scores"
    assert metrics == ("tampered", f"results/runs/{run.name}/metrics.json", why)
    assert (moved(found, clean), found.recomputed) == ({}, 2)


def test_truncated_scores_are_found_and_what_rests_on_them_is_not_checked(chance: Project, clean: Audit) -> None:
    run, _ = runs_of(chance.root)
    scores = run / "scores.safetensors"
    size = scores.stat().st_size
    os.truncate(scores, size - 100)
    found = audited(chance.root)
    why = f"has {size - 100} bytes instead of {size}"
    assert findings(found) == [("tampered", f"results/runs/{run.name}/scores.safetensors", why)]
    assert moved(found, clean) == all_of("unchecked", MADE_FROM_RUNS)
    assert found.recomputed == 1
    assert (
        f"results/runs/{run.name}: its scores, or its data set's index, cannot be relied on" in found.report.unchecked
    )


@pytest.mark.parametrize("corrected", [["scores.safetensors"], ["scores.safetensors", "metrics.json"]])
def test_forged_scores_are_not_measured_by(chance: Project, clean: Audit, corrected: list[str]) -> None:
    first, second = runs_of(chance.root)
    for name in corrected:
        shutil.copy(second / name, first / name)
    correct(first / "run.json", *corrected)
    found = audited(chance.root)
    ((state, place, why),) = findings(found)
    assert (state, place) == ("tampered", f"results/runs/{first.name}")
    assert "files.scores.safetensors.sha256 was " in why
    assert moved(found, clean) == all_of("unchecked", MADE_FROM_RUNS)


def swap(first: Path, second: Path) -> None:
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)


def test_swapped_scores_are_found_with_whose_they_are(chance: Project, clean: Audit) -> None:
    first, second = runs_of(chance.root)
    swap(first / "scores.safetensors", second / "scores.safetensors")
    found = audited(chance.root)
    assert findings(found) == sorted(
        (
            "tampered",
            f"results/runs/{mine.name}/scores.safetensors",
            f"was changed since it was made: it is that of runs/{other.name}",
        )
        for mine, other in ((first, second), (second, first))
    )
    assert moved(found, clean) == all_of("unchecked", MADE_FROM_RUNS)


def test_swapped_checkpoints_are_found_with_whose_they_are(chance: Project) -> None:
    first, second = runs_of(chance.root)
    for run in (first, second):
        (run / "checkpoint.safetensors").write_bytes(run.name.encode())
        correct(run / "run.json", "checkpoint.safetensors")
    remake_reports(chance.root)
    before = audited(chance.root)
    assert findings(before) == []
    swap(first / "checkpoint.safetensors", second / "checkpoint.safetensors")
    found = audited(chance.root)
    assert findings(found) == sorted(
        (
            "tampered",
            f"results/runs/{mine.name}/checkpoint.safetensors",
            f"was changed since it was made: it is that of runs/{other.name}",
        )
        for mine, other in ((first, second), (second, first))
    )
    assert (moved(found, before), found.recomputed) == ({}, 2)


def test_a_deleted_file_is_found(chance: Project, clean: Audit) -> None:
    run, _ = runs_of(chance.root)
    (run / "log.txt").unlink()
    found = audited(chance.root)
    assert findings(found) == [("tampered", f"results/runs/{run.name}/log.txt", "is missing")]
    assert (moved(found, clean), found.recomputed) == ({}, 2)


def made_again(root: Path, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Discard a run and carry it out again; git is asked in the current folder."""
    from recompose.phases import carry_out

    monkeypatch.chdir(root)
    work = Workspace(root)
    work.runs.discard(folder)
    carry_out(work, work.batch(folder))


def dirty_run(project: Project, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a run that was made, as what the reports show was, while a source was edited."""
    run, _ = runs_of(project.root)
    with (project.root / "src/recompose/cli.py").open("a") as file:
        file.write("# half an idea\n")
    made_again(project.root, run.name, monkeypatch)
    remake_reports(project.root)
    return run


def test_a_run_of_a_dirty_tree_is_found(chance: Project, clean: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    dirty_run(chance, monkeypatch)
    found = audited(chance.root)
    why = "1 of 2 were made from a changed or unknown working tree"
    assert findings(found) == [("uncommitted", name, why) for name in sorted(MADE_FROM_RUNS)]
    assert moved(found, clean) == all_of("uncommitted", MADE_FROM_RUNS)


def test_a_dirty_tree_that_is_denied_is_found(chance: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    run = dirty_run(chance, monkeypatch)
    before = audited(chance.root)
    edit_json(run / "run.json", lambda record: record["made"].update(dirty=False))
    found = audited(chance.root)
    why = "its record is not the one that the reports have: made.dirty was True and is False now"
    assert findings(found) == sorted([*findings(before), ("tampered", f"results/runs/{run.name}", why)])
    assert moved(found, before) == {}


def test_a_run_that_was_made_again_makes_what_shows_it_stale(
    chance: Project, clean: Audit, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, _ = runs_of(chance.root)
    made_again(chance.root, run.name, monkeypatch)
    started = read_json(run / "run.json")["made"]["started"]
    found = audited(chance.root)
    why = f"it was made again since the reports were, at {started}"
    assert findings(found) == [("stale", f"results/runs/{run.name}", why)]
    assert moved(found, clean) == all_of("stale", MADE_FROM_RUNS)
    assert {line for lines in found.why["msci/table-2"].values() for line in lines} == {f"runs/{run.name}: {why}"}


def test_a_missing_seed_is_found(chance: Project, clean: Audit) -> None:
    run, _ = runs_of(chance.root)
    shutil.rmtree(run)
    remake_reports(chance.root)
    found = audited(chance.root)
    assert findings(found) == [
        ("incomplete", name, f"1 run is missing (runs/{run.name})") for name in sorted(MADE_FROM_RUNS)
    ]
    assert moved(found, clean) == all_of("incomplete", MADE_FROM_RUNS)


def test_runs_of_two_code_versions_are_found(chance: Project, clean: Audit) -> None:
    """A record as an older run would have it: its code is another one, and its digest with it."""
    root, old = chance.root, runs_of(chance.root)[0]
    record = read_json(old / "run.json")
    record["recipe"]["code"]["recompose.methods.chance"] = "0" * 64
    forged = Run("chance", record["recipe"])
    old = old.rename(old.parent / forged.folder)
    write_json(old / "run.json", record | {"digest": forged.digest})
    work = Workspace(root)
    planned = work.plan.runs_of("chance", "shapes-pairs")
    runs = (forged, *planned[1:])
    work.__dict__["plan"] = replace(work.plan, measures={("chance", "shapes-pairs"): runs}, runs=runs)
    for paper in PAPERS_LOADED:
        make_artifacts(work, paper)
    write_page(work, PAPERS_LOADED, audit(work, PAPERS_LOADED))
    write_index(work, PAPERS_LOADED)
    found = audited(root)
    mixed = [("mixed", name, "runs differ in the code of recompose.methods.chance") for name in MADE_FROM_RUNS]
    assert findings(found) == sorted([*mixed, *stale_rows("code changed: recompose.methods.chance")])
    assert moved(found, clean) == all_of("mixed", MADE_FROM_RUNS)
    assert found.recomputed == 2
