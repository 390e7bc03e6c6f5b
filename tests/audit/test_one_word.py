"""One word for a number everywhere: whatever was done, trace, audit and page say the same of a cell, and status of
what is stored.
"""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recompose import fingerprint as fingerprints
from recompose.audit.audit import audit_artifacts
from recompose.audit.trust import STATES
from recompose.commands.status import store_item
from recompose.commands.trace import Artifact, TraceResult, trace
from recompose.site.document import Site
from recompose.tables import caveats
from recompose.tables.caveats import committed_since
from recompose.tables.published import PublishedLineage
from recompose.workspace import Workspace
from tests.audit.test_audit import again, dirty, other_measures, zeroed
from tests.audit.worlds import (
    DATA_RENAMED,
    ONE_IMAGE_MORE,
    PAPERS_LOADED,
    audited,
    correct,
    edit_json,
    evaluations_of,
    index_of,
    remake_reports,
    replace_once,
)
from tests.conftest import Project, environment

TABLE, ROW, COLUMN, VIEW = "msci/table-2", "chance", "shapes-pairs S", "exact"
CSV, LINEAGE = f"reports/smoke/{TABLE}.csv", f"reports/smoke/{TABLE}.lineage.json"
Patch = pytest.MonkeyPatch


def nothing(root: Path, patch: Patch) -> None:
    pass


def scores_zeroed(root: Path, patch: Patch) -> None:
    zeroed(evaluations_of(root)[0] / "scores.safetensors")


def lineage_edited(root: Path, patch: Patch) -> None:
    def edit(lineage: dict[str, Any]) -> None:
        cell = next(cell for cell in lineage["cells"] if (cell["column"], cell["view"]) == (COLUMN, VIEW))
        cell.update(text="9.9 ± 1.1", value=9.9, values=[9.9, 9.9])

    edit_json(root / LINEAGE, edit)


def csv_edited(root: Path, patch: Patch) -> None:
    replace_once(root / CSV, f"{COLUMN},measured,{VIEW},0.8 ± 1.1,0.793651", f"{COLUMN},measured,{VIEW},9.9 ± 1.1,9.9")


def csv_forged_with_its_digest(root: Path, patch: Patch) -> None:
    csv_edited(root, patch)
    correct(root / LINEAGE, "table-2.csv")


def csv_and_lineage_forged(root: Path, patch: Patch) -> None:
    csv_edited(root, patch)
    lineage_edited(root, patch)
    correct(root / LINEAGE, "table-2.csv")


def record_forged(root: Path, patch: Patch) -> None:
    scores_zeroed(root, patch)
    correct(evaluations_of(root)[0] / "record.json", "scores.safetensors")


def made_again_otherwise(root: Path, patch: Patch) -> None:
    again(evaluations_of(root)[0], otherwise=True)


def data_changed(root: Path, patch: Patch) -> None:
    path = index_of(root) / "samples.csv"
    path.write_text(path.read_text().replace("test", "tset", 1))


def results_absent(root: Path, patch: Patch) -> None:
    shutil.rmtree(root / "results")


def sources_dirty(root: Path, patch: Patch) -> None:
    dirty(root, evaluations_of(root)[0], patch)


def sources_committed_since(root: Path, patch: Patch) -> None:
    patch.setattr(caveats, "_find_commit", lambda code: "abc1234")
    edit_json(evaluations_of(root)[0] / "record.json", lambda record: record["made"].update(dirty=True))
    remake_reports(root)


def params_edited(root: Path, patch: Patch) -> None:
    Project(root).set(ONE_IMAGE_MORE)


def measures_edited(root: Path, patch: Patch) -> None:
    other_measures(patch)


def data_set_renamed(root: Path, patch: Patch) -> None:
    Project(root).set(DATA_RENAMED)


def seed_missing(root: Path, patch: Patch) -> None:
    shutil.rmtree(evaluations_of(root)[0])
    remake_reports(root)


def other_machine(root: Path, patch: Patch) -> None:
    edit_json(evaluations_of(root)[0] / "record.json", lambda record: record["made"].update(device="1 x GPU"))
    remake_reports(root)


WORLDS: list[tuple[Callable[[Path, Patch], None], str]] = [
    (nothing, "current"),
    (scores_zeroed, "tampered"),
    (lineage_edited, "tampered"),
    (csv_edited, "tampered"),
    (csv_forged_with_its_digest, "tampered"),
    (csv_and_lineage_forged, "tampered"),
    (record_forged, "tampered"),
    (made_again_otherwise, "stale"),
    (data_changed, "tampered"),
    (results_absent, "unchecked"),
    (sources_dirty, "uncommitted"),
    (sources_committed_since, "current"),
    (params_edited, "stale"),
    (measures_edited, "stale"),
    (data_set_renamed, "stale"),
    (seed_missing, "incomplete"),
    (other_machine, "mixed"),
]


def traced(root: Path) -> TraceResult:
    work = Workspace(root)
    return trace(work, Artifact.read(work.declared, root / CSV), ROW, COLUMN, VIEW)


@pytest.mark.parametrize(("world", "word"), WORLDS, ids=[world.__name__ for world, _ in WORLDS])
def test_everything_says_the_same_word(
    root: Path, monkeypatch: Patch, world: Callable[[Path, Patch], None], word: str
) -> None:
    world(root, monkeypatch)
    key = ("measured", VIEW, ROW, COLUMN)
    work = Workspace(root)
    published = PublishedLineage.read(work.reports, PAPERS_LOADED)
    found, of_page, cell = audited(root), audit_artifacts(work, PAPERS_LOADED, published), traced(root)
    assert (found.states[TABLE][key], of_page.states[TABLE][key], cell.state) == (word, word, word)
    assert found.why[TABLE].get(key, []) == of_page.why[TABLE].get(key, []) == cell.why
    assert bool(cell.why) == (word != "current")
    site = Site(PAPERS_LOADED, published, of_page, work.params).document()
    of_cell = [
        c for c in site["cells"] if (c["artifact"], c["row"], c["column"], c["view"]) == (TABLE, ROW, COLUMN, VIEW)
    ]
    assert [(each["state"], each["why"]) for each in of_cell] == [(word, cell.why)]
    assert cell.is_current == (word == "current")


def test_every_word_is_said_of_some_world() -> None:
    assert {word for _, word in WORLDS} == set(STATES)


@pytest.mark.parametrize("world", [scores_zeroed, data_changed])
def test_status_says_it_of_what_is_stored(root: Path, monkeypatch: Patch, world: Callable[[Path, Patch], None]) -> None:
    def items(state: str) -> list[str]:
        work = Workspace(root)
        return [item.key for item in (store_item(work, recipe) for recipe in work.plan.recipes) if item.state == state]

    assert not items("tampered")
    world(root, monkeypatch)
    (key,) = items("tampered")
    assert f"results/{key}/" in " ".join(traced(root).why)


def test_without_results_a_number_is_not_verified_here(root: Path, monkeypatch: Patch) -> None:
    assert traced(root).word == "current"
    results_absent(root, monkeypatch)
    cell = traced(root)
    assert (cell.word, cell.is_current) == ("not verified here", False)
    assert all("is not on this disk" in why for why in cell.why[:3])


def test_what_was_committed_since_is_current_and_says_so(root: Path, monkeypatch: Patch) -> None:
    assert traced(root).note == ""
    sources_committed_since(root, monkeypatch)
    assert traced(root).note == "committed since, in abc1234"


def forget() -> None:
    """A process reads sources, and asks git of them, once."""
    for kept in (fingerprints._read_own, fingerprints._is_inside, fingerprints._own_closure, caveats._find_commit):
        kept.cache_clear()


def test_code_that_was_committed_since_is_that_of_a_commit_and_no_other(tmp_path: Path, monkeypatch: Patch) -> None:
    """A repository with one module: uncommitted, committed, edited again, and edited in its comments alone."""
    source = tmp_path / "src/recompose/odd.py"
    source.parent.mkdir(parents=True)
    (tmp_path / "requirements.lock").touch()
    for module in (fingerprints, caveats):
        monkeypatch.setattr(module, "ROOT", source.parent)

    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=tmp_path, env=environment(), check=True, capture_output=True)

    def written(text: str) -> dict[str, str]:
        source.write_text(text)
        forget()
        return fingerprints.fingerprint(["recompose.odd"])

    git("init", "--quiet")
    try:
        code = written("x = 1\n")
        assert committed_since(code) is None
        git("add", "--all")
        git("commit", "--quiet", "--message", "it")
        caveats._find_commit.cache_clear()
        commit = committed_since(code)
        assert commit
        other = written("x = 2\n")
        assert committed_since(code) is committed_since(other) is None
        assert written("x = 1  # one\n") == code
        assert committed_since(code) is None  # what would be cloned has another file
        assert written("x = 1\n") == code
        assert committed_since(code) == commit
        assert committed_since(code | {"recompose.gone": "0"}) is committed_since({}) is None
    finally:
        forget()
