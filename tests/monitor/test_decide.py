"""A whole study on made-up runs: its loop, what ends it at any moment, and what a user is told."""

import os
from itertools import pairwise
from pathlib import Path

import pytest

from recompose.costs import CostEstimate, Costs
from recompose.errors import PlanError
from recompose.monitor import decide as loop
from recompose.monitor.decide import decide, replicate_costs
from recompose.params.allocation import Allocation, Stage, read_allocation
from recompose.workspace import Workspace
from tests.allocation.studies import FILE, SECONDS, prepare_study, run
from tests.errors import raises

pytestmark = pytest.mark.slow

HOURS = 0.3


class Killed(BaseException):
    """The end of the process."""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return prepare_study(tmp_path, monkeypatch)


def allocation_of(root: Path) -> Allocation:
    allocation = read_allocation(root / FILE)
    assert allocation
    return allocation


def measured(root: Path) -> None:
    run(root)


def study(root: Path, hours: float = HOURS) -> tuple[list[Stage], str]:
    """Run the study to its end; return its stages and the file."""
    stages = list(decide(root, hours, lambda: measured(root)))
    return stages, (root / FILE).read_text()


def test_a_study_runs_every_stage_that_it_writes_and_stops_at_its_hours(root: Path) -> None:
    runs: list[int] = []

    def measure() -> None:
        assert len(allocation_of(root).stages) == len(runs) + 1  # written before it is run
        runs.append(run(root))

    stages = list(decide(root, HOURS, measure))
    allocation = allocation_of(root)
    assert allocation.stages == stages
    assert len(stages) == len(runs) > 2
    assert all(runs)
    assert sum(stage.core_seconds for stage in stages) <= 3600 * HOURS
    assert not Workspace(root).missing(Workspace(root).plan.recipes)
    more, _ = study(root, 2 * HOURS)
    assert allocation_of(root).stages == [*stages, *more]


def test_fewer_hours_than_the_written_stages_take_start_nothing(root: Path) -> None:
    study(root)
    before = (root / FILE).read_text()
    with raises(PlanError, "few-hours", "--hours"):
        list(decide(root, 0.001, lambda: pytest.fail("it was run")))
    assert (root / FILE).read_text() == before


def test_a_comparison_stops_when_it_is_decided(root: Path) -> None:
    stages, _ = study(root, 100)
    assert all(stage.seen for stage in stages[1:])
    for before, stage in pairwise(stages):
        open_names = {
            f"{seen.paper}/{seen.benchmark}/{seen.comparison}" for seen in stage.seen if seen.verdict == "undecided"
        }
        waiting = open_names - set(stage.too_dear)
        raised = {name for name, count in stage.replicates["czsl"].items() if count > before.replicates["czsl"][name]}
        wanted = {word for name in waiting for word in name.replace("/", " ").split()}
        assert raised <= wanted
        assert set(stage.too_dear) <= open_names


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The file of a study that nothing ended."""
    with pytest.MonkeyPatch.context() as patch:
        return study(prepare_study(tmp_path_factory.mktemp("whole"), patch))[1]


@pytest.mark.parametrize("moment", range(1, 9))
def test_a_study_that_is_killed_goes_on_with_the_same_choices(
    moment: int, whole: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Moments count up: before a choice is written, and after, before a run, and in the middle of it."""
    passed, write = iter(range(1, 100)), loop.write_text

    def pass_moment() -> None:
        if next(passed) == moment:
            raise Killed

    def write_and_pass(path: Path, text: str) -> None:
        pass_moment()
        write(path, text)
        pass_moment()

    def run_and_pass() -> None:
        pass_moment()
        run(root, share=0.5)
        pass_moment()
        run(root)

    with monkeypatch.context() as patch:
        patch.setattr(loop, "write_text", write_and_pass)
        with pytest.raises(Killed):
            list(decide(root, HOURS, run_and_pass))
    assert study(root)[1] == whole


def test_cores_and_later_measurements_do_not_change_the_choice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = []
    for cores in (2, 16):
        folder = tmp_path / str(cores)
        folder.mkdir()
        monkeypatch.setattr(os, "cpu_count", lambda cores=cores: cores)
        prepare_study(folder, monkeypatch)
        stages = decide(folder, HOURS, lambda folder=folder: measured(folder))
        next(stages)
        monkeypatch.setattr(Costs, "estimate", lambda costs, recipe: CostEstimate(1000.0))
        list(stages)
        texts.append((folder / FILE).read_text())
    assert texts[0] == texts[1]


def test_parts_of_the_same_content_have_one_name(root: Path) -> None:
    """Independently: every recipe of the first replicate of all methods, by digest."""
    work = Workspace(root)
    costs = replicate_costs(work)["czsl"]
    first = [evaluations[0] for evaluations in work.plan.tracks["czsl"].evaluations.values()]
    needed, waiting = {}, list(first)
    while waiting:
        recipe = waiting.pop()
        needed[recipe.digest] = recipe.kind
        waiting += recipe.needs.values()
    due = sum(SECONDS.get(kind, 0.0) for kind in needed.values())
    assert sum({part: cost for parts in costs.values() for part, cost in parts.items()}.values()) == pytest.approx(due)
    assert len({evaluation.digest for evaluation in first}) < len(first)  # some variants are the same


LOOKS = "profiles.study.czsl.looks"


@pytest.mark.parametrize("looks", [[3, 5], [3, 5, 7, 8], [4, 5, 8]])
def test_looks_that_were_changed_after_the_beginning_are_an_error(
    looks: list[int], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    next(decide(root, HOURS, lambda: None))
    before = (root / FILE).read_text()
    prepare_study(root, monkeypatch, {LOOKS: looks})
    with raises(PlanError, "changed-looks", "profiles.study"):
        study(root)
    assert (root / FILE).read_text() == before


@pytest.mark.parametrize(
    ("edits", "hours", "code", "place"),
    [
        ({"profile": "demo"}, HOURS, "no-allocation", "profiles.demo.allocation"),
        ({LOOKS: None}, HOURS, "no-looks", "profiles.study.czsl.looks"),
        ({}, 0.01, "few-hours", "--hours"),
    ],
)
def test_a_study_that_cannot_begin_says_why_and_writes_nothing(
    edits: dict[str, object], hours: float, code: str, place: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare_study(root, monkeypatch, edits)
    with raises(PlanError, code, place) as caught:
        study(root, hours)
    assert not (root / FILE).exists()
    if code == "few-hours":
        enough = float(str(caught.value).rpartition("--hours ")[2].split()[0])
        assert study(root, enough)[0]


def test_times_that_nobody_measured_are_an_error(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Costs, "estimate", lambda costs, recipe: None)
    with raises(PlanError, "unknown-time"):
        study(root)


def test_a_run_that_fails_ends_the_loop_and_keeps_the_stage(root: Path) -> None:
    def fail() -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        list(decide(root, HOURS, fail))
    assert len(allocation_of(root).stages) == 1
