"""Marked blocks of the documents: numbers and tables are filled from the reports, and stale ones are named."""

from pathlib import Path
from typing import Annotated

import pytest
import typer

from recompose.errors import TraceError
from recompose.papers.declaration import all_papers
from recompose.report.documents import (
    Sources,
    commands_reference,
    differing_blocks,
    fill,
    joined_names,
    measured_text,
    papers_table,
    write_documents,
)
from tests.errors import raises

TABLE = """row,column,source,view,text,value,spread,n,correct,flag
MSCI,pairs AUC,reported,,21.9,21.9,,,,
MSCI,pairs AUC,measured,exact,27.9 ± 1.6,27.8,1.6,2,,
MSCI,pairs AUC,measured,field,27.7 ± 1.7,27.7,1.7,2,,
w/o "it",pairs AUC,measured,exact,20.1,20.1,,1,,
"""


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    folder = tmp_path / "reports"
    (folder / "msci").mkdir(parents=True)
    (folder / "msci" / "table-2.csv").write_text(TABLE, encoding="utf-8")
    return folder


def number(text: str, place: str = 'msci/table-2 "MSCI" "pairs AUC"') -> str:
    return f"<!-- number: {place} -->{text}<!-- /number -->"


def test_a_number_is_filled_from_the_first_view_that_measured_it(reports: Path) -> None:
    assert fill(f"AUC {number('1.0')} here", Sources(reports)) == f"AUC {number('27.9 ± 1.6')} here"


@pytest.mark.parametrize(
    ("row", "view", "text"),
    [("MSCI", "field", "27.7 ± 1.7"), ("MSCI", "exact", "27.9 ± 1.6"), ('w/o "it"', None, "20.1")],
)
def test_a_view_and_any_row_can_be_named(reports: Path, row: str, view: str | None, text: str) -> None:
    assert measured_text(reports, "msci/table-2", row, "pairs AUC", view) == text


def test_quotes_in_names_are_escaped_as_in_a_shell(reports: Path) -> None:
    place = r'msci/table-2 "w/o \"it\"" "pairs AUC"'
    assert fill(number("", place), Sources(reports)) == number("20.1", place)


@pytest.mark.parametrize(
    ("place", "code", "nearest"),
    [
        ('msci/table-2 "MSCO" "pairs AUC"', "unknown-row", "MSCI"),
        ('msci/table-2 "MSCI" "pairs AUX"', "unknown-column", "pairs AUC"),
        ('msci/table-2 "MSCI" "pairs AUC" fields', "unknown-view", "field"),
        ('msci/table-3 "MSCI" "pairs AUC"', "missing-file", "table-3.csv"),
        ("msci/table-2 MSCI", "no-place", "ARTIFACT"),
        ('msci/table-2 "MSCI', "no-place", "ARTIFACT"),
        (r'msci/table-2 "w/o \"it\"" "pairs AUC" field', "missing-cell", "pairs AUC"),
    ],
)
def test_a_number_that_does_not_exist_is_an_error_that_names_the_nearest(
    reports: Path, place: str, code: str, nearest: str
) -> None:
    with raises(TraceError, code) as error:
        fill(number("1.0", place), Sources(reports))
    assert nearest in str(error.value)


def test_tables_are_filled_by_name(reports: Path) -> None:
    text = "<!-- generated: rows -->\nold\n<!-- /generated -->\n"
    filled = "<!-- generated: rows -->\n| a |\n| b |\n<!-- /generated -->\n"
    assert fill(text, Sources(reports, {"rows": "| a |\n| b |\n"})) == filled
    assert fill(filled, Sources(reports, {"rows": "| a |\n| b |\n"})) == filled
    with raises(TraceError, "unknown-table", "rows"):
        fill(text, Sources(reports, {"row": ""}))


def test_fenced_examples_are_left_alone(reports: Path) -> None:
    text = f"```\n{number('1.0')}\n```\n{number('1.0')}\n```text\n{number('2.0', 'no place')}\n```\n"
    assert fill(text, Sources(reports)) == text.replace(f"\n{number('1.0')}\n```t", f"\n{number('27.9 ± 1.6')}\n```t")


def test_all_documents_are_written_and_then_nothing_differs(tmp_path: Path, reports: Path) -> None:
    (tmp_path / "docs" / "reference").mkdir(parents=True)
    pages = {"README.md": number("1.0"), "docs/reference/page.md": number("27.9 ± 1.6"), "docs/other.md": "none"}
    for name, text in pages.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    sources = Sources(reports)
    difference, *others = differing_blocks(tmp_path, sources)
    assert not others
    assert str(difference) == (
        'README.md: number msci/table-2 "MSCI" "pairs AUC": it says 1.0, the reports say 27.9 ± 1.6'
    )
    assert write_documents(tmp_path, sources) == [Path("README.md")]
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == number("27.9 ± 1.6")
    assert not differing_blocks(tmp_path, sources)
    assert not write_documents(tmp_path, sources)


def test_a_block_without_content_is_listed_and_keeps_all_documents_as_they_are(tmp_path: Path, reports: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text(number("1.0"), encoding="utf-8")
    (tmp_path / "docs" / "page.md").write_text("<!-- generated: none -->\n<!-- /generated -->", encoding="utf-8")
    files = [difference.file.as_posix() for difference in differing_blocks(tmp_path, Sources(reports))]
    assert files == ["README.md", "docs/page.md"]
    with pytest.raises(TraceError):
        write_documents(tmp_path, Sources(reports))
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == number("1.0")


def test_names_that_differ_in_one_part_share_a_pattern() -> None:
    names = [f"{split}/{world}/{part}" for split in ("val", "test") for world in ("closed", "open") for part in "ab"]
    assert [pattern for pattern, _ in joined_names(dict.fromkeys(names, 1))] == ["{val,test}/{closed,open}/{a,b}"]
    metrics = {"val/a": 1, "val/b": 1, "test/a": 1, "test/b": 1, "test/c": 2, "test": 1, "test/a/x": 1}
    assert [pattern for pattern, _ in joined_names(metrics)] == ["{val,test}/{a,b}", "test/c", "test", "test/a/x"]


def test_commands_are_listed_with_their_options_but_for_hidden_ones() -> None:
    app, inner = typer.Typer(), typer.Typer()
    app.add_typer(inner, name="store")

    @app.command()
    def trace(
        artifact: Annotated[str, typer.Argument(help="A table | a figure.")],
        row: Annotated[str, typer.Option(help="The row.")],
        count: Annotated[int, typer.Option("--count", "-c", help="How many.")] = 3,
        recipe: Annotated[str | None, typer.Option(hidden=True)] = None,
    ) -> None:
        """Print a number,
        and its lineage.
        """

    @inner.command()
    def verify() -> None:
        """Verify all files."""

    assert commands_reference(app) == "\n".join(
        [
            "## `recompose store verify`",
            "",
            "Verify all files.",
            "",
            "## `recompose trace ARTIFACT`",
            "",
            "Print a number, and its lineage.",
            "",
            "| argument or option | meaning |",
            "| --- | --- |",
            "| `ARTIFACT` | A table \\| a figure. Required. |",
            "| `--row` | The row. Required. |",
            "| `--count, -c` | How many. Default: `3`. |",
        ]
    )


def test_papers_are_listed_with_artifacts_claims_and_verdicts(tmp_path: Path) -> None:
    papers = all_papers()
    (tmp_path / "demo" / papers[0].name).mkdir(parents=True)
    rows = "a,pairs verdict,measured,,undecided (one seed)\nb,pairs verdict,measured,,undecided (x)\n"
    (tmp_path / "demo" / papers[0].name / "claims.csv").write_text(
        "row,column,source,view,text\n" + rows + "b,pairs n,measured,,1\nc,pairs verdict,measured,,reversed here\n",
        encoding="utf-8",
    )
    reports = tmp_path / "demo"
    lines = papers_table(papers, reports, "reports/demo").splitlines()[2:]
    assert len(lines) == len(papers)
    assert "| 2 undecided, 1 reversed here |" in lines[0] and f"(reports/demo/{papers[0].name}/claims.md)" in lines[0]
    assert all("| not measured |" in line for line in lines[1:])
