"""A few steps of each track's methods, in place of whole runs."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from recompose.cli import app
from recompose.monitor.arrays import layout
from recompose.monitor.timing_runs import representatives
from recompose.timing import Timings
from recompose.workspace import Workspace
from tests.configuration import new_workspace


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.chdir(tmp_path)
    return new_workspace(tmp_path, "smoke")


def test_each_method_stands_once_for_each_backbone(work: Workspace) -> None:
    kinds = [(run.labels["method"], run.labels["dataset"]) for run in representatives(work, ["csp", "ale"])]
    assert sorted(kinds) == [("ale", "shapes-classes"), ("csp", "shapes-pairs")]
    assert all(run.labels["name"] == run.labels["method"] for run in representatives(work, ["csp", "ale"]))
    tuned = representatives(work, ["fsc-clip"])
    names = {"shapes-clip", "shapes-clip-fine", "shapes-clip-sentences-from-scratch"}
    assert {run.needs["backbone"].name for run in tuned} == names
    assert len({(run.needs["backbone"].name, run.labels["dataset"]) for run in tuned}) == len(tuned)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["csp", "ale", "eszsl", "fsc-clip"])
def test_a_few_steps_tell_time_and_memory_of_what_was_never_run(
    work: Workspace, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    if method == "fsc-clip":
        monkeypatch.setattr(
            "recompose.tracks.vlc.training.count_at_paper_scale", lambda build: 7
        )  # takes a second each
    done = CliRunner().invoke(app, ["timing", method])
    assert done.exit_code == 0, done.output
    found = [each for kind, each in Timings.read(work.results).runs.items() if kind[0] == method]
    assert found
    assert all(each.setup_seconds + each.image_seconds > 0 for each in found)
    planned = json.loads(CliRunner().invoke(app, ["plan", "--json"]).stdout)
    runs = [run for run in planned["runs"] if run["method"] == method]
    assert runs
    assert {run["estimate"]["basis"] for run in runs} == {"timed"}
    assert sorted(path.name for path in work.results.iterdir()) == ["jobs", "timings.json"]


@pytest.mark.slow
def test_what_cannot_be_trained_is_said_and_the_others_are_calibrated(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "recompose.monitor.timing_runs.layout", lambda cached: None if cached.kind == "features" else layout(cached)
    )
    done = CliRunner().invoke(app, ["timing", "csp", "eszsl"])
    assert done.exit_code == 1
    assert "csp on shapes-pairs, seed 0: shapes-pairs by shapes-clip: " in done.output
    assert [kind[0] for kind in Timings.read(work.results).runs] == ["eszsl"]
