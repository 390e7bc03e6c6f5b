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
from recompose.digest import digest
from recompose.errors import DiffError, TraceError
from recompose.files import write_json
from recompose.plan import Recipe
from recompose.provenance.diff import Diff, diff
from recompose.terminal.lineage import show_diff
from tests.conftest import environment
from tests.errors import raises
from tests.provenance.invented import cell_of, record_of

Lineage = dict[str, Any]
CODE = {"recompose.tracks.czsl.methods.csp": "1", "recompose.tracks.czsl.metrics.czsl": "2"}
DATA, BACKBONE = Recipe("data", "d", {"images": 3}), Recipe("backbones", "b", {"epochs": 3})


def recipe(seed: int, method: str = "csp", **more: Any) -> Recipe:
    """An evaluation of one of two seeds, with what is said to be different about it."""
    document = {"settings": {"lr": 0.1, "epochs": 3}, "seed": seed} | more.pop("document", {})
    needs = {"data": DATA, "backbone": BACKBONE} | more.pop("needs", {})
    labels = {"method": method, "dataset": "d", "seed": seed}
    return Recipe("evaluations", f"{method}, seed {seed}", document, needs, **({"code": CODE} | more), labels=labels)


def lineage(*records: dict[str, Any], value: float = 1.0) -> Lineage:
    """A table of one row in two views, made from these, in the form that is written."""
    keys = [f"{each['kind']}/{each['digest'][:12]}" for each in records]
    cell = cell_of("CSP", [], column="AUC", made_from=keys, value=value, text=f"{value:.1f}", names=["csp"])
    codes: dict[str, Any] = {}
    written = {}
    for key, each in [*zip(keys, records, strict=True), *((r.key, record_of(r)) for r in (DATA, BACKBONE, *OTHERS))]:
        codes[digest(each["code"])] = each["code"]
        written[key] = {**each, "code": digest(each["code"])}
    return {
        "track": "czsl",
        "benchmarks": {},
        "cells": [{**cell, "view": "exact"}, {**cell, "view": "field", "value": value / 2}],
        "asked": [{"name": "csp", "benchmark": "d", "evaluations": keys}],
        "records": written,
        "wanted": {},
        "metric_code": {},
        "codes": codes,
        "files": {},
    }


OTHERS = [Recipe("data", "d", {"images": 4}), Recipe("backbones", "b", {"epochs": 4})]
RECIPES = [recipe(0), recipe(1)]
OLD = [record_of(each) for each in RECIPES]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """The old lineage, committed, in a folder below the repository's top."""
    write_json(tmp_path / "work/reports/demo/msci/table.lineage.json", lineage(*OLD))
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message", "old")
    return tmp_path / "work"


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, env=environment(), check=True)


def since_then(repository: Path, now: Lineage, view: str | None = None, revision: str = "HEAD") -> Diff:
    write_json(repository / "reports/demo/msci/table.lineage.json", now)
    return diff(repository / "reports/demo/msci/table.csv", revision, "CSP", "AUC", view)


def changed(**more: Any) -> list[dict[str, Any]]:
    """The old records, with something different about each; a new recipe has a new digest."""
    return [record_of(recipe(seed, **deepcopy(more))) for seed in range(2)]


def with_part(part: str, name: str, value: Any) -> list[dict[str, Any]]:
    """The old records, come out otherwise."""
    records = deepcopy(OLD)
    for each in records:
        each[part][name] = value
    return records


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ({"document": {"settings": {"lr": 0.2, "epochs": 3}}}, "settings.lr was 0.1 and is 0.2 now"),
        ({"document": {"trainer": {"threads": 2}}}, "trainer was None and is {'threads': 2} now"),
        ({"code": {"recompose.tracks.czsl.metrics.czsl": "2"}}, "code changed: recompose.tracks.czsl.methods.csp"),
        ({"needs": {"data": OTHERS[0]}}, "d.images was 3 and is 4 now"),
        ({"needs": {"backbone": OTHERS[1]}}, "b.epochs was 3 and is 4 now"),
    ],
)
def test_every_change_of_a_recipe_has_its_line(repository: Path, more: dict[str, Any], line: str) -> None:
    found = since_then(repository, lineage(*changed(**more), value=2.0))
    assert found.changed == {line: ["csp, seed 0", "csp, seed 1"]}
    assert not found.same_runs
    assert [pair.before for pair in found.pairs] == [each.key for each in RECIPES]
    assert (found.before.value, found.after.value) == (1.0, 2.0)


@pytest.mark.parametrize(
    ("part", "name", "value", "line"),
    [
        ("inputs", "data", "9" * 64, "the same data has other content"),
        ("files", "scores.safetensors", {"sha256": "9" * 64, "bytes": 1}, "scores.safetensors has other content"),
        ("files", "more.txt", {"sha256": "9" * 64, "bytes": 1}, "more.txt has other content"),
    ],
)
def test_what_came_out_otherwise_of_the_same_recipe_is_named(
    repository: Path, part: str, name: str, value: Any, line: str
) -> None:
    found = since_then(repository, lineage(*with_part(part, name, value)))
    assert found.changed == {line: ["csp, seed 0", "csp, seed 1"]}
    assert found.same_runs


def test_seeds_added_and_removed_are_named(repository: Path) -> None:
    found = since_then(repository, lineage(OLD[0], record_of(recipe(2)), record_of(recipe(3))))
    assert found.removed == {RECIPES[1].key: "csp, seed 1"}
    assert set(found.added.values()) == {"csp, seed 2", "csp, seed 3"}
    assert [pair.after for pair in found.pairs] == [RECIPES[0].key] and not found.same_runs


def test_of_several_with_a_seed_the_nearest_are_paired(repository: Path) -> None:
    """A claim is made from several methods: the one that only changed its code stands for itself, not for the other."""
    code = CODE | {"recompose.tracks.czsl.methods.csp": "9"}
    near, far = (
        recipe(0, code=code, document={"settings": {"lr": 1, "epochs": 1}}),
        recipe(0, "dfsp", document={"x": 1}),
    )
    found = since_then(repository, lineage(record_of(far), record_of(near), OLD[1]))
    assert {pair.before: pair.after for pair in found.pairs} == {
        RECIPES[0].key: near.key,
        RECIPES[1].key: RECIPES[1].key,
    }
    assert found.added == {far.key: "dfsp, seed 0"}


def test_the_same_view_is_compared(repository: Path) -> None:
    now = lineage(*OLD, value=3.0)
    now["cells"].reverse()
    assert (since_then(repository, now).before.view, since_then(repository, now).before.value) == ("field", 0.5)
    assert since_then(repository, now, "exact").before.value == 1.0


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"cells": [], "records": []}'])
def test_a_lineage_of_another_form_in_a_revision_is_an_error(repository: Path, text: str) -> None:
    (repository / "reports/demo/msci/table.lineage.json").write_text(text)
    git(repository, "commit", "--all", "--quiet", "--message", "older")
    with raises(DiffError, "no-lineage", "table.lineage.json"):
        since_then(repository, lineage(*OLD))


def test_the_working_tree_is_left_alone(repository: Path) -> None:
    now = lineage(*changed(document={"settings": {}}))
    since_then(repository, now)
    assert json.loads((repository / "reports/demo/msci/table.lineage.json").read_text()) == now


@pytest.mark.parametrize("revision", ["nowhere", "", "--help", "-h", "--output=stolen", "HEAD:work", "HEAD\n"])
def test_an_unknown_revision_is_an_error_and_no_option(repository: Path, revision: str) -> None:
    with raises(DiffError, "unknown-revision"):
        since_then(repository, lineage(*OLD), revision=revision)
    assert not list(repository.rglob("stolen"))


def test_no_repository_is_an_error(tmp_path: Path) -> None:
    with raises(DiffError, "no-repository", tmp_path):
        since_then(tmp_path, lineage(*OLD))


def test_an_artifact_that_was_not_there_is_an_error(repository: Path) -> None:
    write_json(repository / "reports/demo/msci/other.lineage.json", lineage(*OLD))
    with raises(DiffError, "missing-file", "other.lineage.json"):
        diff(repository / "reports/demo/msci/other.csv", "HEAD", "CSP", "AUC")


def test_a_cell_that_was_not_there_names_those_that_were(repository: Path) -> None:
    now = lineage(*OLD)
    now["cells"].append(now["cells"][0] | {"row": "CSPP"})
    write_json(repository / "reports/demo/msci/table.lineage.json", now)
    with raises(TraceError, "missing-cell", "table.csv at HEAD") as error:
        diff(repository / "reports/demo/msci/table.csv", "HEAD", "CSPP", "AUC")
    assert "'CSP'" in str(error.value)


def shown(repository: Path, now: Lineage) -> str:
    console = Console(width=300, record=True, file=StringIO())
    show_diff(console, repository / "reports/demo/msci/table.csv", since_then(repository, now))
    return console.export_text()


def test_the_same_runs_are_said_to_be_the_same(repository: Path) -> None:
    assert "made by the same runs" in shown(repository, lineage(*OLD, value=4.0))
    assert "made by the same runs" not in shown(repository, lineage(OLD[0]))


def test_a_change_of_some_says_of_which_and_hostile_values_stay_on_their_line(repository: Path) -> None:
    one = changed(document={"settings": {"lr": "[bold]\n<script>", "epochs": 3}})[0]
    text = shown(repository, lineage(one, OLD[1]))
    assert "settings.lr was 0.1 and is [bold]\N{REPLACEMENT CHARACTER}<script> now (csp, seed 0)" in text


def test_the_command_says_it_in_json(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_json(repository / "reports/demo/msci/table.lineage.json", lineage(*with_part("inputs", "data", "9" * 64)))
    monkeypatch.chdir(repository)
    asked = ["diff", "reports/demo/msci/table.csv", "HEAD", "--row", "CSP", "--column", "AUC", "--json"]
    said = json.loads(CliRunner().invoke(app, asked).stdout)
    assert (
        said["same_runs"] and list(said["changed"]) == ["the same data has other content"] and len(said["commit"]) == 40
    )
