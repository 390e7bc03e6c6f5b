"""The impact of changes against a revision, compared with complete plans of the edited trees."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from recompose.errors import DiffError
from recompose.monitor import impact as impact_module
from recompose.monitor.impact import PlanSummary, estimate_impact, plan_at, plan_difference
from recompose.provenance.diff import commit_of
from recompose.terminal.impact import markdown
from recompose.workspace import Workspace
from tests.conftest import ROOT, commit_files, environment, restore_files, with_values
from tests.errors import raises

pytestmark = pytest.mark.slow

Edit = Callable[[Path], None]
# what a tree plans by its own code, and the impact that it tells; one process imports the package once for both
DIGESTS_AND_IMPACT = """
import json, sys
from pathlib import Path
from recompose import cli
from recompose.workspace import Workspace
print(json.dumps({recipe.key: recipe.kind for recipe in Workspace(Path.cwd()).plan.recipes}))
sys.argv = ["recompose", "impact", "--json"]
cli.main()
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


def digests_of(root: Path) -> dict[str, str]:
    """Return the recipes that the code of this process plans, and their kinds."""
    return {recipe.key: recipe.kind for recipe in Workspace(root).plan.recipes}


def by_own_code(root: Path) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the recipes that a tree plans by its own code, and the impact that it tells."""
    command = [sys.executable, "-c", DIGESTS_AND_IMPACT]
    done = subprocess.run(command, cwd=root, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    digests, _, document = done.stdout.partition("\n")
    return json.loads(digests), json.loads(document)


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


PARAMETERS: dict[str, Edit] = {
    "a learning rate": param(czsl__methods__csp__training__lr=0.123),
    "a setting of scoring": param(czsl__methods__csp__prompt="a picture of {state} {object}"),
    "seeds": param(profiles__smoke__czsl__seeds=[0, 1, 7]),
    "fewer methods": param(profiles__smoke__czsl__methods=["csp", "clip"]),
}
CODE: dict[str, tuple[Edit, bool]] = {  # edit, and whether it makes any recipe anew
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


@pytest.fixture(scope="module")
def before(committed: Path) -> dict[str, str]:
    """The recipes of the tree as it was committed; its code is that of this process."""
    return digests_of(committed)


@pytest.fixture(scope="module")
def summary_before(committed: Path) -> PlanSummary:
    """The plan of the revision, made once by its own code."""
    work = Workspace(committed)
    return plan_at(work, "HEAD", commit_of(committed, "HEAD"))


def check(
    impact: Mapping[str, Any], before: Mapping[str, str], after: Mapping[str, str], *, makes_anew: bool, measures: bool
) -> None:
    """Check that precision and recall are one: the stale recipes are those that only the edited tree's plan has."""
    assert {*impact["stale"]["runs"], *impact["stale"]["evaluations"], *impact["steps"]} == after.keys() - before.keys()
    dropped = {key for key, kind in before.items() if kind == "runs"} - after.keys()
    assert impact["dropped_runs"] == len(dropped)
    assert bool(after.keys() - before.keys() or before.keys() - after.keys()) == makes_anew
    changed_artifacts = {artifact["artifact"] for artifact in impact["artifacts"]}
    assert bool(changed_artifacts) == (makes_anew or measures)
    assert len(impact["files"]) == 1


@pytest.mark.parametrize("name", PARAMETERS)
def test_what_parameters_make_stale_is_what_a_complete_rerun_would_make(
    root: Path, before: dict[str, str], summary_before: PlanSummary, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(impact_module, "plan_at", lambda *_: summary_before)
    PARAMETERS[name](root)
    impact = estimate_impact(Workspace(root), "HEAD").document()
    check(impact, before, digests_of(root), makes_anew=True, measures=False)


@pytest.mark.parametrize("name", CODE)
def test_what_code_makes_stale_is_what_a_complete_rerun_would_make(
    root: Path, before: dict[str, str], name: str
) -> None:
    edit, makes_anew = CODE[name]
    edit(root)
    after, impact = by_own_code(root)
    check(impact, before, after, makes_anew=makes_anew, measures=name == "code of a metric")


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
