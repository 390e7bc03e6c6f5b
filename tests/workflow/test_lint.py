"""Snakemake's own linter."""

import re

import pytest

from tests.conftest import ROOT, Project

pytestmark = pytest.mark.engines
# there is one locked environment for all rules, as the Snakefile says; short functions stand where they are used
ARGUED = {"Specify a conda environment or container for each rule.", "Mixed rules and functions in same snakefile."}


def test_the_workflow_is_clean_but_for_what_is_argued(chance_project: Project) -> None:
    assert (chance_project.root / "workflow/Snakefile").read_text() == (ROOT / "workflow/Snakefile").read_text()
    said = chance_project.call("snakemake", "--lint", check=False)
    found = set(re.findall(r"^    \* (.*?):?$", said.stdout + said.stderr, flags=re.MULTILINE))
    assert found == ARGUED
