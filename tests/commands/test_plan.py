"""The work that is left, and what an edit would make anew."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from recompose.cli import app, main
from recompose.commands.plan import PlanDifference, PlannedItem, WorkPlan, changed_cells, total, work_plan
from recompose.costs import MEASURED, SIMILAR, CostEstimate, TimeLeft
from recompose.errors import ParamsError
from recompose.files import write_json
from recompose.plan import Recipe
from recompose.tables.cells import Cell
from recompose.tracks.czsl.catalogue import METHODS
from recompose.tracks.czsl.params import Czsl
from recompose.workspace import Workspace
from tests.audit.invented import cell_of
from tests.configuration import new_workspace, parameters, write_params
from tests.conftest import Project
from tests.errors import raises

pytestmark = pytest.mark.slow

MADE = {
    "started": "2026-01-01T12:00:00+00:00",
    "attempts": 1,
    "seconds": 10.0,
    "host": "h",
    "device": "d",
    "commit": None,
    "dirty": None,
    "packages": {},
}
# large with one track, as planning takes a third of the time then
PAIRS = {"profiles.pairs.based_on": "large", "profiles.pairs.gzsl": None, "profiles.pairs.vlc": None}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project of one track in which everything is complete, as far as records say."""
    write_params(tmp_path, "pairs", PAIRS)
    work = Workspace(tmp_path)
    record_all(work, work.plan.recipes)
    return tmp_path


def record_all(work: Workspace, recipes: Iterable[Recipe]) -> None:
    """Records of ten seconds each."""
    for recipe in recipes:
        record = {**recipe.description().plain(), "inputs": {}, "files": {}, "made": MADE}
        write_json(work.store.record_path(recipe), record)


def methods(found: WorkPlan, kind: str = "runs") -> dict[str, int]:
    return dict(Counter(each.method for each in found.to_make if each.kind == kind))


def digests(work: Workspace) -> set[str]:
    return {recipe.digest for recipe in work.plan.recipes}


def edited(root: Path, values: Mapping[str, object]) -> Workspace:
    """Return the project with other values in params.yaml, elsewhere."""
    other = root / "by-hand"
    other.mkdir()
    write_params(other, "pairs", {**PAIRS, **values})
    return Workspace(other)


def needed(
    method: str,
    dataset: str = "d",
    *papers: str,
    name: str = "",
    kind: str = "runs",
    there: bool = False,
    estimate: CostEstimate | None = None,
    threads: int = 1,
    gpus: int = 0,
) -> PlannedItem:
    labels = method, dataset, name or method
    return PlannedItem(kind, "f", "f" * 64, "t", *labels, papers, False, there, estimate, threads, gpus)


def planned(*members: PlannedItem) -> WorkPlan:
    """A plan of members on one core."""
    missing = [member for member in members if not member.there]
    seconds = sum(member.estimate.seconds for member in missing if member.estimate)
    left = TimeLeft(seconds, sum(member.estimate is None for member in missing))
    return WorkPlan("p", (), [], list(members), left, 0, [], 0)


def test_what_papers_share_is_counted_once_by_method_and_data_set() -> None:
    plan = planned(
        needed("csp", "d", "duplex", "msci"),
        needed("csp", "d", "duplex", "msci", name="csp-other", there=True),
        needed("csp", "d", "duplex", "msci", kind="evaluations"),
        needed("csp", "e", "duplex", "msci"),
        needed("msci", "d", "msci"),
        needed("index", kind="data"),
    )
    groups = json.loads(json.dumps(plan.document()))["groups"]
    assert [(group["methods"], group["datasets"], group["papers"]) for group in groups] == [
        (["csp"], ["d"], ["duplex", "msci"]),
        (["csp"], ["e"], ["duplex", "msci"]),
        (["msci"], ["d"], ["msci"]),
    ]
    assert groups[0]["variants"] == ["csp-other"]
    assert groups[0]["runs"] == {"asked": 2, "there": 1, "new": 0}
    assert groups[0]["evaluations"] == {"asked": 1, "there": 0, "new": 0}


def test_time_and_memory_are_those_that_are_known() -> None:
    measured, similar = CostEstimate(10, ("h",), 7), CostEstimate(20, ("h",), basis=SIMILAR)
    plan = planned(needed("a", estimate=measured), needed("a", estimate=similar), needed("a"))
    (group,) = plan.document()["groups"]  # type: ignore[misc]
    assert (group["seconds"], group["memory"]) == (30, 7)
    assert group["bases"] == {"measured": 1, "similar": 1, "unknown": 1}


def test_gpu_hours_are_those_of_what_takes_one() -> None:
    plan = planned(
        needed("a", estimate=CostEstimate(7200, ("h",), 3 * 2**30), threads=8, gpus=1),
        needed("b"),
        needed("c", estimate=CostEstimate(3600, ("h",)), kind="data"),
    )
    assert (plan.core_seconds, plan.gpu_seconds) == (7200 * 8 + 3600, 7200)
    text = " ".join(total(plan))
    assert all(part in text for part in ("3:00", "2.0 GPU-hours", "3.0 GiB"))


def test_a_plan_says_which_part_of_the_time_rests_on_what() -> None:
    estimates = [(30.0, MEASURED), (10.0, SIMILAR), (20.0, SIMILAR)]
    items = [needed("a", estimate=CostEstimate(seconds, ("h",), basis=basis)) for seconds, basis in estimates]
    plan = planned(*items)
    assert re.findall(r"[0-9]+%", " ".join(total(plan))) == ["50%", "50%"]  # of a minute
    assert "%" not in " ".join(total(planned(items[0])))


def test_nothing_is_left_of_a_finished_project(root: Path) -> None:
    found = work_plan(root)
    assert not found.to_make
    assert not found.artifacts
    assert found.due == sum(len(paper.artifacts) for paper in Workspace(root).papers)  # records alone make no artifact


@pytest.mark.parametrize(
    ("edits", "by_hand"),
    [
        (["czsl.methods.csp.dropout=0.4"], {"czsl.methods.csp.dropout": 0.4}),
        (["czsl.methods.c-s-o.scoring.closed=[0.4, 0.6]"], {"czsl.methods.c-s-o.scoring.closed": [0.4, 0.6]}),
        (["profiles.pairs.czsl.seeds=[0, 1, 7]"], {"profiles.pairs.czsl.seeds": [0, 1, 7]}),
        (["profile=smoke"], {"profile": "smoke"}),
        (["czsl.datasets.shapes-pairs.seed=8"], {"czsl.datasets.shapes-pairs.seed": 8}),
        (["backbones.shapes-clip-from-scratch.lr=2e-3"], {"backbones.shapes-clip-from-scratch.lr": 0.002}),
        (
            ["profile=smoke", "profiles.smoke.override.czsl.methods.csp.training.epochs=3"],
            {"profile": "smoke", "profiles.smoke.override.czsl.methods.csp.training.epochs": 3},
        ),
    ],
)
def test_an_edit_means_what_it_means_in_the_file(root: Path, edits: list[str], by_hand: dict[str, object]) -> None:
    before, text = Workspace(root), (root / "params.yaml").read_bytes()
    after = edited(root, by_hand)
    found = work_plan(root, tuple(edits))
    assert {each.digest for each in found.items if each.new} == digests(after) - digests(before) != set()
    assert {each.digest for each in found.to_make} == digests(after) - digests(before)
    had, has = ({run.digest for run in work.plan.of("runs")} for work in (before, after))
    assert found.dropped == len(had - has)
    assert (root / "params.yaml").read_bytes() == text


def test_an_edit_of_a_method_reaches_that_method_alone(root: Path) -> None:
    found = work_plan(root, ("czsl.methods.csp.training.epochs=16",))
    seeds = len(Workspace(root).plan.evaluations("czsl", "csp", "shapes-pairs"))
    assert methods(found) == methods(found, "evaluations") == {"csp": seeds}
    assert len(found.to_make) == 2 * seeds
    assert found.core_seconds == pytest.approx(seeds * 20 + seeds * 10)
    names = {each.artifact for each in found.artifacts}
    assert {"msci/table-2", "duplex/table-3"} <= names
    assert not names & {"msci/table-1", "msci/table-4", "duplex/table-2"}


def test_papers_that_the_profile_does_not_choose_have_no_artifacts_to_make(root: Path) -> None:
    found = work_plan(root, ("profiles.pairs.czsl.papers=[msci]", "czsl.methods.csp.training.epochs=16"))
    assert {each.artifact.partition("/")[0] for each in found.artifacts} == {"msci"}


def test_an_edit_of_scoring_trains_nothing(root: Path) -> None:
    found = work_plan(root, ("czsl.methods.csp.prompt=a photo of {state} {object}", "czsl.feasibility.prompt=a {name}"))
    assert methods(found) == {}
    assert {each.kind for each in found.to_make} == {"evaluations"}


def test_an_edit_of_the_data_reaches_everything_and_statistics_too(root: Path) -> None:
    found = work_plan(root, ("czsl.datasets.shapes-pairs.images.train=1250",))
    assert all(run.there == (run.method not in METHODS) for run in found.runs)
    assert {each.kind for each in found.to_make} == {"data", "pixels", "features", "runs", "evaluations"}
    assert "msci/table-1" in {each.artifact for each in found.artifacts}
    csp = next(run for run in found.runs if run.method == "csp")
    assert csp.estimate and csp.estimate.seconds == pytest.approx(5)


def test_what_was_run_before_is_not_run_again(root: Path) -> None:
    run = (
        edited(root, {"czsl.methods.csp.dropout": 0.4}).plan.evaluations("czsl", "csp", "shapes-pairs")[0].needs["run"]
    )
    record_all(Workspace(root), [run])
    found = work_plan(root, ("czsl.methods.csp.dropout=0.4",))
    seeds = len(Workspace(root).plan.evaluations("czsl", "csp", "shapes-pairs"))
    assert methods(found) == {"csp": seeds - 1}
    assert methods(found, "evaluations") == {"csp": seeds}
    assert [each.folder for each in found.items if each.new and each.there] == [run.folder]


def test_an_edit_that_changes_nothing_makes_nothing_and_an_override_is_noted(root: Path) -> None:
    learning_rate = parameters()["czsl"]["methods"]["csp"]["training"]["lr"]
    same = work_plan(root, (f"czsl.methods.csp.training.lr={learning_rate}",))
    assert not (same.changes_runs or same.to_make or same.notes)
    write_params(root, "smoke", {"profiles.smoke.override.czsl.methods.csp.training.epochs": 2})
    hidden = work_plan(root, ("czsl.methods.csp.training.epochs=30",))
    path = "czsl.methods.csp.training.epochs"
    assert hidden.notes == [f"profiles.smoke.override sets {path}, which hides {path}"]
    assert not hidden.changes_runs


@pytest.mark.parametrize(
    ("edit", "names"),
    [
        ("czsl.methods.msci.layers=4", ["czsl.methods.msci.layers"]),
        ("czsl.methods.mcsi.lr=4", ["czsl.methods.mcsi", "'msci'"]),
        ("czsl.methods.csp.training.lr=fast", ["czsl.methods.csp.training.lr", "'fast'"]),
        ("profile=dmeo", ["profile", "'demo'"]),
        ("profiles.pairs.override={czsl.methods.csp.lrr: 1}", ["override.czsl.methods.csp.lrr"]),
        ("profile.x=1", ["profile"]),
        ("methods.csp.lr", ["'methods.csp.lr'", "path=value"]),
        ("=3", ["'=3'", "path=value"]),
        ("methods.csp.lr=[", ["'methods.csp.lr=['"]),
    ],
)
def test_a_wrong_edit_names_its_place_and_what_was_meant(root: Path, edit: str, names: list[str]) -> None:
    with raises(ParamsError) as error:
        work_plan(root, (edit,))
    message = str(error.value).replace(f"with {edit} ", "")
    assert all(name in message for name in names), message


def test_a_value_may_hold_the_sign_that_ends_the_path(root: Path) -> None:
    edits = ("czsl.methods.clip.prompt=a = {state} {object}", "czsl.methods.csp.training.lr=1e-4")
    section = Workspace(root, edits).params.tracks["czsl"]
    assert isinstance(section, Czsl)
    assert section.settings("clip", "shapes-pairs").document() == {"prompt": "a = {state} {object}"}
    assert section.settings("csp", "shapes-pairs").document()["training"]["lr"] == 0.0001


def cell(benchmark: str, *names: str) -> Cell:
    return Cell.model_validate(cell_of("r", [], benchmark=benchmark, names=list(names)))


def test_a_cell_changes_with_its_methods_on_its_benchmarks() -> None:
    cells = [cell("a", "csp"), cell("b", "csp"), cell("a", "coop"), cell("a", "coop", "csp"), cell("a")]
    of_csp = PlanDifference({("czsl", "csp", "a")}, set())
    assert changed_cells("czsl", cells, of_csp) == [cells[0], cells[3]]
    assert changed_cells("vlc", cells, of_csp) == []
    assert changed_cells("czsl", cells, PlanDifference(set(), {("czsl", "a")})) == [cells[4]]
    assert changed_cells("vlc", cells, PlanDifference(set(), {("czsl", "a")})) == []


@pytest.mark.engines
def test_the_cost_of_more_seeds_is_what_the_workflow_then_makes(chance: Project) -> None:
    edit = ("plan", "--edit", "profiles.smoke.czsl.seeds=[1, 5, 6]")
    found = json.loads(chance.recompose(*edit, "--json").stdout)
    before = chance.runs()
    assert "2 evaluations to score." in chance.recompose(*edit).stdout
    assert chance.runs() == before
    chance.set({"profiles.smoke.czsl.seeds": [1, 5, 6]})

    def cells() -> dict[str, Any]:
        paths = chance.published.glob("msci/*.lineage.json")
        return {f"msci/{path.name.split('.')[0]}": json.loads(path.read_text())["cells"] for path in paths}

    shown = cells()
    chance.snakemake("runs")
    chance.recompose("artifacts", "msci")
    made = chance.runs().keys() - before.keys()
    scored = [step for step in found["steps"] if step["kind"] == "evaluations"]
    assert {f"{step['kind']}/{step['folder']}" for step in scored if not step["there"]} == made
    assert {step["title"][-6:] for step in scored} == {"seed 5", "seed 6"}
    changed = {
        name for name, now in cells().items() if now != shown[name]
    }  # also where the same number is of other data
    assert changed == {each["artifact"] for each in found["artifacts"] if each["artifact"].startswith("msci/")}


@pytest.mark.engines
def test_a_wrong_edit_is_one_line_on_the_command_line(chance: Project) -> None:
    done = chance.recompose("plan", "--edit", "czsl.methods.msci.layers=4", check=False)
    assert done.returncode == 1
    assert "czsl.methods.msci.layers=4" in done.stderr
    assert "there is no key 'layers'" in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A project with the profile of the papers' own data, in which nothing is made."""
    monkeypatch.chdir(tmp_path)
    return new_workspace(tmp_path, "paper")


def test_what_was_never_run_begins_with_what_is_unknown(paper: Workspace) -> None:
    done = CliRunner().invoke(app, ["plan"])
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert len(lines) <= 20
    assert f"{len(paper.plan.recipes)} of {len(paper.plan.recipes)} jobs" in lines[1]
    assert all(any(name in line for line in lines) for name in ("clip-cae", "crest", "duplex", "fsc-clip", "msci"))
    every = CliRunner().invoke(app, ["plan", "--all"]).output
    assert len(every.splitlines()) > 100
    assert "troika" in every


def test_the_plan_as_json_counts_everything_once(paper: Workspace) -> None:
    document = json.loads(CliRunner().invoke(app, ["plan", "--json"]).output)
    planned = Counter(recipe.kind for recipe in paper.plan.recipes)
    for kind in ("runs", "evaluations"):
        assert sum(group[kind]["asked"] for group in document["groups"]) == planned[kind]
    assert len(document["runs"]) == planned["runs"]
    assert len(document["steps"]) == sum(planned.values()) - planned["runs"]
    (troika,) = [
        group
        for group in document["groups"]
        if group["methods"] == ["troika"] and group["datasets"] == ["cgqa"] and not group["variants"]
    ]
    assert troika["papers"] == ["duplex", "msci"]
    assert troika["runs"]["asked"] == 5
    assert troika["bases"] == {"unknown": 10}


def test_the_plan_of_an_edit_shows_what_it_would_make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_params(tmp_path)
    monkeypatch.chdir(tmp_path)
    before = Workspace(tmp_path).plan
    edit = ["--edit", "czsl.methods.csp.dropout=0.4"]
    document = json.loads(CliRunner().invoke(app, ["plan", "--json", *edit]).output)
    edited = Workspace(tmp_path, tuple(edit[1:])).plan
    new = {recipe.folder for recipe in edited.recipes} - {recipe.folder for recipe in before.recipes}
    runs = new & {run.folder for run in edited.of("runs")}
    assert runs and {run["folder"] for run in document["runs"] if run["new"]} == runs
    artifacts = {artifact["artifact"] for artifact in document["artifacts"]}
    assert "msci/table-2" in artifacts
    assert not any(name.startswith(("crest/", "fsc-clip/", "clip-cae/")) for name in artifacts)
    lines = CliRunner().invoke(app, ["plan", *edit]).output.splitlines()
    assert len(lines) <= 25
    assert any("new" in line.split() for line in lines)


@pytest.mark.parametrize("query", [["plan"], ["plan", "--edit", "czsl.methods.csp.dropout=0.4"], ["status"], ["power"]])
def test_a_query_writes_nothing(paper: Workspace, query: list[str]) -> None:
    done = CliRunner().invoke(app, query)
    assert done.exit_code == 0, done.output
    assert [path.name for path in paper.root.rglob("*")] == ["params.yaml"]


def test_an_unknown_option_is_one_line(
    paper: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["recompose", "plan", "--edti", "x=1"])
    with pytest.raises(SystemExit) as end:
        main()
    output = capsys.readouterr()
    assert end.value.code == 2
    assert not output.out
    (line,) = output.err.splitlines()
    assert line.startswith("recompose: ") and "--edti" in line and "--edit" in line
