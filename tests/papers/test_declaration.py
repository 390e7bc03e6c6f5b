"""Mistakes in what a paper's folder declares."""

import copy
from pathlib import Path

import pytest

from recompose.errors import PlanError
from recompose.papers import declaration
from recompose.papers.declaration import Paper, load_paper
from tests.configuration import GONE, edit, text_of
from tests.errors import raises

PAPER = {
    "title": "A title",
    "authors": "a",
    "venue": "v",
    "track": "czsl",
    "datasets": {},
    "variants": {"csp-wide": {"method": "csp", "settings": {"dropout": 0.5}, "datasets": ["mit-states"]}},
    "artifacts": {
        "table-2": {
            "kind": "metrics",
            "caption": "c",
            "rows": {"CSP": "csp"},
            "views": {"sources": {"heading": "h", "says": {"CSP": {"the text": "so"}}}},
        }
    },
}
TABLE = "artifacts.table-2"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of papers with the folder of one."""
    monkeypatch.setattr(declaration, "FOLDER", tmp_path)
    (tmp_path / "p").mkdir()
    return tmp_path / "p"


def load(folder: Path, text: str) -> Paper:
    (folder / "paper.yaml").write_text(text)
    paper: Paper = load_paper.__wrapped__("p")
    return paper


@pytest.mark.parametrize(
    ("values", "code", "place"),
    [
        ({f"{TABLE}.kind": GONE, f"{TABLE}.kynd": "metrics"}, "unknown-key", f"{TABLE}.kynd"),
        ({"variants.csp-wide.method": 7}, "wrong-value", "variants.csp-wide.method"),
        ({f"{TABLE}.views.sources.says": {"CSQ": {"the text": "so"}}}, "wrong-value", TABLE),
        ({f"{TABLE}.kind": "sweep"}, "wrong-value", TABLE),  # whose rows are numbers
    ],
)
def test_a_mistake_in_a_declaration_names_its_place(
    folder: Path, values: dict[str, object], code: str, place: str
) -> None:
    assert load(folder, text_of(PAPER)).variants["csp-wide"].method == "csp"
    wrong = copy.deepcopy(PAPER)
    edit(wrong, values)
    with raises(PlanError, code) as error:
        load(folder, text_of(wrong))
    assert error.value.place == f"papers/p/paper.yaml: {place}"


@pytest.mark.parametrize(
    ("text", "code"),
    [("title: [", "no-yaml"), ("- a\n- b\n", "no-section")],
)
def test_a_declaration_without_sections_is_one_error(folder: Path, text: str, code: str) -> None:
    with raises(PlanError, code, "papers/p/paper.yaml"):
        load(folder, text)


def with_margin(folder: Path, *cells: list[str]) -> Paper:
    """Load the paper with a printed table, and a claim whose margin names these cells of it."""
    (folder / "reported").mkdir(exist_ok=True)
    (folder / "reported/table-2.csv").write_text(
        "row,mit-states AUC,cgqa AUC\nCSP,30.0,12.5\nwide,28.5 ± 0.2,-\nnone,-,-\n"
    )
    claim = {"sentence": "s", "artifact": "table-2", "metric": "test/closed/dense/auc", "higher": "csp"}
    margin = {"lower": ["csp-wide"], "margin": {"half_of": list(cells)}}
    datasets = {"mit-states": "MIT-States", "cgqa": "C-GQA"}
    return load(folder, text_of({**PAPER, "datasets": datasets, "claims": {"wide-hurts": claim | margin}}))


@pytest.mark.parametrize(
    ("cells", "margin"),
    [
        ([["CSP", "AUC"], ["wide", "AUC"]], 0.75),  # on the one data set that has both
        ([["CSP", "mit-states AUC"], ["wide", "mit-states AUC"]], 0.75),
        ([["CSP"], ["wide"]], 0.75),
        ([["CSP", "mit-states AUC"], ["CSP", "cgqa AUC"]], 8.75),
        ([["wide", "AUC"], ["CSP", "AUC"]], 1.0),  # no improvement
    ],
)
def test_a_margin_is_computed_from_the_cells_that_it_names(folder: Path, cells: list[list[str]], margin: float) -> None:
    assert with_margin(folder, *cells).claims["wide-hurts"].margin.value == margin


@pytest.mark.parametrize(
    ("cells", "code", "word"),
    [
        ([["CPS", "AUC"], ["wide", "AUC"]], "unknown-row", "'CSP'"),
        ([["CSP", "AUC"], ["wide", "AUD"]], "unknown-column", "AUD"),
        ([["CSP", "AUC"], ["none", "AUC"]], "no-number", "[none, AUC]"),
    ],
)
def test_a_margin_of_what_is_not_printed_is_refused(folder: Path, cells: list[list[str]], code: str, word: str) -> None:
    with raises(PlanError, code, "papers/p/paper.yaml: claims.wide-hurts.margin") as error:
        with_margin(folder, *cells)
    assert "reported/table-2.csv" in str(error.value) and word in str(error.value)
