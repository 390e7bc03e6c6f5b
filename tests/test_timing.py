"""What a few steps took, and what whole runs will take by that."""

from pathlib import Path

import pytest

from recompose.costs import Costs
from recompose.files import read_json
from recompose.plan import Recipe
from recompose.timing import FILE, Timings, timing_kind
from recompose.workspace import Workspace
from tests.configuration import new_workspace, timing_of

pytestmark = pytest.mark.slow


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    """A project with the profile of the papers' data, of which nothing is there."""
    return new_workspace(tmp_path, "paper")


def run_of(work: Workspace, method: str, dataset: str = "mit-states") -> Recipe:
    return work.plan.evaluations("czsl", method, dataset)[0].needs["run"]


def test_whole_runs_take_as_many_images_and_epochs_as_they_have(work: Workspace) -> None:
    Timings({}).write(work.results, [timing_of()])
    estimate = Costs.of(work, work.plan).estimate(run_of(work, "csp"))
    assert estimate is not None
    assert estimate.seconds == pytest.approx(10 + 0.001 * 20 * 30338)  # 20 epochs of MIT-States
    assert (estimate.memory, estimate.basis, estimate.where) == (2**30, "timed", ("h, d",))


def test_it_holds_for_its_method_data_set_and_backbone_alone(work: Workspace) -> None:
    Timings({}).write(work.results, [timing_of(), timing_of("cgqa", "clip-rn50")])
    costs = Costs.of(work, work.plan)
    assert costs.estimate(run_of(work, "coop")) is None
    assert costs.estimate(run_of(work, "csp", "ut-zappos")) is None
    assert costs.estimate(run_of(work, "csp", "cgqa")) is None
    assert costs.estimate(work.plan.evaluations("czsl", "csp", "mit-states")[0]) is None
    others = [run for run in work.plan.of("runs") if timing_kind(run)[2] == "clip-rn50"]
    assert others
    assert all(costs.estimate(run) is None for run in others if run.labels["dataset"] == "mit-states")


def test_later_calibrations_replace_earlier_ones_of_the_same(tmp_path: Path) -> None:
    Timings({}).write(tmp_path, [timing_of(), timing_of("cgqa")])
    Timings.read(tmp_path).write(tmp_path, [timing_of(image_seconds=0.5)])
    found = Timings.read(tmp_path).runs
    assert {kind: each.image_seconds for kind, each in found.items()} == {
        ("csp", "mit-states", "clip-vit-l-14"): 0.5,
        ("csp", "cgqa", "clip-vit-l-14"): 0.001,
    }


@pytest.mark.parametrize("text", ["", "[", "[]", "{}", '{"runs": 3}', '{"runs": [{"method": "csp"}]}'])
def test_a_file_that_is_none_of_ours_says_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    assert Timings.read(tmp_path) == Timings({})
    Timings({}).write(tmp_path, [timing_of()])
    assert len(read_json(tmp_path / FILE)["runs"]) == 1
