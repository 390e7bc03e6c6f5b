"""What people ask Snakemake for: everything, a phase, a paper, a file; and what it says of that."""

import os
from pathlib import Path

import pytest

from recompose.monitor.snakemake_call import check_known_targets
from recompose.workspace import Workspace
from tests.conftest import Project

pytestmark = pytest.mark.engines
TARGETS = ("all", "data", "features", "runs", "artifacts", "msci", "duplex", "table", "figure")
NOTHING = "Nothing to be done"
TABLE = "reports/smoke/msci/table-2.csv"


def written(project: Project) -> dict[str, int]:
    """When each report was written."""
    paths = [path for path in (project.root / "reports").rglob("*") if path.is_file()]
    return {str(path.relative_to(project.root)): path.stat().st_mtime_ns for path in paths}


def changed(before: dict[str, int], after: dict[str, int]) -> set[str]:
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def files_of(*stems: str) -> set[str]:
    return {f"reports/smoke/{stem}.{ending}" for stem in stems for ending in ("csv", "md", "tex", "lineage.json")}


def test_targets_say_what_they_are_and_steps_of_all_have_names_alone(chance_project: Project) -> None:
    said = chance_project.call("snakemake", "--list").stdout
    lines = dict(line.partition(" ")[::2] for line in said.splitlines())
    for target in TARGETS:
        assert lines[target].startswith("("), target
    for step in ("make_data", "make_msci_table_2", "make_rest", "first_table", "first_page", "artifacts_of_msci"):
        assert lines[step] == ""
    assert {name for name, about in lines.items() if about.startswith("(One paper")} == {"msci", "duplex"}


def test_a_mistyped_target_is_one_line_with_the_nearest_before_anything_begins(chance_project: Project) -> None:
    text = "there is no target 'msic'; the nearest is 'msci'; `snakemake --list` names all rules"
    done = chance_project.snakemake("msic", check=False)
    own = [line for line in done.stderr.splitlines() if not line.startswith("Using workflow specific profile")]
    assert (done.returncode, own) == (1, [text])
    before = {path: path.stat().st_mtime_ns for path in chance_project.root.glob("results/logs/*")}
    done = chance_project.recompose("reproduce", "msic", check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"recompose: {text}\n")
    assert before == {path: path.stat().st_mtime_ns for path in chance_project.root.glob("results/logs/*")}
    listed = chance_project.call("snakemake", "--list").stdout.splitlines()
    check_known_targets([line.partition(" ")[0] for line in listed], Workspace(chance_project.root))


def test_a_file_is_made_with_just_what_it_needs_and_no_more_than_once(trained: Project) -> None:
    for path in ("results", "reports"):
        (trained.root / path).rename(trained.root / f"{path}-before")
    trained.snakemake("reports/smoke/msci/table-1.csv")  # statistics of data sets
    assert written(trained).keys() == files_of("msci/table-1")
    made = [path.parent.parent.name for path in trained.root.glob("results/*/*/record.json")]
    assert made == ["data"]
    assert NOTHING in trained.snakemake("reports/smoke/msci/table-1.csv").stderr


def test_a_file_is_made_anew_where_what_it_was_made_from_or_itself_was_changed(chance: Project) -> None:
    before, right = written(chance), chance.table()
    assert NOTHING in chance.snakemake(TABLE).stderr
    (chance.root / TABLE).write_text(right.replace("measured", "reported"))
    os.utime(chance.root / TABLE, (2**31, 2**31))  # from a clock that is ahead
    chance.snakemake(TABLE)
    assert chance.table() == right
    assert changed(before, written(chance)) == files_of("msci/table-2")
    before = written(chance)
    chance.set({"profiles.smoke.czsl.seeds": [4, 5]})
    chance.snakemake(TABLE)
    assert chance.table() != right
    assert changed(before, written(chance)) == files_of("msci/table-2")
    assert NOTHING in chance.snakemake(TABLE).stderr
    assert chance.jobs() == {"artifacts_of_msci": 1, "artifacts_of_duplex": 1, "write_report": 1}


def test_a_paper_is_made_alone_and_the_rest_later(chance: Project) -> None:
    before = written(chance)
    chance.set({"profiles.smoke.czsl.seeds": [4, 5]})
    chance.snakemake("msci")
    assert {Path(name).parent.name for name in changed(before, written(chance))} == {"msci"}
    assert NOTHING in chance.snakemake("msci").stderr
    assert chance.jobs() == {"artifacts_of_duplex": 1, "write_report": 1}


def test_a_phase_is_made_alone_and_each_job_says_what_it_does(trained: Project) -> None:
    (trained.root / "results").rename(trained.root / "results-before")
    said = trained.snakemake("data", "--dry-run").stdout
    assert "data: shapes-pairs" in said
    assert "shapes-scenes" in said
    assert "backbones: " not in said
    said = trained.snakemake("features", "--dry-run").stdout
    assert "backbones: shapes-clip-from-scratch" in said
    assert "features: shapes-pairs by shapes-clip-from-scratch" in said
    assert " of c-s-o on " not in said
    said = trained.snakemake("runs", "--dry-run").stdout
    assert "of c-s-o on shapes-pairs, seeds 0" in said
    assert "artifacts_of_" not in said
    said = trained.snakemake("--dry-run", "msci", "duplex").stdout  # what both need stands in one job
    assert said.count(": backbones: shapes-clip-from-scratch\n") == 1
    assert sum("features: shapes-pairs by shapes-clip-from-scratch" in line for line in said.splitlines()) <= 2
