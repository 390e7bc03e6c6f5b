"""What a few steps took, and what whole runs will take by that."""

from pathlib import Path

import pytest

from recompose.costs import Costs
from recompose.files import read_json
from recompose.plan import Recipe
from recompose.timing import FILE, Timing, Timings, timing_kind
from recompose.workspace import Workspace
from tests.configuration import write_params


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    """A project with the profile of the papers' data, of which nothing is there."""
    write_params(tmp_path, "paper")
    return Workspace(tmp_path)


def calibrated(dataset: str = "mit-states", backbone: str = "clip-vit-l-14", **changed: object) -> Timing:
    fields = {"method": "csp", "dataset": dataset, "backbone": backbone, "host": "h", "device": "d", "steps": 4}
    times = {"setup_seconds": 10.0, "image_seconds": 0.001, "memory_bytes": 2**30}
    return Timing.model_validate({**fields, **times, **changed})


def run_of(work: Workspace, method: str, dataset: str = "mit-states") -> Recipe:
    return work.plan.evaluations("czsl", method, dataset)[0].needs["run"]


def test_whole_runs_take_as_many_images_and_epochs_as_they_have(work: Workspace) -> None:
    Timings({}).write(work.results, [calibrated()])
    estimate = Costs.of(work, work.plan).estimate(run_of(work, "csp"))
    assert estimate is not None
    assert estimate.seconds == pytest.approx(10 + 0.001 * 20 * 30338)  # 20 epochs of MIT-States
    assert (estimate.memory, estimate.basis, estimate.where) == (2**30, "timed", ("h, d",))


def test_it_holds_for_its_method_data_set_and_backbone_alone(work: Workspace) -> None:
    Timings({}).write(work.results, [calibrated(), calibrated("cgqa", "clip-rn50")])
    costs = Costs.of(work, work.plan)
    assert costs.estimate(run_of(work, "coop")) is None
    assert costs.estimate(run_of(work, "csp", "ut-zappos")) is None
    assert costs.estimate(run_of(work, "csp", "cgqa")) is None
    assert costs.estimate(work.plan.evaluations("czsl", "csp", "mit-states")[0]) is None
    others = [run for run in work.plan.of("runs") if timing_kind(run)[2] == "clip-rn50"]
    assert others
    assert all(costs.estimate(run) is None for run in others if run.labels["dataset"] == "mit-states")


def test_later_calibrations_replace_earlier_ones_of_the_same(tmp_path: Path) -> None:
    Timings({}).write(tmp_path, [calibrated(), calibrated("cgqa")])
    Timings.read(tmp_path).write(tmp_path, [calibrated(image_seconds=0.5)])
    found = Timings.read(tmp_path).runs
    assert {kind: each.image_seconds for kind, each in found.items()} == {
        ("csp", "mit-states", "clip-vit-l-14"): 0.5,
        ("csp", "cgqa", "clip-vit-l-14"): 0.001,
    }


@pytest.mark.parametrize("text", ["", "[", "[]", "{}", '{"runs": 3}', '{"runs": [{"method": "csp"}]}'])
def test_a_file_that_is_none_of_ours_says_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    assert Timings.read(tmp_path) == Timings({})
    Timings({}).write(tmp_path, [calibrated()])
    assert len(read_json(tmp_path / FILE)["runs"]) == 1
