"""The impact of changes against a revision, compared with complete plans of the edited trees."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recompose.errors import DiffError
from recompose.monitor.impact import PlanSummary, estimate_impact, plan_difference
from recompose.terminal.impact import markdown
from recompose.workspace import Workspace
from tests.conftest import ROOT, commit_files, environment, restore_files, with_values
from tests.errors import raises

Edit = Callable[[Path], None]
DIGESTS = """
import json
from pathlib import Path
from recompose.workspace import Workspace
print(json.dumps({recipe.key: recipe.kind for recipe in Workspace(Path.cwd()).plan.recipes}))
"""


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources and parameters in a repository of their own, with the profile smoke."""
    root = tmp_path_factory.mktemp("impact") / "project"
    shutil.copytree(ROOT / "src", root / "src", ignore=shutil.ignore_patterns("__pycache__"))
    params = (ROOT / "params.yaml").read_text()
    (root / "params.yaml").write_text(with_values(params, {"profile": "smoke"}))
    (root / ".gitignore").write_text("__pycache__\n/results\n/data\n")
    return commit_files(root, ".")


@pytest.fixture
def root(committed: Path) -> Path:
    """The same, as it was committed."""
    return restore_files(committed, ".")


def call(root: Path, *arguments: str) -> str:
    """Run Python in the tree, with its own code."""
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=root, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def param(**values: Any) -> Edit:
    """Set a parameter, by its path with double underscores."""

    def edit(root: Path) -> None:
        path = root / "params.yaml"
        path.write_text(with_values(path.read_text(), {key.replace("__", "."): value for key, value in values.items()}))

    return edit


def source(module: str, pattern: str, replacement: str) -> Edit:
    """Replace the first match in a module."""

    def edit(root: Path) -> None:
        path = root / "src" / "recompose" / module
        text, count = re.subn(pattern, replacement, path.read_text(), count=1)
        assert count == 1
        path.write_text(text)

    return edit


EDITS: dict[str, tuple[Edit, bool]] = {  # edit, and whether it makes any recipe anew
    "a learning rate": (param(czsl__methods__csp__training__lr=0.123), True),
    "a setting of scoring": (param(czsl__methods__csp__prompt="a picture of {state} {object}"), True),
    "seeds": (param(profiles__smoke__czsl__seeds=[0, 1, 7]), True),
    "fewer methods": (param(profiles__smoke__czsl__methods=["csp", "clip"]), True),
    "a method's code": (
        source("tracks/czsl/methods/csp/model.py", r"self\.dropout\(self\.primitives\)", "self.primitives"),
        True,
    ),
    "code of all runs": (source("training/loop.py", r"\n\n\n", "\n\nCHANGED = 1\n\n\n"), True),
    "code of scoring": (source("tracks/gzsl/evaluation.py", r"\n\n\n", "\n\nCHANGED = 1\n\n\n"), True),
    "code of a metric": (source("tracks/czsl/metric_values.py", r"\n\n\n", "\n\nCHANGED = 1\n\n\n"), False),
    "a comment": (source("training/loop.py", r"\n\n\n", "\n\n# a comment\n\n\n"), False),
    "code of the terminal": (source("terminal/text.py", r"\n\n\n", "\n\nCHANGED = 1\n\n\n"), False),
}


@pytest.mark.parametrize("name", EDITS)
def test_what_is_stale_is_what_a_complete_rerun_would_make(root: Path, name: str) -> None:
    """Precision and recall are one: the stale recipes are those that only the edited tree's own plan has."""
    edit, makes_anew = EDITS[name]
    before = json.loads(call(root, "-c", DIGESTS))
    edit(root)
    after = json.loads(call(root, "-c", DIGESTS))
    impact = json.loads(call(root, "-m", "recompose", "impact", "--json"))
    assert {*impact["stale"]["runs"], *impact["stale"]["evaluations"], *impact["steps"]} == after.keys() - before.keys()
    dropped = {key for key, kind in before.items() if kind == "runs"} - after.keys()
    assert impact["dropped_runs"] == len(dropped)
    assert bool(after.keys() - before.keys() or before.keys() - after.keys()) == makes_anew
    changed_artifacts = {artifact["artifact"] for artifact in impact["artifacts"]}
    assert bool(changed_artifacts) == (makes_anew or name == "code of a metric")
    assert len(impact["files"]) == 1


def summary(**values: Any) -> PlanSummary:
    plain = {
        "profile": "p",
        "recipes": {},
        "evaluations": [("czsl", "csp", "pairs", ["a", "b"])],
        "benchmarks": [("czsl", "pairs", "d")],
        "artifacts": {},
        "metric_code": {"czsl": "m"},
    }
    return PlanSummary.model_validate(plain | values)


def test_a_difference_names_evaluations_benchmarks_and_code_of_metrics() -> None:
    assert plan_difference(summary(), summary()).evaluations == set()
    other = summary(evaluations=[("czsl", "csp", "pairs", ["a"]), ("czsl", "clip", "pairs", ["c"])])
    assert plan_difference(summary(), other).evaluations == {("czsl", "csp", "pairs"), ("czsl", "clip", "pairs")}
    assert plan_difference(summary(), summary(benchmarks=[("czsl", "pairs", "e")])).data == {("czsl", "pairs")}
    assert plan_difference(summary(), summary(metric_code={"czsl": "n"})).evaluations == {("czsl", "csp", "pairs")}


def test_a_revision_that_cannot_be_planned_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(ROOT / "params.yaml", tmp_path / "params.yaml")
    with raises(DiffError, "no-repository"):
        estimate_impact(Workspace(tmp_path), "HEAD")
    (tmp_path / "other").write_text("x")
    commit_files(tmp_path, "other")
    with raises(DiffError, "unknown-revision"):
        estimate_impact(Workspace(tmp_path), "--output=stolen")
    with raises(DiffError, "no-sources") as error:
        estimate_impact(Workspace(tmp_path), "HEAD")
    assert error.value.place == "HEAD"


def test_markdown_escapes_names_of_files(root: Path) -> None:
    (root / "<b>|x.txt").write_text("x")
    try:
        text = markdown(estimate_impact(Workspace(root), "HEAD"))
    finally:
        (root / "<b>|x.txt").unlink()
    assert "<b>" not in text
    assert "&lt;b&gt;" in text
