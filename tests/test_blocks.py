"""The generated parts of the documents."""

from pathlib import Path
from typing import Annotated

import pytest
import typer

from docs import blocks
from docs.blocks import commands_reference, joined_names, number, papers_table
from recompose.papers.declaration import all_papers

TABLE = """row,column,source,view,text
MSCI,pairs AUC,reported,,21.9
MSCI,pairs AUC,measured,exact,27.9 ± 1.6
MSCI,pairs AUC,measured,field,27.7 ± 1.7
"""


def test_a_number_is_the_measured_one_of_the_first_view_or_of_a_named_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "table.csv").write_text(TABLE, encoding="utf-8")
    monkeypatch.setattr(blocks, "REPORTS", tmp_path)
    assert number("table", "MSCI", "pairs AUC") == "27.9 ± 1.6"
    assert number("table", "MSCI", "pairs AUC", "field") == "27.7 ± 1.7"
    with pytest.raises(LookupError, match="'CSP'"):
        number("table", "CSP", "pairs AUC")


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
    lines = papers_table(papers, reports).splitlines()[2:]
    assert len(lines) == len(papers)
    assert "| 2 undecided, 1 reversed here |" in lines[0] and f"(reports/demo/{papers[0].name}/claims.md)" in lines[0]
    assert all("| not measured |" in line for line in lines[1:])
