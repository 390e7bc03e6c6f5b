"""Why a cell is stale, in words, and what a trace tells."""

import shutil
import subprocess
import sys
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from recompose.errors import TraceError
from recompose.exhibits.cells import Cell
from recompose.provenance.trace import TraceResult, trace
from recompose.report.differences import Chain, changes
from recompose.report.lineage import lineage_path
from recompose.report.trust import stale_reasons
from recompose.terminal.lineage import show_trace
from recompose.workspace import Workspace
from tests.configuration import write_params
from tests.errors import raises
from tests.provenance.invented import cell_of, lineage_of
from tests.provenance.worlds import edit_json

pytestmark = pytest.mark.slow

SEEDS, SIX = "profiles.large.czsl.seeds", [0, 1, 2, 3, 4, 5]
CODE = {"recompose.tracks.czsl.methods.csp": "1", "recompose.tracks.czsl.metrics.czsl": "2"}


def chained(name: str, document: dict[str, Any], kind: str = "runs", **more: Any) -> Chain:
    """A chain; equal ones have equal digests."""
    chain = Chain(kind, "", name, document, **more)
    return replace(chain, digest=repr(chain))


DATA = chained("d", {"images": 3}, kind="data")
OLD = chained("csp", {"settings": {"lr": 0.1, "epochs": 3}}, code=CODE, needs={"data": DATA})


@pytest.mark.parametrize(
    ("part", "reasons"),
    [
        ({}, []),
        ({"document": {"settings": {"lr": 0.2, "epochs": 3}}}, ["settings.lr was 0.1 and is 0.2 now"]),
        ({"document": {"settings": {"lr": 0.1}}}, ["settings.epochs was 3 and is None now"]),
        (
            {"code": {**CODE, "recompose.tracks.czsl.metrics.czsl": "3"}},
            ["code changed: recompose.tracks.czsl.metrics.czsl"],
        ),
        ({"needs": {"data": chained("d", {"images": 4}, kind="data")}}, ["d.images was 3 and is 4 now"]),
        ({"needs": {}}, ["it needs no data now"]),
        ({"needs": {"data": DATA, "backbone": DATA}}, ["it needs a backbone now"]),
        ({"needs": {"data": Chain("data", "f" * 64)}}, ["data changed: "]),
    ],
)
def test_every_difference_has_its_line(part: dict[str, Any], reasons: list[str]) -> None:
    new = replace(OLD, **part, digest=repr(part) if part else OLD.digest)
    found = list(changes(OLD, new))
    assert [line[: len(reason)] for line, reason in zip(found, reasons, strict=True)] == reasons


def test_what_changed_in_something_that_several_parts_need_is_said_once() -> None:
    def run(images: int) -> Chain:
        data = chained("d", {"images": images}, kind="data")
        features = chained("f", {}, kind="features", needs={"data": data})
        return chained("csp", {}, needs={"data": data, "features": features})

    assert list(changes(run(1), run(2))) == ["d.images was 1 and is 2 now"]


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A project in which a table was made from CSP's planned evaluations; nothing of it is stored."""
    root = tmp_path_factory.mktemp("planned")
    write_params(root, "large", {SEEDS: SIX})
    work = Workspace(root)
    evaluations = work.plan.evaluations("czsl", "csp", "shapes-pairs")
    cells = [
        cell_of("CSP", evaluations, names=["csp"], view=view, text=text)
        for view, text in (("exact", "1.0"), ("field", "0.9"))
    ]
    lineage_of(evaluations, cells).write(lineage_path(work.reports / "msci/table-2"))
    return work


@pytest.fixture
def work(planned: Workspace, tmp_path: Path) -> Workspace:
    """A copy of it."""
    shutil.copytree(planned.root, tmp_path / "project")
    return Workspace(tmp_path / "project")


def traced(work: Workspace, view: str | None = None) -> TraceResult:
    return trace(work, work.reports / "msci/table-2.csv", "CSP", "shapes-pairs AUC", view)


def edited(work: Workspace, key: str, value: object) -> Workspace:
    write_params(work.root, "large", {SEEDS: SIX, key: value})
    return Workspace(work.root)


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("czsl.methods.csp.dropout", 0.4, "settings.dropout was 0.1 and is 0.4 now"),
        (SEEDS, SIX[:-1], "seed 5 is no longer planned"),
        (SEEDS, [*SIX, 6], "seeds are missing: it has 6 of 7 evaluations"),
        ("profiles.large.czsl.datasets", ["mit-states"], "it is no longer planned"),
        ("czsl.feasibility.prompt", "a picture of {name}", "feasibility.prompt was a photo of {name}"),
    ],
)
def test_an_edit_makes_a_cell_stale_for_its_own_reason_only(
    work: Workspace, key: str, value: object, reason: str
) -> None:
    found = traced(edited(work, key, value))
    assert found.state == "stale"
    assert [line[: len(reason)] for line in found.why] == [reason]


def test_another_seed_of_the_data_is_named_of_every_world(work: Workspace) -> None:
    found = traced(edited(work, "czsl.datasets.shapes-pairs.seed", 8))
    assert found.state == "stale"
    assert found.why == [f"shapes-pairs.seed was {seed} and is {seed + 1} now" for seed in range(7, 13)]


def test_a_cell_of_what_is_planned_is_not_stale_and_not_verified_where_nothing_is_stored(work: Workspace) -> None:
    found = traced(work)
    assert (found.state, found.word) == ("unchecked", "not verified here")
    kinds = {"data", "backbones", "pixels", "features", "runs", "evaluations"}
    assert {key.partition("/")[0] for key in found.records} == kinds


def test_a_cell_in_the_seeds_that_rows_share_lacks_no_others(tmp_path: Path) -> None:
    write_params(tmp_path, "large", {SEEDS: SIX})
    work, variant = Workspace(tmp_path), "msci-without-df"
    everywhere = work.plan.evaluations("czsl", "msci", "shapes-pairs")
    assert len(everywhere) > len(work.plan.evaluations("czsl", variant, "shapes-pairs")) == 1
    for beside, found in (([variant, "msci"], []), ([], ["seeds are missing: it has 1 of 6 evaluations"])):
        cell = cell_of("MSCI", everywhere[:1], names=["msci"], beside=beside)
        assert stale_reasons(work.plan, lineage_of(everywhere[:1], [cell]), Cell.model_validate(cell)) == found


def test_an_unknown_cell_names_those_there_are(work: Workspace) -> None:
    with raises(TraceError, "missing-cell", "table-2.csv") as error:
        trace(work, work.reports / "msci/table-2.csv", "CPS", "shapes-pairs AUC")
    assert "'CSP'" in str(error.value) and "shapes-pairs AUC" in str(error.value)


def test_a_view_can_be_chosen_and_the_first_one_is_meant_otherwise(work: Workspace) -> None:
    assert traced(work).cell.text == traced(work, "exact").cell.text == "1.0"
    assert traced(work, "field").cell.text == "0.9"
    with raises(TraceError, "missing-cell") as error:
        traced(work, "feild")
    assert "'field'" in str(error.value)


def test_a_file_without_lineage_is_an_error(work: Workspace) -> None:
    with raises(TraceError, "missing-lineage", "table-9.lineage.json"):
        trace(work, work.reports / "msci/table-9.csv", "CSP", "shapes-pairs AUC")


def test_a_lineage_that_cannot_be_relied_on_is_an_error_that_says_so(work: Workspace) -> None:
    path = work.reports / "msci/table-2.lineage.json"
    edit_json(path, lambda lineage: next(iter(lineage["records"].values())).update(document={}))
    with raises(TraceError, "other-recipe", path):
        traced(work)
    edit_json(path, lambda lineage: lineage.pop("wanted"))
    with raises(TraceError, "outdated-lineage", path):
        traced(work)


def test_a_trace_says_what_seeds_share_once_and_where_it_was_made(work: Workspace) -> None:
    console = Console(width=300, record=True, file=StringIO())
    found = traced(work)
    show_trace(console, work, work.reports / "msci/table-2.csv", found)
    text = console.export_text()
    assert "CSP · shapes-pairs AUC · exact · not verified here" in text.splitlines()[0]
    assert text.count("settings.dropout=0.1") == 2  # of all runs, and of all evaluations
    assert all(text.count(key) >= 1 for key in found.records)
    assert [text.count(f"parameters seed={seed}\n") for seed in range(4)] == [2, 2, 2, 2]


def test_a_trace_of_a_claim_shows_replicates_differences_tests_and_corrections(tmp_path: Path) -> None:
    write_params(tmp_path, "large", {SEEDS: SIX})
    work = Workspace(tmp_path)
    evaluations = work.plan.evaluations("czsl", "csp", "shapes-pairs")
    comparison = {
        "sides": ["msci", "csp"],
        "verdict": "reversed here",
        "margin": 0.5,
        "is_kept": False,
        "test": {"replicates": 2, "difference": -2.25, "p": 0.00021, "p_margin": 0.95},
        "p": 0.0021,
        "p_margin": 1.0,
        "price": "7 / > 1000",
        "needed": 7,
    }
    evidence = {
        "unit": "points",
        "values": {"msci": {"100": 28.5, "101": 26.25}, "csp": {"100": 30.0, "101": 29.25}},
        "comparisons": [comparison],
        "family": 9,
        "margin_family": 11,
    }
    cells = [
        cell_of("best-auc", evaluations, names=["csp"], view="", column=f"shapes-pairs {part}", part=part, **more)
        for part, more in (("verdict", {"evidence": evidence, "value": None}), ("estimate", {}))
    ]
    path = work.reports / "msci/claims"
    lineage_of(evaluations, cells).write(lineage_path(path))
    for part in ("verdict", "estimate"):
        console = Console(width=300, record=True, file=StringIO())
        show_trace(console, work, path, trace(work, path, "best-auc", f"shapes-pairs {part}"))
        text = console.export_text()
        for line in (
            "msci: 28.5 (100), 26.25 (101)",
            "differences by replicate (seed): -1.5 (100), -3 (101)",
            "2 replicates: difference -2.25; p 0.00021 (different from zero), 0.95 (within the margin)",
            "if it is zero: 7 / > 1000",
            "p 0.0021 (different from zero, among 9), 1 (within the margin of 0.5, among 11)",
        ):
            assert line in text


def test_planning_imports_neither_torch_nor_pandas() -> None:
    modules = (
        "recompose.cli, recompose.graph, recompose.provenance.checks.artifacts, recompose.terminal.lineage, "
        "recompose.commands.status, recompose.commands.plan"
    )
    code = f"import sys, {modules}; print({{'torch', 'pandas', 'matplotlib', 'lightning'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
