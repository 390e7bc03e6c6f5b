"""Jobs that Slurm has from before."""

from pathlib import Path

import pytest

from recompose.slurm_queue import dependency_option, queued_jobs

LISTED = """\
7|{root}|rule_make_runs_wildcards_all_csp-on-cgqa-seed-0-0123456789ab
8|/elsewhere|rule_make_runs_wildcards_all_csp-on-cgqa-seed-0-0123456789ab
9|{root}|rule_make_runs_wildcards_msci.table-2_csp-on-cgqa-seed-0-0123456789ab
10|{root}|rule_make_features_wildcards_all_cgqa-by-clip-ba9876543210
11|{root}|a comment | of somebody
12|{root}|
13_[1-4]|{root}|an array
"""


@pytest.fixture
def squeue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A command that lists jobs as Slurm's does."""
    program = tmp_path / "squeue"
    program.write_text(f"#!/bin/sh\ncat <<'LISTED'\n{LISTED.format(root=tmp_path)}LISTED\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    return program


def test_a_job_goes_behind_those_of_this_folder_that_make_the_same(squeue: Path) -> None:
    numbers = queued_jobs(squeue.parent)
    assert dependency_option(numbers, "csp-on-cgqa-seed-0-0123456789ab") == "--dependency=afterany:7:9"
    assert dependency_option(numbers, "cgqa-by-clip-ba9876543210") == "--dependency=afterany:10"
    assert dependency_option(numbers, "msci-on-cgqa-seed-0-000000000000") == ""


def test_without_an_answer_of_slurm_there_are_none(squeue: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    squeue.write_text("#!/bin/sh\necho 7; exit 1\n")
    assert queued_jobs(squeue.parent) == {}
    monkeypatch.setenv("PATH", "")
    assert queued_jobs(squeue.parent) == {}
