"""Scaffolds: their files, a trained number of each, and wrong arguments."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from recompose import phases
from recompose.errors import ArgumentError
from recompose.harness.evaluate import evaluate
from recompose.harness.evaluation import EvaluationRequest
from recompose.params.documents import merged
from recompose.recipes.plan import closure
from recompose.scaffolds.writing import kinds, taken_names, tracks_of, write_scaffold
from recompose.tables.stored_results import StoredResults
from recompose.workspace import Workspace
from tests.configuration import write_params
from tests.conftest import ROOT, environment
from tests.errors import raises

pytestmark = pytest.mark.slow

METRICS = {"czsl": "test/closed/dense/auc", "gzsl": "test/validated/harmonic_mean", "vlc": "test/my-suite"}
ALONE: dict[str, Any] = {"czsl": None, "gzsl": None, "vlc": None}  # the tracks of a profile but one
TINY: dict[str, dict[str, Any]] = {  # a profile of each track
    track: {"based_on": "smoke", **ALONE, track: {"seeds": [0], "methods": [method]}, "override": override}
    for track, method, override in (
        ("czsl", "chance", {"czsl.datasets.shapes-pairs.images": {"train": 83, "val": 79, "test": 113}}),
        ("gzsl", "ale", {}),
        ("vlc", "clip", {"vlc.datasets.shapes-laion.images": 32}),
    )
}
ALL = [(kind, track) for kind in kinds() for track in tracks_of(kind)]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project."""
    monkeypatch.setenv("RECOMPOSE_PROFILE", "tiny")
    folder = tmp_path / "project"
    folder.mkdir()
    write_params(folder, "demo", {"profiles.tiny": TINY["czsl"]})
    (folder / "assets").symlink_to(ROOT / "assets")
    return folder


def write_files(root: Path, kind: str, track: str = "czsl", name: str = "my-own") -> list[Path]:
    """Write a scaffold, and name its plugin in the parameters; return its files."""
    write_params(root, "demo", {"profiles.tiny": TINY[track], "plugins": plugins_of(root)})
    work = Workspace(root)
    files = write_scaffold(kind, name, track, None, root, taken_names(work, track)).files
    return [*files, work_with(root, track).root / "params.yaml"]


def plugins_of(root: Path) -> list[str]:
    return [f"../{file.parent.name}" for file in sorted(root.parent.glob("*/pyproject.toml"))]


def work_with(root: Path, track: str, override: Mapping[str, Any] | None = None, **chosen: Any) -> Workspace:
    """Return the project with all plugins beside it, and other choices of the tiny profile of a track."""
    tiny = merged(TINY[track], {track: chosen, "override": override or {}})
    write_params(root, "demo", {"profiles.tiny": tiny, "plugins": plugins_of(root)})
    return Workspace(root)


def numbers(work: Workspace, track: str, method: str, dataset: str) -> Mapping[str, float]:
    """Make what a method's numbers need, and return them."""
    (evaluation,) = work.plan.evaluations(track, method, dataset)
    phases.make(work, closure([evaluation]))
    return StoredResults(work).metrics(evaluation)


@pytest.mark.parametrize(("kind", "track"), ALL)
def test_a_scaffold_is_a_valid_plan(root: Path, kind: str, track: str) -> None:
    files = write_files(root, kind, track)
    assert all(path.is_file() for path in files)
    assert not any("$" in path.read_text() for path in files if path.suffix != ".png")
    work = Workspace(root)
    assert work.plan.recipes


def test_tests_of_scaffolds_fail_where_they_are_not_written_alone(root: Path) -> None:
    plugins = [(kind, track) for kind, track in ALL if kind != "comparison"]
    for kind, track in plugins:
        write_files(root, kind, track, f"my-{kind}-{track}")
    folders = [str(root / folder) for folder in plugins_of(root)]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *folders]
    variables = environment() | {"PYTHONPATH": os.pathsep.join((str(ROOT / "src"), *folders))}
    done = subprocess.run(command, cwd=root, env=variables, capture_output=True, text=True)
    failures = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    assert len(failures) == len(plugins) == len({line.split("::")[0] for line in failures}), done.stdout
    reasons = [line for line in done.stdout.splitlines() if line.startswith("E ") and "Failed: not written yet" in line]
    assert len(reasons) == len(plugins), done.stdout


@pytest.mark.parametrize(
    ("track", "dataset", "averaged"),
    [
        ("czsl", "shapes-pairs", ("test/closed/state", "test/closed/object")),
        ("gzsl", "my-dataset", ("test/validated/seen", "test/validated/unseen")),
    ],
)
def test_a_method_gives_trained_numbers_and_a_metric_of_them(
    root: Path, track: str, dataset: str, averaged: tuple[str, str]
) -> None:
    for kind in ("dataset", "method", "metric", "comparison"):
        write_files(root, kind, track, f"my-{kind}")
    override = {f"{track}.methods.my-method.training.epochs": 1}
    work = work_with(root, track, override, methods=["my-method"], datasets=[dataset])
    for method in ("my-method", "my-comparison-wide"):
        values = numbers(work, track, method, dataset)
        assert 0 <= values[METRICS[track]] <= 1
        assert values["test/my-metric"] == pytest.approx(mean(values[name] for name in averaged))
    (paper,) = (paper for paper in work.papers if paper.name == "my-metric")
    assert "test/my-metric" in paper.artifacts["table-1"].columns.values()


def test_a_clip_that_is_tuned_on_a_corpus_gives_numbers_on_a_suite_and_a_metric_of_them(root: Path) -> None:
    for kind in ("dataset", "suite", "method", "metric", "comparison"):
        write_files(root, kind, "vlc", f"my-{kind}")
    override = {"vlc.methods.my-method.training.epochs": 1, "vlc.datasets.my-dataset.images": 32}
    chosen: dict[str, Any] = {"methods": ["clip", "my-method"], "datasets": ["my-dataset"], "suites": ["my-suite"]}
    work = work_with(root, "vlc", override, **chosen)
    for method in ("clip", "my-method", "my-comparison-half"):  # the last one's run makes hard negatives from parses
        values = numbers(work, "vlc", method, "my-dataset")
        assert 0 <= values[METRICS["vlc"]] <= min(values["test/my-suite/text"], values["test/my-suite/image"]) <= 1
        assert values["test/my-metric"] == values[METRICS["vlc"]]
    weights = str(ROOT / "assets/shapes-clip.safetensors")
    request = EvaluationRequest("shapes-clip", weights, ("my-suite:winoground",), root / "data/vlc", root / "out")
    untuned = numbers(work, "vlc", "clip", "my-dataset")
    rows = evaluate(request).rows
    assert {f"test/{row.name}": row.value for row in rows} == {
        name: value for name, value in untuned.items() if name.startswith("test/my-suite")
    }


@pytest.mark.parametrize(
    ("kind", "name", "track", "code", "place", "near"),
    [
        ("metod", "my-own", "czsl", "unknown-name", "KIND", "'method'"),
        ("method", "my-own", "czls", "unknown-name", "--track", "'czsl'"),
        ("method", "My Own", "czsl", "wrong-name", "NAME", "lower-case"),
        ("method", "csp", "czsl", "name-taken", "NAME", "csp"),
        ("method", "json", "czsl", "name-taken", "NAME", "module"),
        ("suite", "my-own", "czsl", "unknown-name", "--track", "vlc"),
        ("suite", "shapes-suites", "vlc", "name-taken", "NAME", "shapes-suites"),
    ],
)
def test_a_wrong_argument_writes_nothing(
    root: Path, kind: str, name: str, track: str, code: str, place: str, near: str
) -> None:
    before = sorted(root.parent.rglob("*"))
    with raises(ArgumentError, code, place) as caught:
        write_scaffold(kind, name, track, None, root, taken_names(Workspace(root), track))
    assert near in str(caught.value) and "\n" not in str(caught.value)
    assert sorted(root.parent.rglob("*")) == before
