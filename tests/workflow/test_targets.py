"""What people ask Snakemake for: everything, a phase, a paper, a file; and what it says of that."""

import json
import shutil
from pathlib import Path

import pytest

from tests.conftest import Project, announced

pytestmark = pytest.mark.engines
TARGETS = ("all", "data", "features", "runs", "artifacts", "page", "msci", "duplex")
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


def test_targets_say_what_they_are_and_rules_of_single_contents_have_names_alone(chance_project: Project) -> None:
    listed = chance_project.call("snakemake", "--list").stdout
    lines = dict(line.partition(" ")[::2] for line in listed.splitlines())
    for target in TARGETS:
        assert lines[target].startswith("("), target
    for rule in ("index_data", "evaluate_czsl", "table", "figure"):
        assert lines[rule] == ""
    assert {name for name, about in lines.items() if about.startswith("(One paper")} == {"msci", "duplex"}


def test_a_mistyped_target_is_one_line_with_the_nearest_before_anything_begins(chance_project: Project) -> None:
    done = chance_project.snakemake("msic", check=False)
    own = [line for line in done.stderr.splitlines() if not line.startswith("Using workflow specific profile")]
    text = "there is no target 'msic'; the nearest is 'msci'; `snakemake --list` names all rules"
    assert (done.returncode, own) == (1, [text])


def state(project: Project) -> dict[str, int]:
    """The files of a project but Snakemake's and git's own, with their times."""
    files = (path for path in project.root.rglob("*") if path.is_file())
    own = [path.relative_to(project.root) for path in files]
    return {
        str(path): (project.root / path).stat().st_mtime_ns
        for path in own
        if path.parts[0] not in (".snakemake", ".git") and "__pycache__" not in path.parts
    }


def test_questions_to_snakemake_write_nothing(chance: Project) -> None:
    chance.set({"profiles.smoke.czsl.seeds": [4, 5]})
    before = state(chance)
    for question in ("--dry-run", "--list", "--summary", "--dag", "--rulegraph"):
        chance.snakemake(question)
        assert state(chance) == before, question


def test_options_of_snakemake_neither_lose_nor_falsify_a_result(chance: Project) -> None:
    runs, reports = chance.runs(), chance.reports()
    for options in (
        ("--unlock",),
        ("--touch",),
        ("--rerun-incomplete",),
        ("--keep-incomplete",),
        ("--until", "evaluate_czsl"),
        ("--omit-from", "page"),
        ("--notemp",),
        ("--set-resources", "evaluate_czsl:mem_mb=1000"),
        ("--cleanup-metadata", TABLE),
    ):
        chance.snakemake(*options)
        assert chance.runs() == runs and chance.reports() == reports, options
    assert NOTHING in chance.snakemake().stderr


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


def test_config_chooses_a_profile_and_refuses_all_else_in_one_line(chance_project: Project) -> None:
    planned = chance_project.snakemake("--dry-run", "--config", "profile=demo").stdout
    assert "train_msci" in announced(planned)
    done = chance_project.snakemake("--config", "czsl=1", check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "--config czsl=...: it sets the profile alone; edit czsl in params.yaml"


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
    chance.snakemake(TABLE)
    assert chance.table() == right
    assert changed(before, written(chance)) == files_of("msci/table-2")
    before = written(chance)
    chance.set({"profiles.smoke.czsl.seeds": [4, 5]})
    chance.snakemake(TABLE)
    assert chance.table() != right
    assert changed(before, written(chance)) == files_of("msci/table-2")
    assert NOTHING in chance.snakemake(TABLE).stderr
    assert chance.jobs().keys() == {"table", "figure", "page"}


def test_a_paper_is_made_alone_and_the_rest_later(chance: Project) -> None:
    before = written(chance)
    chance.set({"profiles.smoke.czsl.seeds": [4, 5]})
    chance.snakemake("msci")
    assert {Path(name).parent.name for name in changed(before, written(chance))} == {"msci"}
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
