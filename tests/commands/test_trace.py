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

from recompose.audit.differences import Chain, changes
from recompose.audit.trust import stale_reasons
from recompose.commands import trace as command
from recompose.commands.trace import Artifact, TraceResult, contents, find_printed, find_value, trace
from recompose.errors import TraceError
from recompose.tables.cells import Cell
from recompose.tables.lineage import lineage_path
from recompose.workspace import Workspace
from tests.audit.invented import cell_of, lineage_of
from tests.audit.worlds import edit_json
from tests.configuration import write_params
from tests.errors import raises

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


def read(work: Workspace, file: str = "msci/table-2.csv") -> Artifact:
    return Artifact.read(work.declared, work.reports / file)


def traced(work: Workspace, view: str | None = None) -> TraceResult:
    return trace(work, read(work), "CSP", "shapes-pairs AUC", view)


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
        trace(work, read(work), "CPS", "shapes-pairs AUC")
    assert "'CSP'" in str(error.value) and "shapes-pairs AUC" in str(error.value)


def test_a_view_can_be_chosen_and_the_first_one_is_meant_otherwise(work: Workspace) -> None:
    assert traced(work).cell.text == traced(work, "exact").cell.text == "1.0"
    assert traced(work, "field").cell.text == "0.9"
    with raises(TraceError, "missing-cell") as error:
        traced(work, "feild")
    assert "'field'" in str(error.value)


def test_a_file_without_lineage_is_an_error(work: Workspace) -> None:
    with raises(TraceError, "missing-lineage", "table-9.lineage.json"):
        read(work, "msci/table-9.csv")


def test_a_lineage_that_cannot_be_relied_on_is_an_error_that_says_so(work: Workspace) -> None:
    path = work.reports / "msci/table-2.lineage.json"
    edit_json(path, lambda lineage: next(iter(lineage["records"].values())).update(document={}))
    with raises(TraceError, "other-recipe", path):
        traced(work)
    edit_json(path, lambda lineage: lineage.pop("wanted"))
    with raises(TraceError, "outdated-lineage", path):
        traced(work)


def test_the_tree_shows_what_seeds_share_once_and_a_command_on_one_line(
    work: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(work.root)
    command.show_tree(Console(width=300), work, read(work), found := traced(work))
    text = capsys.readouterr().out
    assert text.count("settings.dropout=0.1") == 2  # of all runs, and of all evaluations
    assert all(text.count(key) >= 1 for key in found.records)
    assert [text.count(f"parameters seed={seed}\n") for seed in range(4)] == [2, 2, 2, 2]
    command.show_tree(Console(width=60), work, read(work), found)
    assert "recompose make --cell 'msci/table-2#CSP/shapes-pairs AUC/exact'\n" in capsys.readouterr().out


def test_the_short_answer_names_runs_source_and_settings_that_are_not_the_default(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(work: Workspace) -> str:
        console = Console(width=300, record=True, file=StringIO())
        value = find_value(work, read(work), "CSP", "shapes-pairs AUC")
        assert value.traced
        command.show_traced(console, work, value, value.traced)
        return console.export_text()

    text = answer(work)
    runs = [key for key, record in traced(work).records.items() if record.kind == "runs"]
    assert runs and all(key in text for key in runs)
    assert "recompose/tracks/czsl/methods/" in text
    other = edited(work, "czsl.methods.csp.dropout", 0.4)
    assert "csp.dropout 0.1, by default 0.4" in answer(other)


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
    lineage_of(evaluations, cells).write(lineage_path(work.reports / "msci/claims"))
    artifact = read(work, "msci/claims")
    for part in ("verdict", "estimate"):
        console = Console(width=300, record=True, file=StringIO())
        command.show_tree(console, work, artifact, trace(work, artifact, "best-auc", f"shapes-pairs {part}"))
        text = console.export_text()
        for line in (
            "msci: 28.5 (100), 26.25 (101)",
            "differences by replicate (seed): -1.5 (100), -3 (101)",
            "2 replicates: difference -2.25; p 0.00021 (different from zero), 0.95 (within the margin)",
            "if it is zero: 7 / > 1000",
            "p 0.0021 (different from zero, among 9), 1 (within the margin of 0.5, among 11)",
        ):
            assert line in text


@pytest.fixture(scope="module")
def printing(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A project in which a table of MSCI was made, which the paper printed."""
    root = tmp_path_factory.mktemp("printing")
    write_params(root)
    work = Workspace(root)
    evaluations = work.plan.evaluations("czsl", "csp", "shapes-pairs")
    places = [("CSP", "shapes-pairs AUC"), ("CSP", "shapes-pairs H"), ("MSCI", "shapes-pairs AUC")]
    cells = [cell_of(row, evaluations, names=["csp"], view="", column=column) for row, column in places]
    lineage_of(evaluations, cells).write(lineage_path(work.reports / "msci/table-2"))
    return work


def test_rows_and_columns_are_listed_and_narrowed_by_what_is_given(printing: Workspace) -> None:
    table = read(printing)
    everything = contents(table)
    assert everything.rows == ["CSP", "MSCI"]
    assert everything.columns == ["shapes-pairs AUC", "shapes-pairs H"]
    assert {"SCEN", "Troika"} <= {*everything.printed_rows}
    assert "mit-states AUC" in everything.printed_columns
    assert contents(table, row="MSCI").columns == ["shapes-pairs AUC"]
    assert contents(table, column="shapes-pairs H").rows == ["CSP"]
    with raises(TraceError, "missing-cell"):
        contents(table, row="MCSI")


def test_a_printed_value_is_found_with_what_is_measured_beside_it(printing: Workspace) -> None:
    table = read(printing)
    printed = find_printed(table, "CSP", "mit-states AUC")
    assert printed is not None
    assert (printed.text, printed.file) == ("19.4", "papers/msci/reported/table-2.csv")
    assert [(cell.row, cell.column) for cell in printed.beside] == [("CSP", "shapes-pairs AUC")]
    quoted = find_printed(table, "SCEN", "mit-states AUC")
    assert quoted is not None
    assert quoted.beside == []
    assert find_printed(table, "CSP", "shapes-pairs AUC") is None


def test_a_value_is_measured_or_printed_or_missing(printing: Workspace) -> None:
    table = read(printing)
    measured = find_value(printing, table, "CSP", "shapes-pairs AUC")
    assert measured.traced is not None
    assert measured.printed is None
    printed = find_value(printing, table, "CSP", "mit-states AUC")
    assert (printed.traced, printed.printed is None) == (None, False)
    with raises(TraceError, "missing-cell") as error:
        find_value(printing, table, "SCEM", "mit-states AUC")
    assert "row 'SCEN'" in str(error.value)


def test_absent_files_are_one_reason(printing: Workspace) -> None:
    value = find_value(printing, read(printing), "CSP", "shapes-pairs AUC")
    assert value.traced is not None
    traced = value.traced
    assert len(traced.absent) == len(traced.records) > 1
    assert len(traced.why) >= len(traced.absent)
    assert sum("on this disk" in reason for reason in traced.reasons) == 1


def test_planning_imports_neither_torch_nor_pandas() -> None:
    modules = (
        "recompose.cli, recompose.graph, recompose.audit.checks.artifacts, recompose.commands.trace, "
        "recompose.commands.status, recompose.commands.plan"
    )
    code = f"import sys, {modules}; print({{'torch', 'pandas', 'matplotlib', 'lightning'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
