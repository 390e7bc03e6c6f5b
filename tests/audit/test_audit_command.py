"""The audit as users call it: text, JSON, exit code."""

import io
import json
import sys
import tarfile
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from recompose.audit.audit import audit_document
from recompose.audit.findings import Audit, Finding
from recompose.commands.audit import show_findings
from recompose.commands.release import write_release
from recompose.main import app
from recompose.parts.cells import Cell
from recompose.recipes.plan import Recipe
from recompose.recipes.state import State
from recompose.tables.provenance import MADE, Made
from recompose.tables.published import Published
from recompose.workspace import Workspace
from tests.audit.worlds import MADE_FROM_EVALUATIONS, SHOWN, first_of, key_of
from tests.conftest import Project


@pytest.mark.slow
def test_the_clean_world_in_words_without_torch(chance_project: Project) -> None:
    """In a process of its own, as users start it."""
    code = (
        "import sys; from recompose.main import app; app(['audit', '--full'], standalone_mode=False);"
        "print(sorted({'torch', 'lightning', 'pytorch_lightning', 'open_clip'} & set(sys.modules)))"
    )
    done = chance_project.call(sys.executable, "-c", code, check=False)
    *table, verdict, imported = done.stdout.splitlines()
    assert (done.returncode, imported) == (0, "[]")
    assert table[0].split() == ["artifact", "current"]
    assert ["msci/table-2", "8"] in [line.split() for line in table]
    assert table[-1].split() == ["all", "cells", str(sum(SHOWN.values()))]
    assert verdict.startswith("clean: ") and "2 of 2 evaluations" in verdict


def test_a_bad_world_in_words_and_as_json(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = first_of(root)
    (folder / "log.txt").write_text("x")
    bad, key = f"results/{key_of(folder)}/log.txt", key_of(folder)
    reached = sum(MADE_FROM_EVALUATIONS.values())
    monkeypatch.chdir(root)
    in_words, as_json = (CliRunner().invoke(app, ["audit", *option]) for option in ([], ["--json"]))
    assert (in_words.exit_code, as_json.exit_code) == (1, 1)
    document = json.loads(as_json.stdout)
    (finding,) = document["findings"]
    assert (finding["state"], finding["place"]) == ("changed", bad)
    assert (finding["keys"], finding["reaches"]) == ([key], MADE_FROM_EVALUATIONS)
    assert f"recompose store discard {key}" in finding["remedy"]
    cells = {"current": sum(SHOWN.values()) - reached, "changed": reached}
    counts = {"clean": False, "evaluations": 2, "recomputed": 1, "cells": cells}
    assert {name: document[name] for name in counts} == counts
    lines = in_words.stdout.splitlines()
    assert lines[0] == f"changed: {finding['why']}" and finding["remedy"] in lines[2]
    assert bad in lines[1] and f"{reached} cells of {', '.join(sorted(MADE_FROM_EVALUATIONS))}" in lines[1]


def test_a_report_counts_the_build_info_that_it_writes(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reports of a clone were made on another machine; those made here replace them."""
    path = root / "reports/smoke" / MADE
    made = Made.read(path.parent)
    builds = [*made.builds.items()][::2]
    elsewhere = {key: build.model_copy(update={"device": "another machine"}) for key, build in builds}
    made.model_copy(update={"builds": made.builds | elsewhere}).write(path.parent)
    monkeypatch.chdir(root)
    done = CliRunner().invoke(app, ["report"])
    assert done.exit_code == 0, done.output
    assert "audit: is clean" in done.output
    assert Made.read(path.parent) == made


HOSTILE = [
    "[red]red[/red]",
    "[/]",
    "[bold",
    "[link=file:///etc/passwd]x[/link]",
    ":bug: 100% {row} \\",
    "<script>alert(1)</script>",
    "one\nclean: everything holds",
    "\x1b[31mred\x1b[0m\x07",
    "\ud800",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_shown_as_they_are_and_break_nothing(name: str, tmp_path: Path) -> None:
    """A name can come from a lineage, a record, a file of reports, or the folder of a data set."""
    recipe = Recipe("evaluations")
    cell = Cell.model_construct(made_from=[recipe.key], row=name)
    published = Published({name: Recipe("artifacts", needs={"e": recipe})}, {name: [cell]})
    finding = Finding.of("outdated", f"results/{name}", f"{name} was {name}", recipe.key, remedy=name)
    absent = Finding.of("unchecked", name, "is not on this disk")
    found = Audit([finding, absent], {name: {("measured", "", name, name): State()}}, 1, 0, {})
    bytes_out = io.BytesIO()
    file = io.TextIOWrapper(bytes_out, encoding="utf-8")
    show_findings(Console(file=file, width=200, force_terminal=False), found, published, full=True)
    file.flush()
    plain = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in name)
    lines = bytes_out.getvalue().decode().splitlines()
    assert lines[:5] == [
        f"outdated: {plain} was {plain}",
        f"    results/{plain} (reaches 1 cell of {plain})",
        f"    remedy: {plain}",
        "unchecked: is not on this disk",
        f"    {plain}",
    ]
    assert lines[6].split() == [*plain.split(), "1"]
    assert json.loads(json.dumps(audit_document(found, published)))["findings"][0]["place"] == f"results/{name}"


@pytest.mark.parametrize("name", ["", "reports/smoke/msci/table-2.md", "results/{key}/scores.safetensors"])
def test_a_release_is_audited_as_a_project_is(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    archive, place = tmp_path / "small.tar.gz", name.format(key=key_of(first_of(root)))
    write_release(Workspace(root), Workspace(root).papers, archive)
    with tarfile.open(archive) as file:
        file.extractall(tmp_path / "unpacked", filter="data")
    if name:
        path = tmp_path / "unpacked/small" / place
        path.write_bytes(path.read_bytes()[::-1])
    with tarfile.open(archive, "w:gz") as file:
        file.add(tmp_path / "unpacked/small", "small")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECOMPOSE_PROFILE", "smoke")  # which the audit sets
    done = CliRunner().invoke(app, ["audit", "--release", str(archive), "--json"])
    document = json.loads(done.stdout)
    assert done.exit_code == (1 if name else 0), document["findings"]
    assert {finding["place"] for finding in document["findings"]} == ({place} if name else set())
    assert document["recomputed"] == (1 if "scores" in name else 2)


def test_an_edited_table_fails_its_paper_alone_and_git_diff_comes_first(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = root / "reports/smoke/msci/table-2.md"
    table.write_text(table.read_text() + "more\n")
    monkeypatch.chdir(root)
    done = CliRunner().invoke(app, ["audit", "msci", "--json"])
    assert done.exit_code == 1
    document = json.loads(done.stdout)
    (finding,) = document["findings"]
    assert (finding["state"], finding["place"]) == ("changed", "reports/smoke/msci/table-2.md")
    assert "git diff" in finding["remedy"].partition(";")[0]
    assert all(name.startswith("msci/") for name in document["artifacts"])
    assert CliRunner().invoke(app, ["audit", "duplex"]).exit_code == 0
