"""The audit in bad worlds: what was done is found and named, and nothing else is blamed."""

import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recompose.files import read_json, write_json
from recompose.plan import Run
from recompose.provenance.checks.findings import Audit
from recompose.workspace import Workspace
from tests.conftest import Project
from tests.provenance.worlds import (
    FROM_INDEX,
    MADE_FROM_RUNS,
    all_of,
    audited,
    correct,
    data_of,
    edit_json,
    findings,
    index_of,
    moved,
    remake_reports,
    remake_reports_of,
    runs_of,
    stale_rows,
)

pytestmark = pytest.mark.xdist_group("engines")  # they share a project


@pytest.fixture(scope="module")
def clean(chance_project: Project) -> Audit:
    return audited(chance_project.root)


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
    record["recipe"]["code"]["recompose.tracks.czsl.methods.chance"] = "0" * 64
    forged = Run("chance", record["recipe"])
    old = old.rename(old.parent / forged.folder)
    write_json(old / "run.json", record | {"digest": forged.digest})
    work = Workspace(root)
    planned = work.plan.runs_of("chance", "shapes-pairs")
    runs = (forged, *planned[1:])
    work.__dict__["plan"] = replace(work.plan, measures={("chance", "shapes-pairs"): runs}, runs=runs)
    remake_reports_of(work)
    found = audited(root)
    mixed = [
        ("mixed", name, "runs differ in the code of recompose.tracks.czsl.methods.chance") for name in MADE_FROM_RUNS
    ]
    assert findings(found) == sorted([*mixed, *stale_rows("code changed: recompose.tracks.czsl.methods.chance")])
    assert moved(found, clean) == all_of("mixed", MADE_FROM_RUNS)
    assert found.recomputed == 2


# data sets and indexes


def test_a_changed_image_is_found(chance: Project, clean: Audit) -> None:
    image = sorted(data_of(chance.root).glob("images/*/test-*.png"))[3]
    image.write_bytes(image.read_bytes() + b"0")
    found = audited(chance.root)
    place = image.relative_to(chance.root).as_posix()
    assert findings(found) == [("tampered", place, "was changed since it was indexed")]
    assert (moved(found, clean), found.recomputed) == ({}, 2)


def test_of_many_changed_images_some_are_named_and_all_are_counted(chance: Project, clean: Audit) -> None:
    images = sorted(data_of(chance.root).glob("images/*/*.png"))[:7]
    for image in images:
        image.unlink()
    found = audited(chance.root)
    why = "was changed since it was indexed, as 7 of its files were"
    assert findings(found) == [("tampered", path.relative_to(chance.root).as_posix(), why) for path in images[:5]]


def test_a_changed_list_of_pairs_is_found(chance: Project, clean: Audit) -> None:
    (listed,) = data_of(chance.root).glob("*/train_pairs.txt")
    listed.write_text(listed.read_text() + "red circle\n")
    found = audited(chance.root)
    place = f"data/{data_of(chance.root).name}/train_pairs.txt"
    assert findings(found) == [("tampered", place, "was changed since it was indexed")]
    assert (moved(found, clean), found.recomputed) == ({}, 2)


@pytest.mark.parametrize(("name", "groups"), [("samples.csv", 40), ("pairs.json", 40), ("statistics.json", 10)])
def test_a_changed_index_is_found_and_not_measured_by(chance: Project, clean: Audit, name: str, groups: int) -> None:
    path = index_of(chance.root) / name
    path.write_text(path.read_text()[:-40])
    found = audited(chance.root)
    ((state, place, why),) = findings(found)
    assert (state, place) == ("tampered", f"results/index/{path.parent.name}/{name}")
    assert " bytes instead of " in why
    assert moved(found, clean) == all_of("unchecked", MADE_FROM_RUNS, FROM_INDEX | {"duplex/table-13": groups})


@pytest.mark.parametrize("name", ["content.json", "images.json"])
def test_a_changed_digest_of_raw_data_is_found_and_nothing_compared_with_it(
    chance: Project, clean: Audit, name: str
) -> None:
    path = index_of(chance.root) / name
    path.write_text(path.read_text()[:-40])
    found = audited(chance.root)
    ((state, place, _),) = findings(found)
    assert (state, place) == ("tampered", f"results/index/{path.parent.name}/{name}")
    assert found.report.unchecked == [f"data/{data_of(chance.root).name}: its index cannot be relied on"]
    assert (moved(found, clean), found.recomputed) == ({}, 2)


def test_a_forged_index_is_not_measured_by(chance: Project, clean: Audit) -> None:
    index = index_of(chance.root)
    edit_json(index / "statistics.json", lambda counts: counts.update(states=99))
    correct(index / "record.json", "statistics.json")
    found = audited(chance.root)
    ((state, place, why),) = findings(found)
    assert (state, place) == ("tampered", f"results/index/{index.name}")
    assert "files.statistics.json.sha256 was " in why
    assert moved(found, clean) == all_of("unchecked", MADE_FROM_RUNS, FROM_INDEX)


def test_runs_of_data_that_was_indexed_anew_are_stale(
    chance: Project, clean: Audit, monkeypatch: pytest.MonkeyPatch
) -> None:
    from recompose.phases import acquire

    image = sorted(data_of(chance.root).glob("images/*/test-*.png"))[0]
    image.write_bytes(image.read_bytes() + b"0")
    monkeypatch.chdir(chance.root)
    work, index = Workspace(chance.root), index_of(chance.root)
    old = read_json(index / "content.json")["images"][:12]
    work.store("index").discard(index.name)
    acquire(work, "shapes-pairs")
    new = read_json(index / "content.json")["images"][:12]
    started = read_json(index / "record.json")["made"]["started"]
    found = audited(chance.root)
    why = f"it was made from another images: {old}, where {new} is now"
    assert findings(found) == sorted(
        [
            ("stale", f"results/index/{index.name}", f"it was made again since the reports were, at {started}"),
            *(("stale", f"results/runs/{run.name}", why) for run in runs_of(chance.root)),
        ]
    )
    assert moved(found, clean) == all_of("stale", MADE_FROM_RUNS, FROM_INDEX)


# parameters and code


SEEDS = "methods: [chance]\n    seeds: [0, 1]"
README = ("stale", "reports/README.md", "artifacts, parameters, or the code that writes it, changed since")


def test_a_seed_that_is_not_asked_for_any_more_is_named(chance: Project, clean: Audit) -> None:
    chance.edit(SEEDS, SEEDS.replace("[0, 1]", "[0]"))
    found = audited(chance.root)
    assert findings(found) == sorted([*stale_rows("seed 1 is not asked for any more"), README])
    assert moved(found, clean) == all_of("stale", MADE_FROM_RUNS)


def test_a_seed_that_is_asked_for_now_is_named(chance: Project, clean: Audit) -> None:
    chance.edit(SEEDS, SEEDS.replace("[0, 1]", "[0, 1, 2]"))
    found = audited(chance.root)
    assert findings(found) == sorted([*stale_rows("seeds are missing: it has 2 of 3 runs"), README])
    assert moved(found, clean) == all_of("stale", MADE_FROM_RUNS)


def test_a_parameter_of_the_data_is_named(chance: Project, clean: Audit) -> None:
    chance.edit("images: {train: 400, val: 150, test: 150}", "images: {train: 400, val: 150, test: 151}")
    found = audited(chance.root)
    why = "images.test was 150 and is 151 now"
    rows = {"msci/table-1": "shapes-pairs", "duplex/table-1": "shapes-pairs"}
    groups = "Head, Medium, Tail, Unseen, Total", "Head, Medium, Tail, Seen, Unseen"
    rows |= dict(zip(("duplex/table-12", "duplex/table-13"), groups, strict=True))
    of_index = [("stale", f"{name} · {said} ({FROM_INDEX[name]} cells)", why) for name, said in rows.items()]
    assert findings(found) == sorted([*stale_rows(f"dataset.{why}"), *of_index])
    assert moved(found, clean) == all_of("stale", MADE_FROM_RUNS, FROM_INDEX)
    assert found.recomputed == 2


def test_a_parameter_that_no_run_depends_on_changes_nothing(chance: Project, clean: Audit) -> None:
    chance.edit("prompt: a photo of {name}", "prompt: a picture of {name}")
    found = audited(chance.root)
    assert (findings(found), moved(found, clean)) == ([], {})


def test_a_method_that_is_asked_for_now_is_named(chance: Project, clean: Audit) -> None:
    chance.edit("methods: [chance]", "methods: [chance, clip]")
    found = audited(chance.root)
    why = "the current parameters ask for clip on shapes-pairs, too"
    compared = ("duplex/table-3", "duplex/table-4", "msci/table-2", "msci/table-3", "msci/figure-curves")
    assert findings(found) == sorted([*(("stale", name, why) for name in compared), README])
    assert moved(found, clean) == {}
