"""Why a cell is stale, in words."""

import subprocess
import sys
from pathlib import Path

import pytest

from recompose.files import write_json
from recompose.plan import Run
from recompose.provenance.trace import TraceError, changes, trace
from recompose.workspace import Workspace
from tests.conftest import ROOT

OLD = {
    "method": "csp",
    "settings": {"lr": 0.1, "epochs": 3},
    "dataset": {"name": "d", "digest": "a" * 64},
    "backbone": {"name": "b", "digest": "c" * 64},
    "seed": 0,
    "code": {"recompose.tracks.czsl.methods.csp": "1", "recompose.tracks.czsl.metrics.czsl": "2"},
}


@pytest.mark.parametrize(
    ("new", "reasons"),
    [
        (OLD, []),
        (OLD | {"settings": {"lr": 0.2, "epochs": 3}}, ["settings.lr was 0.1 and is 0.2 now"]),
        (OLD | {"settings": {"lr": 0.1}}, ["settings.epochs was 3 and is None now"]),
        (
            OLD | {"code": {**OLD["code"], "recompose.tracks.czsl.metrics.czsl": "3"}},
            ["code changed: recompose.tracks.czsl.metrics.czsl"],
        ),  # type: ignore[dict-item]
        (OLD | {"dataset": {"name": "d", "digest": "f" * 64}}, [f"dataset changed: {'a' * 12} is {'f' * 12} now"]),
        (OLD | {"backbone": None}, [f"backbone was {OLD['backbone']} and is None now"]),
    ],
)
def test_every_difference_has_its_line(new: dict, reasons: list[str]) -> None:  # type: ignore[type-arg]
    assert list(changes(OLD, new)) == reasons


def test_what_changed_in_something_that_is_named_by_its_digest_is_said_once() -> None:
    def data(images: int) -> dict[str, object]:
        return {"dataset": "d", "images": {"test": images}}

    def backbone(corpus: str) -> dict[str, object]:
        return {"backbone": "b", "corpus": corpus}

    known = {
        "d1": data(1),
        "d2": data(2),
        "b1": backbone("c1"),
        "b2": backbone("c2"),
        "c1": {"scenes": 3},
        "c2": {"scenes": 4},
    }
    known |= {f"f{n}": {"dataset": f"d{n}", "backbone": f"b{n}", "code": {"encoder": "1"}} for n in (1, 2)}
    old, new = (
        {part: {"name": part, "digest": f"{part[0]}{n}"} for part in ("dataset", "backbone", "features")}
        for n in (1, 2)
    )
    said = ["corpus.scenes was 3 and is 4 now", "dataset.images.test was 1 and is 2 now"]
    assert list(dict.fromkeys(changes(old, new, known=known))) == said
    del known["b2"]
    assert "backbone changed: b1 is b2 now" in list(changes(old, new, known=known))


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    """A project in which a table was made from CSP's planned runs."""
    (tmp_path / "params.yaml").write_text((ROOT / "params.yaml").read_text())
    work = Workspace(tmp_path)
    save_lineage(work, work.plan.runs_of("csp", "shapes-pairs"))
    return work


def save_lineage(work: Workspace, runs: list[Run]) -> None:
    keys = [f"runs/{run.folder}" for run in runs]
    named = {"row": "CSP", "measures": ["csp"], "column": "shapes-pairs AUC", "made_from": keys, "missing": []}
    cells = [{**named, "view": "exact", "text": "1.0"}, {**named, "view": "field", "text": "0.9"}]
    records = {key: {"digest": run.digest, "recipe": run.document} for key, run in zip(keys, runs, strict=True)}
    write_json(work.reports / "msci/table-2.lineage.json", {"cells": cells, "records": records})


def stale(work: Workspace) -> list[str]:
    return trace(work, work.reports / "msci/table-2.csv", "CSP", "shapes-pairs AUC").stale


def edited(work: Workspace, old: str, new: str) -> Workspace:
    path = work.root / "params.yaml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    return Workspace(work.root)


def test_a_cell_of_the_planned_runs_is_current(work: Workspace) -> None:
    assert stale(work) == []


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("    dropout: 0.1", "    dropout: 0.4", ["settings.dropout was 0.1 and is 0.4 now"]),
        ("seeds: [0, 1, 2]", "seeds: [0, 1]", ["seed 2 is not asked for any more"]),
        ("seeds: [0, 1, 2]", "seeds: [0, 1, 2, 3]", ["seeds are missing: it has 3 of 4 runs"]),
        ("datasets: [shapes-pairs]", "datasets: [mit-states]", ["the current parameters do not ask for it"]),
        ("  clip:\n    prompt: a photo", "  clip:\n    prompt: a picture", []),
    ],
)
def test_an_edit_makes_a_cell_stale_for_its_own_reason_only(
    work: Workspace, old: str, new: str, reason: list[str]
) -> None:
    assert stale(edited(work, old, new)) == reason


def test_a_change_of_the_data_names_the_data(work: Workspace) -> None:
    reasons = stale(edited(work, "seed: 7", "seed: 8"))
    assert [reason.split(":")[0] for reason in reasons] == ["dataset changed", "features changed"]


def test_an_unknown_cell_names_those_there_are(work: Workspace) -> None:
    with pytest.raises(TraceError, match=r"rows \(nearest: 'CSP'\): CSP") as error:
        trace(work, work.reports / "msci/table-2.csv", "CPS", "shapes-pairs AUC")
    assert "columns: shapes-pairs AUC" in str(error.value)


def test_a_view_can_be_chosen_and_the_first_one_is_meant_otherwise(work: Workspace) -> None:
    asked = (work, work.reports / "msci/table-2.csv", "CSP", "shapes-pairs AUC")
    assert trace(*asked).cell["text"] == trace(*asked, "exact").cell["text"] == "1.0"
    assert trace(*asked, "field").cell["text"] == "0.9"
    with pytest.raises(TraceError, match=r"views \(nearest: 'field'\): exact, field"):
        trace(*asked, "feild")


def test_a_file_without_lineage_is_an_error(work: Workspace) -> None:
    with pytest.raises(TraceError, match="is missing"):
        trace(work, work.reports / "msci/table-9.csv", "CSP", "shapes-pairs AUC")


def test_planning_imports_neither_torch_nor_pandas() -> None:
    code = "import sys, recompose.cli, recompose.receipts, recompose.terminal.lineage, recompose.terminal.status, recompose.terminal.cost; print({'torch', 'pandas', 'lightning'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
