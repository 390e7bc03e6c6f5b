"""Receipts: they are valid while what they name is unchanged."""

import json
from pathlib import Path

import pytest

from recompose.engine import Engine, LocalMachine
from recompose.errors import DamagedError
from recompose.papers.declaration import load_paper
from recompose.receipts import ALL
from recompose.report.kinds import artifact_files
from recompose.workspace import Workspace
from tests.errors import raises

pytestmark = pytest.mark.slow


@pytest.fixture
def engine(work: Workspace) -> Engine:
    return Engine(work, LocalMachine(2))


def test_a_receipt_holds_until_a_file_changes_or_goes(engine: Engine) -> None:
    root = engine.work.root
    one, two, receipt = root / "one", root / "two", root / "receipts" / "r.json"
    one.write_text("1")
    two.write_text("2")
    engine.receipts.write(receipt, [one, two])
    assert engine.receipts.is_valid(receipt)
    two.write_text("3")
    assert not engine.receipts.is_valid(receipt)
    two.write_text("2")
    assert engine.receipts.is_valid(receipt)
    one.unlink()
    assert not engine.receipts.is_valid(receipt)


def test_a_receipt_holds_while_what_is_stored_is_as_it_was(engine: Engine) -> None:
    work, file = engine.work, engine.work.root / "table.csv"
    file.write_text("1")
    there, missing = work.plan.of("data")[:2]
    with work.store.build(there) as folder:
        assert folder
        (folder / "index.json").write_text("{}")
    receipt = work.root / "r.json"
    engine.receipts.write(receipt, [file], [there, missing])
    assert engine.receipts.is_valid(receipt)
    with work.store.build(missing):
        pass
    assert not engine.receipts.is_valid(receipt)  # there is more now than it was made from
    work.store.discard(missing.key)
    assert engine.receipts.is_valid(receipt)
    work.store.discard(there.key)
    with work.store.build(there) as folder:
        assert folder
        (folder / "index.json").write_text("{ }")
    assert not engine.receipts.is_valid(receipt)
    work.store.discard(there.key)
    with work.store.build(there) as folder:
        assert folder
        (folder / "index.json").write_text("{}")
        (folder / "log.txt").write_text("on another day")
    assert engine.receipts.is_valid(receipt)


def test_a_receipt_of_what_is_not_planned_any_more_does_not_hold(engine: Engine, tmp_path: Path) -> None:
    work, file = engine.work, engine.work.root / "table.csv"
    file.write_text("1")
    engine.receipts.write(work.root / "r.json", [file], [work.plan.of("runs")[0]])
    assert engine.receipts.is_valid(work.root / "r.json")
    edited = Engine(Workspace(work.root, ("czsl.datasets.shapes-pairs.seed=8",)), LocalMachine(2))
    assert not edited.receipts.is_valid(work.root / "r.json")


def test_no_receipt_or_nonsense_in_it_does_not_hold(engine: Engine) -> None:
    path = engine.work.root / "r.json"
    assert not engine.receipts.is_valid(path)
    texts = ("", "[]", "3", '{"files": {"one": 1}, "contents": {}}', '{"files": {}, "contents": {}}', '{"files": {}}')
    for text in texts:
        path.write_text(text)
        assert not engine.receipts.is_valid(path), text
    path.unlink()
    path.mkdir()
    assert not engine.receipts.is_valid(path)


def write_artifacts(engine: Engine, name: str) -> None:
    """Files in place of those of a paper's artifacts, and what states that they are made."""
    paper, work = load_paper(name), engine.work
    files = [work.reports / name / file for artifact in paper.artifacts for file in artifact_files(paper, artifact)]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"records": {}}))
    engine.receipts.write_artifacts(paper, paper.artifacts)
    needs = {need.key: need for each in paper.artifacts for need in engine.artifacts[name, each].needs.values()}
    engine.receipts.write(work.root / engine.receipts.paper(ALL, name), files, needs.values())


def test_reconciled_receipts_are_shared_between_scopes_and_those_that_hold_no_longer_go(engine: Engine) -> None:
    work = engine.work
    assert engine.reconcile() == []
    for name in ("msci", "duplex"):
        write_artifacts(engine, name)
    assert engine.reconcile() == []
    paths = {
        name: [work.root / engine.receipts.paper(scope, name) for scope in (ALL, name)] for name in ("msci", "duplex")
    }
    assert all(path.exists() for of_paper in paths.values() for path in of_paper)
    (work.reports / "msci/table-2.csv").write_text("edited")
    assert set(engine.reconcile()) == set(paths["msci"])
    assert not any(path.exists() for path in paths["msci"])
    assert all(path.exists() for path in paths["duplex"])


def test_a_stamp_is_newer_than_an_artifact_exactly_where_that_is_due(engine: Engine) -> None:
    work = engine.work
    write_artifacts(engine, "msci")
    (work.reports / "msci/table-3.tex").write_text("edited")
    (work.reports / "msci/table-4.lineage.json").unlink()
    engine.reconcile()
    due = {
        name
        for name in load_paper("msci").artifacts
        if (work.root / engine.receipts.stamp("msci", name)).stat().st_mtime
        > (work.reports / "msci/table-1.csv").stat().st_mtime
    }
    old = {
        name
        for name in load_paper("msci").artifacts
        if (work.root / engine.receipts.stamp("msci", name)).stat().st_mtime == 0
    }
    assert due == {"table-3", "table-4"}
    assert old == set(load_paper("msci").artifacts) - due


def test_what_a_workflow_would_build_on_is_read_before_it_starts(engine: Engine) -> None:
    data = engine.work.plan.of("data")[0]
    with engine.work.store.build(data) as folder:
        assert folder
        (folder / "index.json").write_text("{}")
    engine.reconcile()
    (folder / "index.json").write_text("{ ")
    with raises(DamagedError, place="index.json"):
        engine.reconcile()


@pytest.mark.parametrize("place", ["results/evaluations", "results/receipts"])
def test_a_file_in_the_place_of_a_folder_is_named(engine: Engine, place: str) -> None:
    path = engine.work.root / place
    path.parent.mkdir(parents=True)
    path.write_text("")
    with raises(DamagedError, "misplaced", path.name):
        engine.reconcile()


def test_a_folder_in_the_place_of_a_receipt_is_named(engine: Engine) -> None:
    path = engine.work.root / engine.receipts.paper(ALL, "msci")
    path.mkdir(parents=True)
    with raises(DamagedError, "misplaced", path):
        engine.reconcile()
