"""What changed between a cell at a revision and now, in repositories made for it."""

import json
import subprocess
from copy import deepcopy
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from recompose.cli import app
from recompose.files import write_json
from recompose.provenance.diff import Diff, DiffError, diff
from recompose.provenance.trace import TraceError
from recompose.terminal.lineage import show_diff
from tests.conftest import environment

Lineage = dict[str, Any]


def record(digest: str, seed: int, method: str = "csp") -> dict[str, Any]:
    recipe = {
        "method": method,
        "settings": {"lr": 0.1, "epochs": 3},
        "dataset": {"name": "d", "digest": "a" * 64},
        "backbone": {"name": "b", "digest": "c" * 64},
        "features": {"name": "f", "digest": "e" * 64},
        "seed": seed,
        "code": {"recompose.tracks.czsl.methods.csp": "1", "recompose.tracks.czsl.metrics.czsl": "2"},
    }
    made = {"commit": "1" * 40, "dirty": False, "device": "2 x CPU", "python": "3.11", "packages": {"torch": "2.12"}}
    files = {"metrics.json": {"sha256": digest[:1] * 64, "bytes": 1}}
    return {"digest": digest, "recipe": recipe, "inputs": {"weights": "8" * 64}, "files": files, "made": made}


def lineage(*records: dict[str, Any], value: float = 1.0) -> Lineage:
    """A table of one row in two views, made from these."""
    keyed = {f"runs/{each['digest'][:12]}": each for each in records}
    cell = {"row": "CSP", "column": "AUC", "made_from": list(keyed), "value": value, "text": f"{value:.1f}"}
    return {"cells": [{**cell, "view": "exact"}, {**cell, "view": "field", "value": value / 2}], "records": keyed}


OLD = [record("a0" * 32, 0), record("a1" * 32, 1)]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """The old lineage, committed, in a folder below the repository's top."""
    write_json(tmp_path / "work/reports/table.lineage.json", lineage(*OLD))
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message", "old")
    return tmp_path / "work"


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, env=environment(), check=True)


def since_then(repository: Path, now: Lineage, view: str | None = None, revision: str = "HEAD") -> Diff:
    write_json(repository / "reports/table.lineage.json", now)
    return diff(repository / "reports/table.csv", revision, "CSP", "AUC", view)


def changed(part: str, name: str, value: Any) -> list[dict[str, Any]]:
    """The old records with something changed in part of each; a new recipe has a new digest."""
    records = deepcopy(OLD)
    for seed, each in enumerate(records):
        each[part][name] = value
        if part == "recipe":
            each["digest"] = f"b{seed}" * 32
    return records


@pytest.mark.parametrize(
    ("part", "name", "value", "expected"),
    [
        ("recipe", "settings", {"lr": 0.2, "epochs": 3}, {"parameters": "settings.lr was 0.1 and is 0.2 now"}),
        ("recipe", "trainer", {"threads": 2}, {"parameters": "trainer was None and is {'threads': 2} now"}),
        (
            "recipe",
            "code",
            {"recompose.tracks.czsl.metrics.czsl": "2"},
            {"code": "code changed: recompose.tracks.czsl.methods.csp"},
        ),
        (
            "recipe",
            "dataset",
            {"name": "d", "digest": "f" * 64},
            {"data": f"dataset changed: {'a' * 12} is {'f' * 12} now"},
        ),
        (
            "recipe",
            "backbone",
            {"name": "b", "digest": "f" * 64},
            {"backbone": f"backbone changed: {'c' * 12} is {'f' * 12} now"},
        ),
        (
            "recipe",
            "features",
            {"name": "f", "digest": "f" * 64},
            {"features": f"features changed: {'e' * 12} is {'f' * 12} now"},
        ),
        ("made", "packages", {"torch": "2.13"}, {"packages": "packages.torch was 2.12 and is 2.13 now"}),
        ("made", "device", "1 x GPU", {"device": "device was 2 x CPU and is 1 x GPU now"}),
        ("made", "commit", "2" * 40, {"commit": f"commit was {'1' * 40} and is {'2' * 40} now"}),
        ("made", "host", "elsewhere", {}),
        ("inputs", "pixels", "9" * 64, {"found": f"pixels was none and is {'9' * 12} now"}),
        ("inputs", "weights", "9" * 64, {"found": f"weights was {'8' * 12} and is {'9' * 12} now"}),
        (
            "files",
            "metrics.json",
            {"sha256": "9" * 64},
            {"files": f"metrics.json was {'a' * 12} and is {'9' * 12} now"},
        ),
    ],
)
def test_every_input_has_its_kind(repository: Path, part: str, name: str, value: Any, expected: dict[str, str]) -> None:
    found = since_then(repository, lineage(*changed(part, name, value), value=2.0))
    both = ["csp, seed 0", "csp, seed 1"]
    assert found.changed == {kind: {line: both} for kind, line in expected.items()}
    assert found.same_runs == (part != "recipe")
    assert [(pair.before[5:7], pair.title) for pair in found.pairs] == [("a0", both[0]), ("a1", both[1])]
    assert (found.before["value"], found.after["value"]) == (1.0, 2.0)


def test_seeds_added_and_removed_are_named(repository: Path) -> None:
    found = since_then(repository, lineage(OLD[0], record("a2" * 32, 2), record("a3" * 32, 3)))
    assert found.removed == {"runs/a1a1a1a1a1a1": "csp, seed 1"}
    assert set(found.added.values()) == {"csp, seed 2", "csp, seed 3"}
    assert [pair.after for pair in found.pairs] == ["runs/a0a0a0a0a0a0"] and not found.same_runs


def test_of_several_runs_with_a_seed_the_nearest_are_paired(repository: Path) -> None:
    """A claim is made from several methods: the one that only changed its code stands for itself, not for the other."""
    near, far = record("b0" * 32, 0), record("c0" * 32, 0, method="dfsp")
    near["recipe"]["code"] = {"recompose.tracks.czsl.methods.csp": "9", "recompose.tracks.czsl.metrics.czsl": "2"}
    near["recipe"]["settings"] = {"lr": 1, "epochs": 1}
    found = since_then(repository, lineage(far, near, OLD[1]))
    assert {pair.before: pair.after for pair in found.pairs} == {
        "runs/a0a0a0a0a0a0": "runs/b0b0b0b0b0b0",
        "runs/a1a1a1a1a1a1": "runs/a1a1a1a1a1a1",
    }
    assert found.added == {"runs/c0c0c0c0c0c0": "dfsp, seed 0"}


def test_the_same_view_is_compared(repository: Path) -> None:
    now = lineage(*OLD, value=3.0)
    now["cells"].reverse()
    assert (since_then(repository, now).before["view"], since_then(repository, now).before["value"]) == ("field", 0.5)
    assert since_then(repository, now, "exact").before["value"] == 1.0


def test_a_lineage_that_knows_only_cells_and_recipes_is_enough(repository: Path) -> None:
    bare = [{"digest": each["digest"], "recipe": each["recipe"]} for each in OLD]
    write_json(repository / "reports/table.lineage.json", lineage(*bare))
    git(repository, "commit", "--all", "--quiet", "--message", "bare")
    found = since_then(repository, lineage(*OLD))
    assert found.changed == {} and found.same_runs


def test_the_working_tree_is_left_alone(repository: Path) -> None:
    now = lineage(*changed("recipe", "settings", {}))
    since_then(repository, now)
    assert json.loads((repository / "reports/table.lineage.json").read_text()) == now


@pytest.mark.parametrize("revision", ["nowhere", "", "--help", "-h", "--output=stolen", "HEAD:work", "HEAD\n"])
def test_an_unknown_revision_is_an_error_and_no_option(repository: Path, revision: str) -> None:
    with pytest.raises(DiffError, match="git knows no revision"):
        since_then(repository, lineage(*OLD), revision=revision)
    assert not list(repository.rglob("stolen"))


def test_no_repository_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DiffError, match="in no git repository"):
        since_then(tmp_path, lineage(*OLD))


def test_an_artifact_that_was_not_there_is_an_error(repository: Path) -> None:
    write_json(repository / "reports/other.lineage.json", lineage(*OLD))
    with pytest.raises(DiffError, match=r"other.lineage.json is not in revision 'HEAD'"):
        diff(repository / "reports/other.csv", "HEAD", "CSP", "AUC")


def test_a_cell_that_was_not_there_names_those_that_were(repository: Path) -> None:
    now = lineage(*OLD)
    now["cells"].append(now["cells"][0] | {"row": "CSPP"})
    write_json(repository / "reports/table.lineage.json", now)
    with pytest.raises(TraceError, match=r"table.csv at HEAD has no measured cell in row 'CSPP'[^\0]*nearest: 'CSP'"):
        diff(repository / "reports/table.csv", "HEAD", "CSPP", "AUC")


def shown(repository: Path, now: Lineage) -> str:
    console = Console(width=300, record=True, file=StringIO())
    show_diff(console, repository / "reports/table.csv", since_then(repository, now))
    return console.export_text()


def test_the_same_runs_are_said_to_be_the_same(repository: Path) -> None:
    assert "made by the same runs" in shown(repository, lineage(*OLD, value=4.0))
    assert "made by the same runs" not in shown(repository, lineage(OLD[0]))


def test_a_change_of_some_says_of_which_and_hostile_values_stay_on_their_line(repository: Path) -> None:
    one = changed("recipe", "settings", {"lr": "[bold]\n<script>", "epochs": 3})[0]
    text = shown(repository, lineage(one, OLD[1]))
    assert "settings.lr was 0.1 and is [bold] <script> now (csp, seed 0)" in text


def test_the_command_says_it_in_json(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_json(repository / "reports/table.lineage.json", lineage(*changed("made", "device", "GPU")))
    monkeypatch.chdir(repository)
    asked = ["diff", "reports/table.csv", "HEAD", "--row", "CSP", "--column", "AUC", "--json"]
    said = json.loads(CliRunner().invoke(app, asked).stdout)
    assert said["same_runs"] and list(said["changed"]) == ["device"] and len(said["commit"]) == 40
