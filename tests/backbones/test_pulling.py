"""Backbones that are pulled by digest: what is wrong is refused, and what was pulled is named."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from recompose import phases, store
from recompose.audit.trust import TrustEvaluator
from recompose.backbones.pulling import REMOTE, is_pretrained
from recompose.errors import DamagedError, DataError
from recompose.phases import PHASES, Phase
from recompose.plan import Recipe, closure
from recompose.tables.lineage import write_made
from recompose.tables.published import PublishedLineage
from recompose.workspace import Workspace
from tests.audit.invented import cell_of, lineage_of
from tests.audit.worlds import edit_json
from tests.configuration import write_params
from tests.errors import raises

pytestmark = pytest.mark.slow


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The keys of what is made, in order: each writes a file and nothing else."""
    keys: list[str] = []

    def write(_: Workspace, recipe: Recipe, folder: Path) -> None:
        keys.append(recipe.key)
        (folder / "weights.safetensors").write_text(recipe.key)

    monkeypatch.setattr(phases, "PHASES", {kind: Phase("", write) for kind in PHASES})
    monkeypatch.setattr(phases, "raw_folder", lambda work, recipe: work.data)
    monkeypatch.setattr(store, "state_of_sources", lambda: {"commit": None, "dirty": None})
    return keys


def workspace(root: Path) -> Workspace:
    root.mkdir()
    write_params(root, "large")
    return Workspace(root)


def backbone_of(work: Workspace) -> Recipe:
    return next(recipe for recipe in work.plan.of("backbones") if is_pretrained(recipe))


@pytest.fixture
def remote(made: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Another project with the backbone, which the variable names."""
    other = workspace(tmp_path / "other")
    phases.make(other, closure([backbone_of(other)]))
    made.clear()
    monkeypatch.setenv(REMOTE, str(other.results))
    return other


def test_a_backbone_is_pulled_and_its_corpus_is_not_made(remote: Workspace, made: list[str], tmp_path: Path) -> None:
    work = workspace(tmp_path / "project")
    backbone = backbone_of(work)
    phases.make(work, closure([backbone]))
    assert made == []
    assert work.store.verify(backbone).made.pulled_from == str(remote.results)
    assert work.store.record(backbone).content == remote.store.record(backbone).content
    assert not work.store.is_complete(backbone.needs["corpus"])
    phases.make(work, closure([backbone]))
    assert made == []


def test_nothing_is_pulled_unless_the_variable_asks_for_it(
    remote: Workspace, made: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(REMOTE)
    work = workspace(tmp_path / "project")
    phases.make(work, closure([backbone_of(work)]))
    assert made == [backbone_of(work).needs["corpus"].key, backbone_of(work).key]
    assert work.store.record(backbone_of(work)).made.pulled_from is None


def test_a_backbone_that_the_remote_lacks_is_made(remote: Workspace, made: list[str], tmp_path: Path) -> None:
    shutil.rmtree(remote.store.folder(backbone_of(remote)))
    work = workspace(tmp_path / "project")
    phases.make(work, closure([backbone_of(work)]))
    assert backbone_of(work).key in made


def _change(folder: Path) -> None:
    (folder / "weights.safetensors").write_text("changed")


def _remove(folder: Path) -> None:
    (folder / "weights.safetensors").unlink()


def _lead_outside(folder: Path) -> None:
    edit_json(folder / "record.json", lambda record: record["files"].update({"../outside": record["files"]["log.txt"]}))


def _describe_another(folder: Path) -> None:
    edit_json(folder / "record.json", lambda record: record["document"].update(seed=99))


@pytest.mark.parametrize("spoil", [_change, _remove, _lead_outside, _describe_another])
def test_what_is_wrong_in_the_remote_is_refused(
    remote: Workspace, made: list[str], tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    spoil(remote.store.folder(backbone_of(remote)))
    work = workspace(tmp_path / "project")
    with raises(DamagedError):
        phases.make(work, closure([backbone_of(work)]))
    assert not work.store.is_complete(backbone_of(work))
    assert not list(work.results.rglob("outside"))


def test_a_remote_that_is_no_folder_is_an_error(
    made: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(REMOTE, str(tmp_path / "nowhere"))
    work = workspace(tmp_path / "project")
    with raises(DataError, "no-remote", REMOTE):
        phases.make(work, closure([backbone_of(work)]))
    assert made == []


def test_a_number_says_that_its_backbone_was_pulled(remote: Workspace, tmp_path: Path) -> None:
    work = workspace(tmp_path / "project")
    backbone = backbone_of(work)
    phases.make(work, closure([backbone]))
    evaluation = next(e for e in work.plan.of("evaluations") if backbone in closure([e]))
    lineage = lineage_of([evaluation], [cell_of("row", [evaluation])])
    lineage.records[backbone.key] = work.store.record(backbone).stable
    write_made(work.reports, {})
    evaluator = TrustEvaluator(work, PublishedLineage({"msci/table-2": lineage}))
    trust = evaluator.trust("msci/table-2", lineage.cells[0])
    assert backbone.key in trust.note
    assert str(remote.results) in trust.note


def test_the_origin_alone_does_not_make_a_record_differ_from_the_reports(remote: Workspace, tmp_path: Path) -> None:
    work = workspace(tmp_path / "project")
    backbone = backbone_of(work)
    phases.make(work, closure([backbone]))
    lineage = lineage_of([], [])
    lineage.records[backbone.key] = work.store.record(backbone).stable
    made = {backbone.key: remote.store.record(backbone).made}
    evaluator = TrustEvaluator(work, PublishedLineage({"msci/table-2": lineage}, made))
    assert evaluator.stored[backbone.key] == []
