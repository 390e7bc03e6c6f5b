"""The audit in bad worlds: what was done is found and named, and nothing else is blamed."""

from dataclasses import replace
from pathlib import Path

import pytest

from recompose.audit.findings import Audit
from recompose.plan import TrackPlan
from recompose.workspace import Workspace
from tests.audit.worlds import (
    MADE_FROM_EVALUATIONS,
    SHOWN,
    all_of,
    audited,
    copy_of,
    data_of,
    dirty,
    edit_json,
    evaluations_of,
    findings,
    indexes_of,
    key_of,
    moved,
    remake_reports,
    stale_rows,
)
from tests.conftest import Project

WRITTEN_BEFORE = "artifacts, parameters, or the code that writes it, changed since"


def test_the_clean_world_is_clean(clean: Audit) -> None:
    assert (findings(clean), clean.unchecked) == ([], [])
    assert {state for states in clean.states.values() for state in states.values()} == {"current"}
    assert (clean.evaluations, clean.recomputed) == (2, 2)
    assert {name: len(states) for name, states in clean.states.items() if states} == SHOWN


def test_an_audit_writes_nothing(root: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()}
    audited(root)
    after = {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()}
    assert after == before


# evaluations


@pytest.mark.parametrize("where", ["record", "reports", "both"])
def test_a_dirty_tree_that_is_denied_is_found(
    root: Path, clean: Audit, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Where both are forged, nothing on this disk says otherwise, but the marks that stand on the artifacts."""
    first, _ = evaluations_of(root)
    dirty(root, first, monkeypatch)
    if where != "reports":
        edit_json(first / "record.json", lambda record: record["made"].update(dirty=False))
    if where != "record":
        edit_json(root / "reports/smoke/made.json", lambda made: made["results"][key_of(first)].update(dirty=False))
    found = audited(root)
    if where == "both":
        assert {place.partition(".")[0] for state, place, _ in findings(found) if state == "stale"} >= {
            f"reports/smoke/{name}" for name in MADE_FROM_EVALUATIONS if "table" in name
        }
    else:
        record, why = f"results/{key_of(first)}/record.json", "differs from its entry in reports/smoke/made.json"
        assert ("tampered", record, why) in findings(found)
        assert all("git diff" in finding.remedy for finding in found.findings if finding.place == record)
        assert moved(found, clean) == all_of("tampered", MADE_FROM_EVALUATIONS)


def test_evaluations_of_two_code_versions_are_found(root: Path, clean: Audit) -> None:
    """A record as an older evaluation would have it: its code is another one, and its digest with it."""
    module = "recompose.tracks.czsl.methods.chance"
    folder, _ = evaluations_of(root)
    work = Workspace(root)
    planned = work.plan.evaluations("czsl", "chance", "shapes-pairs")
    old = replace(planned[0], code={**planned[0].code, module: "0" * 64})
    moved_to = folder.rename(folder.parent / old.folder)
    edit_json(moved_to / "record.json", lambda record: record.update(old.description().plain()))
    plan = work.plan.tracks["czsl"]
    evaluations = {**plan.evaluations, ("chance", "shapes-pairs"): (old, *planned[1:])}
    tracks = {"czsl": TrackPlan(plan.benchmarks, evaluations, plan.methods)}
    work.__dict__["plan"] = replace(work.plan, tracks=tracks)
    remake_reports(root, work)
    found = audited(root)
    mixed = [("mixed", name, f"runs differ in the code of {module}") for name in MADE_FROM_EVALUATIONS]
    assert findings(found) == sorted([*mixed, *stale_rows(f"code changed: {module}")])
    assert moved(found, clean) == {name: {"mixed": count} for name, count in MADE_FROM_EVALUATIONS.items()}
    assert found.recomputed == 2


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
    assert findings(found) == [("tampered", place, "was changed since it was indexed")]
    assert (moved(found, clean), found.recomputed) == ({}, 2)
    for image in images[:7]:
        image.unlink()
    why = "was changed since it was indexed, one of 7 changed files"
    named = [("tampered", path.relative_to(with_data).as_posix(), why) for path in images[:5]]
    assert findings(audited(with_data)) == named


def test_raw_data_that_is_not_here_is_not_checked_and_nothing_is_blamed(root: Path, clean: Audit) -> None:
    (root / "data").unlink()
    found = audited(root)
    assert (findings(found), moved(found, clean)) == ([], {})
    assert sorted(line for line in found.unchecked if line.startswith("data/")) == sorted(
        f"data/shapes-pairs-{index.name}: its raw files are not on this disk" for index in indexes_of(root)
    )


# parameters and code


SEEDS = "profiles.smoke.czsl.seeds"
README = ("stale", "reports/smoke/README.md", WRITTEN_BEFORE)


def test_a_seed_that_is_not_asked_for_any_more_is_named(root: Path, clean: Audit) -> None:
    Project(root).set({SEEDS: [0]})
    found = audited(root)
    stale = {each for each in findings(found) if each[0] == "stale"}
    assert stale >= {*stale_rows("seed 1 is no longer planned"), README}
    assert {place.partition(" ")[0] for _, place, _ in stale} <= {*MADE_FROM_EVALUATIONS, *INDEXED}
    assert moved(found, clean) == all_of("stale", MADE_FROM_EVALUATIONS)


INDEX = ("README.md", "msci/README.md", "duplex/README.md", "metrics.json", "curves.csv", "index.html")
INDEXED = {f"reports/smoke/{name}" for name in INDEX}


def test_a_seed_that_is_asked_for_now_is_named(root: Path, clean: Audit) -> None:
    Project(root).set({SEEDS: [0, 1, 2]})
    found = audited(root)
    assert findings(found) == sorted(stale_rows("seeds are missing: it has 2 of 3 evaluations"))
    assert moved(found, clean) == all_of("stale", MADE_FROM_EVALUATIONS)
    assert "the index: it needs evaluations that are missing or not valid" in found.unchecked


def test_a_parameter_that_nothing_stored_depends_on_changes_nothing(root: Path, clean: Audit) -> None:
    Project(root).set({"czsl.feasibility.prompt": "a picture of {name}"})
    found = audited(root)
    assert (findings(found), moved(found, clean)) == ([], {})


def test_a_method_that_is_asked_for_now_is_named(root: Path, clean: Audit) -> None:
    Project(root).set({"profiles.smoke.czsl.methods": ["chance", "clip"]})
    found = audited(root)
    why = "the current parameters also ask for clip on shapes-pairs"
    compared = (
        "duplex/table-3",
        "duplex/table-4",
        "msci/table-2",
        "msci/table-3",
        "msci/figure-curves",
        "msci/factors",
    )
    assert findings(found) == sorted(("stale", name, why) for name in (*compared, "msci/one-scale"))
    assert moved(found, clean) == {}
