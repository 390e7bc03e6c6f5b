"""The link of an experiment that DVC runs apart to what the project has."""

import runpy
from pathlib import Path

import pytest

from tests.conftest import ROOT

SCRIPT = ROOT / "workflow/scripts/share_results.py"


def contents(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


@pytest.mark.parametrize("apart", [".dvc/tmp/exps/tmp1", ".dvc/tmp/exps/standalone/tmp2"])
def test_an_experiment_apart_finds_what_is_made_and_leaves_what_it_makes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, apart: str
) -> None:
    folder = tmp_path / apart
    for path in (tmp_path / "results/runs/old", tmp_path / "data/mit-states", folder / "data/kept"):
        path.mkdir(parents=True)
    (folder / "data/kept/file").touch()
    (tmp_path / "data/kept").mkdir()  # DVC has put its own version into the experiment's folder
    monkeypatch.chdir(folder)
    runpy.run_path(str(SCRIPT))
    assert (folder / "results/runs/old").is_dir() and (folder / "data/mit-states").is_dir()
    assert (folder / "data/kept/file").exists()
    (folder / "results/evaluations/new").mkdir()
    assert (tmp_path / "results/evaluations/new").is_dir()


def test_anywhere_else_nothing_is_linked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "exps/tmp1").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "exps/tmp1")
    runpy.run_path(str(SCRIPT))
    assert contents(tmp_path) == {"exps", "exps/tmp1"}
