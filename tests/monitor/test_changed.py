"""What an edit would make anew."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from recompose.monitor.changed import Consequences, Differing, Process, changed_cells, consequences, wall
from recompose.params import ParamsError
from recompose.plan import Recipe
from recompose.terminal.cost import sentences
from recompose.workspace import Workspace
from tests.conftest import ROOT, Project


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project of the demo in which every run and step is complete, as far as records say."""
    (tmp_path / "params.yaml").write_text((ROOT / "params.yaml").read_text())
    work = Workspace(tmp_path)
    record_all(work, work.plan.stored())
    return tmp_path


def record_all(work: Workspace, stored: Mapping[str, Sequence[Recipe]]) -> None:
    """Records of ten seconds each."""
    made = {"attempts": 1, "seconds": 10.0, "host": "h", "device": "d"}
    for kind, recipes in stored.items():
        for recipe in recipes:
            record = {"digest": recipe.digest, "recipe": recipe.document, "made": made}
            path = work.store(kind).record_path(recipe)
            path.parent.mkdir(parents=True)
            path.write_text(json.dumps(record))


def methods(found: Consequences) -> dict[str, int]:
    counts: dict[str, int] = {}
    for run in found.runs:
        if not run.there:
            counts[run.method] = counts.get(run.method, 0) + 1
    return counts


def edited(root: Path, *edits: tuple[str, str]) -> Workspace:
    """The project with params.yaml edited by hand, elsewhere."""
    text = (root / "params.yaml").read_text()
    for old, new in edits:
        assert text.count(old) >= 1
        text = text.replace(old, new, 1)
    other = root / "by-hand"
    other.mkdir()
    (other / "params.yaml").write_text(text)
    return Workspace(other)


def test_nothing_is_left_of_a_finished_project(root: Path) -> None:
    found = consequences(root)
    assert not found.to_make
    assert not found.artifacts
    assert list(sentences(found)) == ["Nothing to make."]


@pytest.mark.parametrize(
    ("edits", "by_hand"),
    [
        (["methods.csp.dropout=0.4"], [("    dropout: 0.1", "    dropout: 0.4")]),
        (["profiles.demo.seeds=[0, 1, 2, 7]"], [("seeds: [0, 1, 2]", "seeds: [0, 1, 2, 7]")]),
        (["profile=smoke"], [("profile: demo", "profile: smoke")]),
        (["datasets.shapes-pairs.seed=8"], [("seed: 7", "seed: 8")]),
        (["backbones.shapes-clip.lr=2e-3"], [("lr: 1e-3", "lr: 2e-3")]),
        (
            ["profile=smoke", "profiles.smoke.override.methods.csp.epochs=3"],
            [("profile: demo", "profile: smoke"), ("methods.csp.epochs: 2", "methods.csp.epochs: 3")],
        ),
    ],
)
def test_an_edit_means_what_it_means_in_the_file(root: Path, edits: list[str], by_hand: list[tuple[str, str]]) -> None:
    before, text = Workspace(root).plan, (root / "params.yaml").read_bytes()
    after = edited(root, *by_hand).plan
    found = consequences(root, tuple(edits))
    had = {run.digest for run in before.runs}
    assert {run.digest for run in found.runs if run.new} == {run.digest for run in after.runs} - had
    assert {run.digest for run in found.runs if not run.there} == {run.digest for run in after.runs} - had
    assert found.dropped == len(had - {run.digest for run in after.runs})
    assert [each.folder for each in found.to_make if each.kind == "features"] == [
        recipe.folder for key, recipe in after.features.items() if recipe != before.features.get(key)
    ]
    assert (root / "params.yaml").read_bytes() == text


def test_an_edit_of_a_method_reaches_that_method_alone(root: Path) -> None:
    found = consequences(root, ("methods.csp.epochs=16",))
    assert methods(found) == {"csp": 3}
    assert sum(each.jobs for each in found.processes) == 3
    assert found.core_seconds == pytest.approx(60)
    assert "Scaled in proportion: epochs 8 to 16." in list(sentences(found))
    names = {each.artifact for each in found.artifacts}
    assert {"msci/table-2", "duplex/table-3"} <= names
    assert not names & {"msci/table-1", "msci/table-4", "duplex/table-2"}


def test_an_edit_of_the_data_reaches_everything_and_statistics_too(root: Path) -> None:
    found = consequences(root, ("datasets.shapes-pairs.images.train=1500",))
    assert len([run for run in found.runs if not run.there]) == len(found.runs)
    assert {each.kind for each in found.to_make} == {"index", "features", "runs"}
    assert "msci/table-1" in {each.artifact for each in found.artifacts}
    csp = next(run for run in found.runs if run.method == "csp")
    assert csp.estimate and csp.estimate.seconds == pytest.approx(5)


def test_what_was_run_before_is_not_run_again(root: Path) -> None:
    first, *_ = edited(root, ("dropout: 0.1", "dropout: 0.4")).plan.runs_of("csp", "shapes-pairs")
    record_all(Workspace(root), {"runs": [first]})
    found = consequences(root, ("methods.csp.dropout=0.4",))
    assert methods(found) == {"csp": 2}
    assert [run.folder for run in found.runs if run.new and run.there] == [first.folder]


def test_an_edit_that_changes_nothing_says_so_and_why(root: Path) -> None:
    assert "The edit changes no run." in list(sentences(consequences(root, ("methods.csp.lr=5e-3",))))
    (root / "params.yaml").write_text((root / "params.yaml").read_text().replace("profile: demo", "profile: smoke"))
    said = list(sentences(consequences(root, ("methods.csp.epochs=30",))))
    assert "profiles.smoke.override sets methods.csp.epochs in place of what methods.csp.epochs says" in said
    assert "The edit changes no run." in said


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ("methods.msci.layers=4", "methods.msci.layers: there is no key 'layers'"),
        ("methods.mcsi.lr=4", "methods.mcsi: there is no key 'mcsi'; the nearest is 'msci'"),
        ("methods.csp.lr=fast", "methods.csp.lr: input should be a valid number, not 'fast'"),
        ("profile=dmeo", "profile: 'dmeo' is not allowed; the nearest is 'demo'"),
        ("profiles.demo.override.methods.csp.lrr=1", "override.methods.csp.lrr: there is no such key to override"),
        ("profile.x=1", "profile: "),
        ("methods.csp.lr", "an edit is written path=value"),
        ("=3", "an edit is written path=value"),
        ("methods.csp.lr=[", "the value in 'methods.csp.lr=[' is not valid YAML"),
    ],
)
def test_a_wrong_edit_is_the_error_that_it_would_be_in_the_file(root: Path, edit: str, said: str) -> None:
    with pytest.raises(ParamsError, match=re.escape(said)):
        consequences(root, (edit,))


def test_a_value_may_hold_the_sign_that_ends_the_path(root: Path) -> None:
    found = Workspace(root, ("methods.clip.prompt=a = {state} {object}", "methods.csp.lr=1e-4"))
    assert found.params.methods.clip.prompt == "a = {state} {object}"
    assert found.params.methods.csp.lr == 0.0001


def process(seconds: float, threads: int = 1, gpus: int = 0) -> Process:
    return Process("runs", "x", 1, threads, gpus, seconds, 0)


@pytest.mark.parametrize(
    ("processes", "seconds"),
    [
        ([process(10)], 10),
        ([process(10), process(10)], 10),
        ([process(10), process(2), process(3)], 10),
        ([process(10)] * 4, 20),
        ([process(10, threads=2), process(10, threads=2)], 20),
        ([process(10, threads=8)], 10),  # it gets the cores that there are
        ([process(10, gpus=1), process(10, gpus=1)], 20),
    ],
)
def test_processes_go_side_by_side_as_far_as_cores_and_the_gpu_allow(processes: list[Process], seconds: float) -> None:
    assert wall(processes, cores=2) == pytest.approx(seconds)


def cell(measures: list[str], *made_from: str, missing: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"row": "r", "measures": measures, "made_from": list(made_from), "missing": list(missing)}


def test_a_cell_changes_with_its_methods_on_its_data_sets() -> None:
    records = {
        "runs/1": {"recipe": {"dataset": {"name": "a"}}},
        "runs/2": {"recipe": {"dataset": {"name": "b"}}},
        "index/a-0": {"recipe": {"dataset": "a"}},
    }
    cells = [
        cell(["csp"], "runs/1"),
        cell(["csp"], "runs/2"),
        cell(["coop"], "runs/1"),
        cell(["coop", "csp"], "runs/1"),
        cell(["csp"], missing=("runs/3",)),
        cell([], "index/a-0"),
    ]
    lineage = {"cells": cells, "records": records, "wanted": {"runs/3": {"dataset": {"name": "a"}}}}
    assert changed_cells(lineage, Differing({("csp", "a")}, set())) == [cells[0], cells[3], cells[4]]
    assert changed_cells(lineage, Differing(set(), {"a"})) == [cells[5]]


def test_the_cost_of_more_seeds_is_what_the_workflow_then_makes(chance: Project) -> None:
    edit = ("cost", "--edit", "profiles.smoke.seeds=[1, 5, 6]")
    found = json.loads(chance.recompose(*edit, "--json").stdout)
    assert found["dropped_runs"] == 1
    before = chance.runs()
    assert "2 runs to train in" in chance.recompose(*edit).stdout
    assert chance.runs() == before
    chance.edit("seeds: [0, 1]\n", "seeds: [1, 5, 6]\n")
    tables = {path: path.read_bytes() for path in chance.root.glob("reports/msci/*.csv")}
    chance.snakemake("runs")
    chance.recompose("artifacts", "msci")
    made = chance.runs().keys() - before.keys()
    assert {run["folder"] for run in found["runs"] if not run["there"]} == made
    assert {run["title"][-6:] for run in found["runs"]} == {"seed 5", "seed 6"}
    changed = {f"msci/{path.stem}" for path, was in tables.items() if path.read_bytes() != was}
    assert changed == {each["artifact"] for each in found["artifacts"] if each["artifact"].startswith("msci/")}


def test_a_wrong_edit_is_one_line_on_the_command_line(chance: Project) -> None:
    done = chance.recompose("cost", "--edit", "methods.msci.layers=4", check=False)
    assert done.returncode == 1
    assert "with methods.msci.layers=4 is wrong:\n  methods.msci.layers: there is no key 'layers'" in done.stderr
    assert "Traceback" not in done.stderr
