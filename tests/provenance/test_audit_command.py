"""The audit as users call it: text, JSON, exit code, and the code and declarations of the project that it stands in."""

import io
import json
import shutil
import sys
from pathlib import Path

import pytest
from rich.console import Console

from recompose.provenance.audit import audit_document
from recompose.provenance.checks.findings import Audit, Finding, Report
from recompose.report.published import Shown
from recompose.terminal.audit import show_audit
from tests.conftest import Project
from tests.provenance.worlds import MADE_FROM_RUNS, replace_once, runs_of, stale_rows

group = pytest.mark.xdist_group("engines")  # they share a project


@group
def test_the_clean_world_in_words(chance: Project) -> None:
    done = chance.recompose("audit")
    assert done.returncode == 0
    *table, verdict = done.stdout.splitlines()
    assert table[0].split() == ["artifact", "current"]
    assert ["msci/table-2", "8"] in [line.split() for line in table]
    assert table[-1].split() == ["all", "cells", "104"]
    said = "clean: everything that the reports show follows from its runs; 2 of 2 runs recomputed from their scores, "
    assert verdict.startswith(said)


@group
def test_a_bad_world_in_words_and_as_json(chance: Project) -> None:
    run = runs_of(chance.root)[0]
    (run / "log.txt").write_text("x")
    bad = f"results/runs/{run.name}/log.txt"
    said = chance.recompose("audit", check=False)
    assert said.returncode == 1
    first, place, remedy, *_ = said.stdout.splitlines()
    assert first.startswith("tampered: has 1 bytes instead of ")
    assert place == f"    {bad} (reaches 25 cells of {', '.join(MADE_FROM_RUNS)})"
    again = f"put the file back, or run `recompose store discard runs/{run.name}` to have it made again"
    assert remedy == f"    remedy: {again}"
    assert said.stdout.splitlines()[-1].startswith(
        "not clean: findings: 1 tampered; 2 of 2 runs recomputed from their scores"
    )
    written = chance.recompose("audit", "--json", check=False)
    document = json.loads(written.stdout)
    assert written.returncode == 1
    assert {key: document[key] for key in ("clean", "runs", "recomputed", "unchecked", "cells")} == {
        "clean": False,
        "runs": 2,
        "recomputed": 2,
        "unchecked": [],
        "cells": {"current": 104},
    }
    (finding,) = document["findings"]
    assert finding == {
        "state": "tampered",
        "place": bad,
        "why": first.removeprefix("tampered: "),
        "remedy": again,
        "keys": [f"runs/{run.name}"],
        "reaches": MADE_FROM_RUNS,
    }


@group
def test_changed_code_and_declarations_are_named_and_called_no_tampering(chance: Project) -> None:
    replace_once(chance.root / "src/recompose/metrics/groups.py", '"unseen"', '"unseen" + ""')
    reported = chance.root / "src/recompose/papers/msci/reported/table-2.csv"
    replace_once(reported, "29.9,25.2", "29.8,25.2")
    document = json.loads(chance.recompose("audit", "--json", check=False).stdout)
    found = [(each["state"], each["place"], each["why"]) for each in document["findings"]]
    cell = "reports/msci/table-2.csv · SCEN · mit-states S"
    declared = ("stale", cell, "shows '29.9'; reported/table-2.csv says '29.8'")
    assert sorted(found) == sorted([declared, *stale_rows("code changed: recompose.tracks.czsl.metrics.groups")])
    assert document["cells"] == {"current": 79, "stale": 25}
    assert sorted(document["unchecked"]) == sorted(
        f"results/runs/{run.name}: its numbers were taken by other code of metrics" for run in runs_of(chance.root)
    )


@group
def test_a_clone_says_what_it_could_not_check(chance: Project) -> None:
    for name in ("data", "results"):
        shutil.rmtree(chance.root / name)
    done = chance.recompose("audit")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("not checked: ")
    assert lines[1].startswith("    results/index/shapes-pairs-")
    assert (
        lines[-1]
        == "nothing found, but not all of it could be checked, see above; 0 of 2 runs recomputed from their scores, 0 files read"
    )


@group
def test_an_audit_imports_no_torch(chance: Project) -> None:
    code = (
        "import sys; from recompose.cli import app; app(['audit'], standalone_mode=False);"
        "print(sorted({'torch', 'lightning', 'pytorch_lightning', 'open_clip'} & set(sys.modules)))"
    )
    done = chance.call(sys.executable, "-c", code, check=False)
    assert done.stdout.splitlines()[-1] == "[]"


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
    cell = {"made_from": [name], "row": name}
    shown = Shown({name: {"cells": [cell], "records": {}}})
    finding = Finding("stale", f"results/{name}", f"{name} was {name}", name, (name,))
    report = Report([finding], [f"{name} is not on this disk"])
    report.cells.update(["current"])
    found = Audit(report, {name: {("measured", "", name, name): "current"}}, {}, 1, 0, [], {})
    bytes_out = io.BytesIO()
    file = io.TextIOWrapper(bytes_out, encoding="utf-8")
    show_audit(Console(file=file, width=200, force_terminal=False), found, shown)
    file.flush()
    plain = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in name)
    lines = bytes_out.getvalue().decode().splitlines()
    assert lines[:5] == [
        f"stale: {plain} was {plain}",
        f"    results/{plain} (reaches 1 cell of {plain})",
        f"    remedy: {plain}",
        "not checked: 1",
        f"    {plain} is not on this disk",
    ]
    assert lines[6].split() == [*plain.split(), "1"]
    assert json.loads(json.dumps(audit_document(found, shown)))["findings"][0]["place"] == f"results/{name}"
