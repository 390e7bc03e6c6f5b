"""A project of one paper: tests of engines are about the engines, and drawing figures takes most of a call's time."""

import shutil
from pathlib import Path

import pytest

from tests.conftest import Project, made_once


@pytest.fixture(scope="session")
def msci_project(chance_project: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """``chance_project`` with a profile that chooses MSCI, carried out once for all workers; a copy may be changed."""

    def make(root: Path) -> None:
        project = chance_project.copy(root)
        project.set({"profiles.smoke.czsl.papers": ["msci"]})
        shutil.rmtree(project.published / "duplex")
        project.snakemake()
        project.recompose("store", "commit")
        project.commit("One paper")

    return Project(made_once(tmp_path_factory, "msci", make))


@pytest.fixture
def project(msci_project: Project, tmp_path: Path) -> Project:
    """A copy of ``msci_project`` that a test may change."""
    return msci_project.copy(tmp_path / "msci")
