"""What is left to make, by papers and by methods, and what it takes."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from recompose.cli import app, main
from recompose.costs import MEASURED, SIMILAR, CostEstimate, TimeLeft
from recompose.monitor.work_plan import PlannedItem, Workload, WorkPlan
from recompose.terminal.groups import time_left, total
from recompose.workspace import Workspace
from tests.configuration import new_workspace, write_params

pytestmark = pytest.mark.slow


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


def work_plan(*members: PlannedItem) -> WorkPlan:
    """A plan of members on one core."""
    missing = [member for member in members if not member.there]
    seconds = sum(member.estimate.seconds for member in missing if member.estimate)
    return WorkPlan("p", list(members), TimeLeft(seconds, sum(member.estimate is None for member in missing)))


def test_what_papers_share_stands_once() -> None:
    groups = work_plan(
        needed("csp", "d", "duplex", "msci"),
        needed("msci", "d", "msci", name="msci-no-vsa"),
        needed("csp", "e", "duplex", "msci", there=True),
        needed("csp", "e", "duplex", "msci", kind="evaluations"),
        needed("index", kind="data"),
    ).by_papers
    assert [group.papers for group in groups] == [("duplex", "msci"), ("msci",)]
    shared, own = groups
    assert (shared.methods, shared.variants, shared.datasets) == (["csp"], [], ["d", "e"])
    assert (own.methods, own.variants) == (["msci"], ["msci-no-vsa"])
    assert shared.document()["runs"] == {"asked": 2, "there": 1, "new": 0}
    assert shared.document()["evaluations"] == {"asked": 1, "there": 0, "new": 0}


def test_methods_and_data_sets_are_told_apart() -> None:
    groups = work_plan(needed("csp"), needed("csp", "e"), needed("msci"), needed("csp", name="csp-other")).by_method
    assert [(group.methods, group.datasets, len(group.members)) for group in groups] == [
        (["csp"], ["d"], 2),
        (["csp"], ["e"], 1),
        (["msci"], ["d"], 1),
    ]


def test_what_it_takes_is_what_is_known_of_it() -> None:
    measured, similar = CostEstimate(10, ("h",), 7), CostEstimate(20, ("h",), basis=SIMILAR)
    takes = Workload.of([needed("a", estimate=measured), needed("b", estimate=similar), needed("c")])
    assert takes == Workload(30, 7, {"measured": 1, "similar": 1, "unknown": 1})
    assert Workload.of([]) == Workload(0, None, {})


def test_gpu_hours_are_those_of_what_takes_one() -> None:
    planned = work_plan(
        needed("a", estimate=CostEstimate(7200, ("h",), 3 * 2**30), threads=8, gpus=1),
        needed("b"),
        needed("c", estimate=CostEstimate(3600, ("h",)), kind="data"),
    )
    assert (planned.core_seconds, planned.gpu_seconds) == (7200 * 8 + 3600, 7200)
    text = " ".join(total(planned))
    assert all(part in text for part in ("3:00", "2.0 GPU-hours", "3.0 GiB", "1 of 3"))


def test_what_has_no_estimate_is_counted_by_kind() -> None:
    (sentence,) = total(work_plan(needed("b", kind="evaluations")))
    assert "1 of 1" in sentence and "1 evaluation" in sentence


def test_a_plan_says_which_part_of_the_time_rests_on_what() -> None:
    estimates = [(30.0, MEASURED), (10.0, SIMILAR), (20.0, SIMILAR)]
    items = [needed("a", estimate=CostEstimate(seconds, ("h",), basis=basis)) for seconds, basis in estimates]
    plan = work_plan(*items)
    assert plan.workload.bases == {MEASURED: 1, SIMILAR: 2}
    assert re.findall(r"[0-9]+%", " ".join(total(plan))) == ["50%", "50%"]  # of a minute
    assert "%" not in " ".join(total(work_plan(items[0])))


def test_a_time_says_where_it_is_not_of_everything() -> None:
    known, unknown = needed("a", estimate=CostEstimate(7200, ("h",))), needed("b")
    assert [time_left(Workload.of(of)) for of in ((known,), (known, unknown), (unknown,), ())] == [
        "2.0 h",
        "> 2.0 h",
        "unknown",
        "",
    ]


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A project with the profile of the papers' own data, in which nothing is made."""
    monkeypatch.chdir(tmp_path)
    return new_workspace(tmp_path, "paper")


def test_the_plan_of_the_papers_in_a_dozen_lines(paper: Workspace) -> None:
    done = CliRunner().invoke(app, ["plan"])
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert len(lines) <= 20
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
    assert "new" in lines[1].split()


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
