"""A paper is its folder alone: nothing else is edited, and everything follows."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.configuration import text_of, write_params
from tests.conftest import ROOT, Project

pytestmark = pytest.mark.slow

NAME, VARIANT = "more-dropout", "csp-wide"
PAPER: dict[str, Any] = {
    "title": "On More Dropout",
    "authors": "Nobody",
    "venue": "nowhere",
    "track": "czsl",
    "datasets": {"shapes-pairs": "Shapes"},
    "headline": {"artifact": "table-1", "method": "csp"},
    "variants": {VARIANT: {"method": "csp", "settings": {"dropout": 0.5}, "datasets": ["shapes-pairs"]}},
    "artifacts": {
        "table-1": {
            "kind": "metrics",
            "caption": "More dropout.",
            "rows": {"CSP": "csp", "CSP, more dropout": VARIANT},
            "columns": {"AUC": "test/closed/dense/auc"},
        },
        "claims": {"kind": "claims", "caption": "What the text says."},
    },
    "claims": {
        "dropout-hurts": {
            "sentence": "More dropout hurts.",
            "artifact": "table-1",
            "margin": {"value": 1, "source": "by hand"},
            "metric": "test/closed/dense/auc",
            "higher": "csp",
            "lower": [VARIANT],
        }
    },
}


def add_paper(papers: Path) -> None:
    """Write the paper's folder: its declaration, what it printed, and notes."""
    folder = papers / NAME
    (folder / "reported").mkdir(parents=True)
    (folder / "paper.yaml").write_text(text_of(PAPER))
    (folder / "reported/table-1.csv").write_text("row,shapes-pairs AUC\nCSP,30.0\n")
    (folder / "notes.md").write_text("Nothing is left open.\n")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy of the project with the paper's folder."""
    root = tmp_path_factory.mktemp("project")
    for name in ("src", "workflow"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    add_paper(root / "src/recompose/papers")
    write_params(root)
    return Project(root)


def test_snakemake_makes_it_and_its_files(project: Project) -> None:
    targets = {line.split()[0] for line in project.call("snakemake", "--list").stdout.splitlines() if line.strip()}
    assert NAME in targets


def test_dvc_tracks_all_reports_of_the_profile_whatever_papers_there_are() -> None:
    reports = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]["reports"]
    assert [path for out in reports["outs"] for path in out] == ["reports/${profile}"]
