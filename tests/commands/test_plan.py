"""The work that is left, and what an edit would make anew."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from recompose.commands.plan import PlannedItem, WorkPlan, work_plan
from recompose.main import app
from recompose.tracks.czsl.catalogue import METHODS
from recompose.workspace import Workspace
from tests.configuration import complete, new_workspace, parameters, write_params

pytestmark = pytest.mark.slow

EPOCHS = "profiles.smoke.override.czsl.methods.csp.training.epochs"
# large with one track, as planning takes a third of the time then
PAIRS = {"profiles.pairs.based_on": "large", "profiles.pairs.gzsl": None, "profiles.pairs.vlc": None}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project of one track in which everything is complete, as far as records say."""
    write_params(tmp_path, "pairs", PAIRS)
    work = Workspace(tmp_path)
    complete(work, work.plan.recipes)
    return tmp_path


def methods(plan: WorkPlan, kind: str = "runs") -> dict[str, int]:
    return dict(Counter(item.method for item in plan.to_make if item.kind == kind))


def keys(work: Workspace) -> set[str]:
    return {recipe.key for recipe in work.plan.recipes}


def planned_keys(items: Iterable[PlannedItem]) -> list[str]:
    return [f"{item.kind}/{item.folder}" for item in items]


def edited(root: Path, values: Mapping[str, object]) -> Workspace:
    """Return the project with other values in params.yaml, elsewhere."""
    other = root / "by-hand"
    other.mkdir()
    write_params(other, "pairs", {**PAIRS, **values})
    return Workspace(other)


@pytest.mark.parametrize(
    ("edits", "by_hand"),
    [
        (["czsl.methods.csp.dropout=0.4"], {"czsl.methods.csp.dropout": 0.4}),
        (["czsl.methods.c-s-o.scoring.closed=[0.4, 0.6]"], {"czsl.methods.c-s-o.scoring.closed": [0.4, 0.6]}),
        (["czsl.datasets.shapes-pairs.seed=8"], {"czsl.datasets.shapes-pairs.seed": 8}),
        (["profile=smoke", f"{EPOCHS}=3"], {"profile": "smoke", EPOCHS: 3}),
    ],
)
def test_an_edit_means_what_it_means_in_the_file(root: Path, edits: list[str], by_hand: dict[str, object]) -> None:
    before, text = Workspace(root), (root / "params.yaml").read_bytes()
    after = edited(root, by_hand)
    plan = work_plan(root, tuple(edits))
    new, gone = (keys(one) - keys(other) for one, other in ((after, before), (before, after)))
    assert {*planned_keys(item for item in plan.items if item.new)} == {*planned_keys(plan.to_make)} == new != set()
    assert plan.dropped == sum(key.startswith("runs/") for key in gone)
    assert (root / "params.yaml").read_bytes() == text


def test_an_edit_of_a_method_reaches_that_method_alone(root: Path) -> None:
    plan = work_plan(root, ("czsl.methods.csp.training.epochs=16",))
    seeds = len(Workspace(root).plan.evaluations("czsl", "csp", "shapes-pairs"))
    assert methods(plan) == methods(plan, "evaluations") == {"csp": seeds}
    assert len(plan.to_make) == 2 * seeds
    seconds = [item.estimate.seconds for item in plan.to_make if item.estimate]
    assert sum(seconds) == pytest.approx(seeds * 20 + seeds * 10)
    names = {*plan.changed}
    assert {"msci/table-2", "duplex/table-3"} <= names
    assert not names & {"msci/table-1", "msci/table-4", "duplex/table-2"}


def test_an_edit_of_the_data_reaches_everything_and_statistics_too(root: Path) -> None:
    plan = work_plan(root, ("czsl.datasets.shapes-pairs.images.train=1250",))
    runs = [item for item in plan.items if item.kind == "runs"]
    assert all(run.complete == (run.method not in METHODS) for run in runs)
    assert {item.kind for item in plan.to_make} == {"data", "pixels", "features", "runs", "evaluations"}
    assert "msci/table-1" in plan.changed
    csp = next(run for run in runs if run.method == "csp")
    images = sum(parameters()["czsl"]["datasets"]["shapes-pairs"]["images"].values())
    assert csp.estimate and csp.estimate.seconds == pytest.approx(10 * (images - 1250) / images)


def test_what_was_run_before_is_not_run_again(root: Path) -> None:
    planned = edited(root, {"czsl.methods.csp.dropout": 0.4}).plan
    run = planned.evaluations("czsl", "csp", "shapes-pairs")[0].needs["run"]
    complete(Workspace(root), [run])
    plan = work_plan(root, ("czsl.methods.csp.dropout=0.4",))
    seeds = len(Workspace(root).plan.evaluations("czsl", "csp", "shapes-pairs"))
    assert methods(plan) == {"csp": seeds - 1}
    assert methods(plan, "evaluations") == {"csp": seeds}
    assert planned_keys(item for item in plan.items if item.new and item.complete) == [run.key]


def test_an_edit_that_changes_nothing_makes_nothing_and_an_override_is_noted(root: Path) -> None:
    learning_rate = parameters()["czsl"]["methods"]["csp"]["training"]["lr"]
    same = work_plan(root, (f"czsl.methods.csp.training.lr={learning_rate}",))
    assert not (same.changes_runs or same.to_make or same.notes)
    write_params(root, "smoke", {EPOCHS: 2})
    path = EPOCHS.removeprefix("profiles.smoke.override.")
    hidden = work_plan(root, (f"{path}=30",))
    assert hidden.notes == [f"profiles.smoke.override sets {path}, which hides {path}"]
    assert not hidden.changes_runs


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A project with all papers at their smallest, in which nothing is made."""
    monkeypatch.chdir(tmp_path)
    return new_workspace(tmp_path, "smoke")


def test_what_was_never_run_begins_with_what_is_unknown(empty: Workspace) -> None:
    done = CliRunner().invoke(app, ["plan"])
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert len(lines) <= 20
    assert f"{len(empty.plan.recipes)} of {len(empty.plan.recipes)} jobs" in lines[1]
    assert all(any(name in line for line in lines) for name in ("clip-cae", "crest", "duplex", "fsc-clip", "msci"))


@pytest.mark.parametrize("query", [["plan"], ["plan", "--edit", "czsl.methods.csp.dropout=0.4"], ["status"], ["power"]])
def test_a_query_writes_nothing(empty: Workspace, query: list[str]) -> None:
    done = CliRunner().invoke(app, query)
    assert done.exit_code == 0, done.output
    assert [path.name for path in empty.root.rglob("*")] == ["params.yaml"]
