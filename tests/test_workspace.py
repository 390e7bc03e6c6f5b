"""A project's folder: what a name in it means, and which papers fit its plan."""

import sys
from pathlib import Path

import pytest

from recompose.errors import PlanError, UnknownError
from recompose.papers.declaration import View, load_paper
from recompose.tracks import track
from recompose.workspace import PROFILE, Workspace, open_workspace
from tests.configuration import write_params
from tests.errors import raises

pytestmark = pytest.mark.slow


def test_a_recipe_is_found_by_what_people_call_it(work: Workspace) -> None:
    for recipe in (work.plan.of("backbones")[0], work.plan.of("runs")[3], work.plan.of("evaluations")[-1]):
        place = f"results/{recipe.key}"
        names = (recipe.key, place, f"{place}/", recipe.digest, recipe.folder, f"{recipe.kind}/{recipe.digest}")
        for name in (*names, recipe.folder[:9], recipe.key[:-3]):
            assert work.recipe(name) is recipe, name


def test_what_is_not_in_the_plan_is_an_error_that_names_the_nearest(work: Workspace) -> None:
    folder = work.plan.of("runs")[3].folder
    for name in ("none", "runs/none", "results/features/0123456789abcdef", "f" * 64, f"{folder[:8]}x"):
        with raises(UnknownError, "unknown-key", name) as error:
            work.recipe(name)
    assert folder in str(error.value)


def test_several_are_named_and_more_is_asked_for(work: Workspace) -> None:
    first, second = work.plan.of("runs")[:2]
    for name in ("runs", "runs/", "results/runs/"):
        with raises(UnknownError, "ambiguous-key", name) as error:
            work.recipe(name)
        assert first.key in str(error.value) and second.key in str(error.value)


@pytest.mark.parametrize("artifact", ["table-4", "figure-4"])
def test_a_misspelt_measure_names_the_nearest(work: Workspace, monkeypatch: pytest.MonkeyPatch, artifact: str) -> None:
    paper = load_paper("msci")
    misspelt = View(heading="", columns={"AUC": "test/closd/dense/auc"})
    changed = paper.artifacts[artifact].model_copy(update={"columns": {}, "views": {"exact": misspelt}})
    paper = paper.model_copy(update={"artifacts": paper.artifacts | {artifact: changed}})
    monkeypatch.setattr(track, "all_papers", lambda: [paper])
    with raises(
        PlanError, "unknown-metric", f"papers/msci/paper.yaml: artifacts.{artifact}.views.exact.columns.AUC"
    ) as error:
        _ = work.plan
    assert "'test/closed/dense/auc'" in str(error.value)
    lines = (paper.folder / "paper.yaml").read_text().splitlines()
    number = int(str(error.value).removeprefix("papers/msci/paper.yaml:").partition(":")[0])
    assert any("exact:" in line for line in lines[lines.index(f"  {artifact}:") : number])


def test_papers_are_those_that_the_profile_chooses_from_its_tracks(tmp_path: Path) -> None:
    mine = {"based_on": "demo", "gzsl": None, "czsl": {"papers": ["duplex"]}}
    write_params(tmp_path, "mine", {"profiles.mine": mine})
    assert [paper.name for paper in Workspace(tmp_path).papers] == ["clip-cae", "duplex", "fsc-clip"]


def test_a_fork_takes_the_plan_of_its_parent_until_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_params(tmp_path)
    work = open_workspace(str(tmp_path))
    assert open_workspace(str(tmp_path)) is work
    with monkeypatch.context() as other:
        other.setenv(PROFILE, "smoke")
        assert open_workspace(str(tmp_path)).params.profile == "smoke"
    write_params(tmp_path, "smoke")
    assert open_workspace(str(tmp_path)).params.profile == "smoke"
    (tmp_path / "my_plugin").mkdir()
    (tmp_path / "my_plugin/plugin.yaml").write_text("papers: []\n")
    monkeypatch.setattr("sys.path", [*sys.path])
    write_params(tmp_path, "smoke", {"plugins": ["my_plugin"]})
    work = open_workspace(str(tmp_path))
    assert open_workspace(str(tmp_path)) is work and [plugin.name for plugin in work.plugins] == ["my_plugin"]
    (tmp_path / "my_plugin/model.py").write_text("x = 1\n")
    assert open_workspace(str(tmp_path)) is not work
