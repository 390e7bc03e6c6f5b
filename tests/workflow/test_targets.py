"""What people ask Snakemake for: everything, a phase, a paper, a file; and what it says of that."""

import json
import shutil
from pathlib import Path

import pytest

from tests.conftest import Project, announced

pytestmark = pytest.mark.engines
NOTHING = "Nothing to be done"
TABLE = "reports/smoke/msci/table-2.csv"


def times_of_reports(project: Project) -> dict[str, int]:
    """When each report was written."""
    paths = [path for path in (project.root / "reports").rglob("*") if path.is_file()]
    return {str(path.relative_to(project.root)): path.stat().st_mtime_ns for path in paths}


def changed(before: dict[str, int], after: dict[str, int]) -> set[str]:
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def files_of(*stems: str) -> set[str]:
    return {f"reports/smoke/{stem}.{ending}" for stem in stems for ending in ("csv", "md", "tex")}


def test_touch_makes_no_record_that_is_believed(chance: Project) -> None:
    shutil.rmtree(chance.root / "results")
    chance.snakemake("--touch", check=False)
    assert list(chance.root.glob("results/*/*/record.json")) == []
    assert chance.jobs()["evaluate_czsl"] == 2


def test_what_is_forced_is_made_anew_with_what_follows_and_gives_the_same(trained: Project) -> None:
    before = {key: json.loads(record) for key, record in trained.runs().items()}
    table = trained.table()
    trained.snakemake("msci", "--forcerun", "train_c_s_o")
    after = {key: json.loads(record) for key, record in trained.runs().items()}
    made = {key for key in before if before[key]["made"]["started"] != after[key]["made"]["started"]}
    assert made == {key for key in before if key.startswith("runs/")}
    without_costs = [{key: record["inputs"] for key, record in records.items()} for records in (before, after)]
    assert without_costs[0] == without_costs[1]
    assert trained.table() == table


def test_config_chooses_a_profile(chance_project: Project) -> None:
    assert "train_msci" in chance_project.jobs("--config", "profile=demo")


def test_a_file_is_made_with_just_what_it_needs_and_no_more_than_once(trained: Project) -> None:
    for path in ("results", "reports"):
        (trained.root / path).rename(trained.root / f"{path}-before")
    trained.snakemake("reports/smoke/msci/table-1.csv")  # statistics of data sets
    assert times_of_reports(trained).keys() == files_of("msci/table-1")
    made = [path.parent.parent.name for path in trained.root.glob("results/*/*/record.json")]
    assert sorted(made) == ["artifacts", "data"]
    assert NOTHING in trained.snakemake("reports/smoke/msci/table-1.csv").stderr


def test_a_file_is_made_anew_where_what_it_was_made_from_or_itself_was_changed(chance: Project) -> None:
    before, right = times_of_reports(chance), chance.table()
    assert NOTHING in chance.snakemake(TABLE).stderr
    (chance.root / TABLE).write_text(right.replace("measured", "reported"))
    chance.snakemake(TABLE)
    assert chance.table() == right
    assert changed(before, times_of_reports(chance)) == files_of("msci/table-2")
    before = times_of_reports(chance)
    chance.set({"profiles.smoke.czsl.seeds": [4, 5]})
    chance.snakemake(TABLE)
    assert chance.table() != right
    assert changed(before, times_of_reports(chance)) == files_of("msci/table-2")
    assert NOTHING in chance.snakemake(TABLE).stderr
    assert chance.jobs().keys() == {"table", "figure", "page"}


def test_a_paper_is_made_alone_and_the_rest_later(chance: Project) -> None:
    before = times_of_reports(chance)
    chance.set({"profiles.smoke.czsl.seeds": [4, 5]})
    chance.snakemake("msci")
    assert {Path(name).parent.name for name in changed(before, times_of_reports(chance))} == {"msci"}
    assert NOTHING in chance.snakemake("msci").stderr
    later = chance.snakemake("--dry-run").stdout
    assert announced(later).keys() == {"table", "figure", "page"}
    assert "table msci/" not in later and "table duplex/" in later


def test_a_phase_is_made_alone_and_each_job_says_what_it_does(trained: Project) -> None:
    contents = {kind: len(list(trained.root.glob(f"results/{kind}/*/record.json"))) for kind in ("data", "evaluations")}
    (trained.root / "results").rename(trained.root / "results-before")
    planned = trained.snakemake("data", "--dry-run").stdout
    assert announced(planned) == {"data": 1, "index_data": contents["data"]}
    assert "index shapes-pairs" in planned and "make backbone" not in planned
    planned = trained.snakemake("features", "--dry-run").stdout
    assert "make backbone shapes-clip-from-scratch" in planned
    assert "encode shapes-pairs by shapes-clip-from-scratch" in planned
    assert "train c-s-o" not in planned
    planned = trained.snakemake("runs", "--dry-run").stdout
    assert "train c-s-o on shapes-pairs, seed 0" in planned
    assert announced(planned)["evaluate_czsl"] == contents["evaluations"]
    assert "table" not in announced(planned)
    planned = trained.snakemake("--dry-run", "msci", "duplex").stdout
    assert planned.count(": make backbone shapes-clip-from-scratch\n") == 1
