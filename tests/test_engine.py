"""Receipts hold while what they name is as it was."""

from pathlib import Path

import pytest

from recompose.receipts import Receipts, drop_outdated, holds, write_receipt
from recompose.workspace import Workspace
from tests.conftest import ROOT


def test_a_receipt_holds_until_a_file_changes_or_goes(tmp_path: Path) -> None:
    one, two, receipt = tmp_path / "one", tmp_path / "two", tmp_path / "receipts" / "r.json"
    one.write_text("1")
    two.write_text("2")
    write_receipt(receipt, tmp_path, [one, two])
    assert holds(receipt, tmp_path)
    two.write_text("3")
    assert not holds(receipt, tmp_path)
    two.write_text("2")
    assert holds(receipt, tmp_path)
    one.unlink()
    assert not holds(receipt, tmp_path)


def test_no_receipt_or_nonsense_in_it_does_not_hold(tmp_path: Path) -> None:
    assert not holds(tmp_path / "none.json", tmp_path)
    for text in ("", "[]", "3", '{"one": 1}'):
        (tmp_path / "r.json").write_text(text)
        assert not holds(tmp_path / "r.json", tmp_path)


def test_only_outdated_receipts_are_dropped(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("1")
    good, bad, none = (tmp_path / name for name in ("good.json", "bad.json", "none.json"))
    write_receipt(good, tmp_path, [file])
    bad.write_text('{"file": "0"}')
    assert drop_outdated([good, bad, none], tmp_path) == [bad]
    assert good.exists()
    assert not bad.exists()


@pytest.mark.parametrize("profile", ["demo", "paper"])
def test_a_receipt_says_what_it_is_about_and_what_has_to_be_there_before(tmp_path: Path, profile: str) -> None:
    text = (ROOT / "params.yaml").read_text().replace("profile: demo", f"profile: {profile}")
    (tmp_path / "params.yaml").write_text(text)
    work = Workspace(tmp_path)
    plan, receipts = work.plan, Receipts(work)

    def path(phase: str, folder: str) -> str:
        return f"results/receipts/{phase}/{folder}.json"

    assert {receipts.dataset(recipe.folder): recipe for recipe in plan.datasets.values()} == plan.datasets
    assert {receipts.backbone(recipe.folder): recipe for recipe in plan.backbones.values()} == plan.backbones
    assert {receipts.features(recipe.folder): recipe for recipe in plan.features.values()} == plan.features
    for phase, recipes in (("data", plan.datasets), ("backbone", plan.backbones)):
        assert receipts.all(phase) == [path(phase, recipe.folder) for recipe in recipes.values()]
    for (dataset, backbone), recipe in plan.features.items():
        assert receipts.before_features(recipe.folder) == [
            path("data", plan.datasets[dataset].folder),
            path("backbone", plan.backbones[backbone].folder),
        ]
    for batch in plan.batches:
        data, *features = receipts.before_batch(batch.name)
        assert data == path("data", plan.datasets[batch.dataset].folder)
        of = [plan.features[batch.dataset, batch.backbone]] if batch.backbone else []
        assert features == [path("features", recipe.folder) for recipe in of]


def test_processes_are_given_their_threads_and_gpus(tmp_path: Path) -> None:
    for profile, pretrained, on_backbone, gpus in (("demo", 2, 1, 0), ("paper", 1, 8, 1)):
        text = (ROOT / "params.yaml").read_text().replace("profile: demo", f"profile: {profile}")
        (tmp_path / "params.yaml").write_text(text)
        work = Workspace(tmp_path)
        receipts = Receipts(work)
        assert {receipts.threads_of_backbone(made.folder) for made in work.plan.backbones.values()} == {pretrained}
        for batch in work.plan.batches:
            wanted = (on_backbone, gpus) if batch.backbone else (1, 0)
            assert (receipts.threads(batch.name), receipts.gpus(batch.name)) == wanted
