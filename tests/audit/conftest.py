"""A finished project to read, and copies of what an audit reads of it to change."""

from pathlib import Path

import pytest

from recompose.audit.findings import Audit
from tests.audit.worlds import audited, copy_of
from tests.conftest import Project


@pytest.fixture(scope="module")
def clean(chance_project: Project) -> Audit:
    """The audit of the project as it was made."""
    return audited(chance_project.root)


@pytest.fixture
def root(chance_project: Project, tmp_path: Path) -> Path:
    """A copy of what an audit reads of the project, which a test may change; its raw data it may only read."""
    return copy_of(chance_project.root, tmp_path / "project")
