"""What an edit would make anew."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from recompose.files import write_json
from recompose.monitor.edit_impact import EditImpact, PlanDifference, changed_cells, estimate_impact
from recompose.params import ParamsError
from recompose.plan import Recipe
from recompose.report.lineage import LineageCell
from recompose.terminal.plan import sentences
from recompose.tracks.czsl.catalogue import METHODS
from recompose.tracks.czsl.params import Czsl
from recompose.workspace import Workspace
from tests.configuration import parameters, write_params
from tests.conftest import Project
from tests.errors import raises
from tests.provenance.invented import cell_of

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


def methods(found: EditImpact, kind: str = "runs") -> dict[str, int]:
    return dict(Counter(each.method for each in found.to_make if each.kind == kind))


def digests(work: Workspace) -> set[str]:
    return {recipe.digest for recipe in work.plan.recipes}


def edited(root: Path, values: Mapping[str, object]) -> Workspace:
    """Return the project with other values in params.yaml, elsewhere."""
    other = root / "by-hand"
    other.mkdir()
    write_params(other, "pairs", {**PAIRS, **values})
    return Workspace(other)


def test_nothing_is_left_of_a_finished_project(root: Path) -> None:
    found = estimate_impact(root)
    assert not found.to_make
    assert not found.artifacts
    (sentence,) = sentences(found)
    assert f"{found.due} artifacts to make" in sentence  # records alone make no artifact


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
    found = estimate_impact(root, tuple(edits))
    assert {each.digest for each in found.items if each.new} == digests(after) - digests(before) != set()
    assert {each.digest for each in found.to_make} == digests(after) - digests(before)
    had, has = ({run.digest for run in work.plan.of("runs")} for work in (before, after))
    assert found.dropped == len(had - has)
    assert (root / "params.yaml").read_bytes() == text


def test_an_edit_of_a_method_reaches_that_method_alone(root: Path) -> None:
    found = estimate_impact(root, ("czsl.methods.csp.training.epochs=16",))
    seeds = len(Workspace(root).plan.evaluations("czsl", "csp", "shapes-pairs"))
    assert methods(found) == methods(found, "evaluations") == {"csp": seeds}
    assert len(found.to_make) == 2 * seeds
    assert found.core_seconds == pytest.approx(seeds * 20 + seeds * 10)
    names = {each.artifact for each in found.artifacts}
    assert {"msci/table-2", "duplex/table-3"} <= names
    assert not names & {"msci/table-1", "msci/table-4", "duplex/table-2"}


def test_papers_that_the_profile_does_not_choose_have_no_artifacts_to_make(root: Path) -> None:
    found = estimate_impact(root, ("profiles.pairs.czsl.papers=[msci]", "czsl.methods.csp.training.epochs=16"))
    assert {each.artifact.partition("/")[0] for each in found.artifacts} == {"msci"}


def test_an_edit_of_scoring_trains_nothing(root: Path) -> None:
    found = estimate_impact(
        root, ("czsl.methods.csp.prompt=a photo of {state} {object}", "czsl.feasibility.prompt=a {name}")
    )
    assert methods(found) == {}
    assert {each.kind for each in found.to_make} == {"evaluations"}
    said = list(sentences(found))
    assert any(f"0 runs to train and {len(found.to_make)} evaluations to score" in line for line in said)


def test_an_edit_of_the_data_reaches_everything_and_statistics_too(root: Path) -> None:
    found = estimate_impact(root, ("czsl.datasets.shapes-pairs.images.train=1250",))
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
    found = estimate_impact(root, ("czsl.methods.csp.dropout=0.4",))
    seeds = len(Workspace(root).plan.evaluations("czsl", "csp", "shapes-pairs"))
    assert methods(found) == {"csp": seeds - 1}
    assert methods(found, "evaluations") == {"csp": seeds}
    assert [each.folder for each in found.items if each.new and each.there] == [run.folder]


def test_an_edit_that_changes_nothing_says_so_and_why(root: Path) -> None:
    learning_rate = parameters()["czsl"]["methods"]["csp"]["training"]["lr"]
    same = list(sentences(estimate_impact(root, (f"czsl.methods.csp.training.lr={learning_rate}",))))
    assert same == ["The edit changes no run.", "Nothing to make."]
    write_params(root, "smoke", {"profiles.smoke.override.czsl.methods.csp.training.epochs": 2})
    said = list(sentences(estimate_impact(root, ("czsl.methods.csp.training.epochs=30",))))
    path = "czsl.methods.csp.training.epochs"
    assert f"profiles.smoke.override sets {path}, which hides {path}" in said
    assert "The edit changes no run." in said


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
        estimate_impact(root, (edit,))
    message = str(error.value).replace(f"with {edit} ", "")
    assert all(name in message for name in names), message


def test_a_value_may_hold_the_sign_that_ends_the_path(root: Path) -> None:
    edits = ("czsl.methods.clip.prompt=a = {state} {object}", "czsl.methods.csp.training.lr=1e-4")
    section = Workspace(root, edits).params.tracks["czsl"]
    assert isinstance(section, Czsl)
    assert section.settings("clip", "shapes-pairs") == {"prompt": "a = {state} {object}"}
    assert section.settings("csp", "shapes-pairs")["training"]["lr"] == 0.0001


def cell(benchmark: str, *names: str) -> LineageCell:
    return LineageCell.model_validate(cell_of("r", [], benchmark=benchmark, names=list(names)))


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
