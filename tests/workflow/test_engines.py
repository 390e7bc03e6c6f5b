"""Both engines, as users call them: what is up to date, what an edit reruns, and which numbers come out."""

import csv
import io
import json
from pathlib import Path

import pytest

from tests.conftest import Project

pytestmark = pytest.mark.xdist_group("engines")
SEEDS = "seeds: [0, 1]"
OTHER_SEEDS = "seeds: [4, 5]"


def measured(table: str) -> dict[str, str]:
    """Measured cells: column -> text."""
    rows = csv.DictReader(io.StringIO(table))
    return {row["column"]: row["value"] for row in rows if row["source"] == "measured"}


def seeds_behind(project: Project) -> list[int]:
    """The seeds of the runs behind Table 2."""
    records = json.loads((project.root / "reports/msci/table-2.lineage.json").read_text())["records"]
    return sorted(record["recipe"]["seed"] for record in records.values())


def test_a_second_call_of_snakemake_does_nothing(chance: Project) -> None:
    assert "Nothing to be done" in chance.snakemake().stderr


def test_snakemake_then_dvc_trains_nothing_and_changes_nothing(chance: Project) -> None:
    runs, table = chance.runs(), chance.table()
    chance.call("dvc", "repro")
    assert (chance.runs(), chance.table()) == (runs, table)
    assert "up to date" in chance.call("dvc", "repro").stdout


@pytest.mark.parametrize("engine", [("snakemake", "--cores", "all"), ("dvc", "repro")])
def test_an_edit_reruns_what_it_touches_and_going_back_trains_nothing(chance: Project, engine: tuple[str, ...]) -> None:
    before, table, index = chance.runs(), chance.table(), sorted(chance.root.glob("results/index/*"))
    chance.edit(SEEDS, OTHER_SEEDS)
    chance.call(*engine)
    after = chance.runs()
    assert len(after) == len(before) + 2
    assert before.items() <= after.items()
    assert seeds_behind(chance) == [4, 5]
    assert measured(chance.table()) != measured(table)
    assert sorted(chance.root.glob("results/index/*")) == index
    chance.edit(OTHER_SEEDS, SEEDS)
    chance.call(*engine)
    assert (chance.runs(), chance.table()) == (after, table)


def test_edit_after_a_fresh_clone_gives_the_new_numbers(chance: Project, tmp_path: Path) -> None:
    clone = chance.clone(tmp_path / "clone")
    clone.call("dvc", "checkout", "--quiet")
    assert clone.runs() == chance.runs()
    clone.edit(SEEDS, OTHER_SEEDS)
    clone.call("dvc", "repro")
    assert seeds_behind(clone) == [4, 5]
    chance.edit(SEEDS, OTHER_SEEDS)
    chance.snakemake()
    assert clone.table() == chance.table()


def test_an_experiment_in_another_folder_stores_the_new_numbers(chance: Project) -> None:
    old = json.loads((chance.root / "reports/metrics.json").read_text())
    chance.call("dvc", "exp", "run", "--temp", "--name", "other", "--set-param", "profiles.smoke.seeds=[4, 5]")
    stored = chance.call("git", "show", "refs/exps/" + experiment_ref(chance) + ":reports/metrics.json").stdout
    chance.edit(SEEDS, OTHER_SEEDS)
    chance.snakemake()
    new = json.loads((chance.root / "reports/metrics.json").read_text())
    assert json.loads(stored) == new != old


def experiment_ref(project: Project) -> str:
    refs = project.call("git", "for-each-ref", "--format=%(refname)", "refs/exps/").stdout.split()
    (ref,) = [ref for ref in refs if ref.endswith("/other")]
    return ref.removeprefix("refs/exps/")


def test_a_wrong_parameter_stops_every_entry_point_before_any_work(chance: Project) -> None:
    chance.edit("    methods: [chance]", "    methods: [chanse]")
    for command in (("snakemake", "--cores", "all"), ("dvc", "repro"), ("recompose", "plan"), ("recompose", "status")):
        done = chance.call(*command, check=False)
        said = done.stdout + done.stderr
        assert done.returncode != 0, command
        assert "profiles.smoke.methods.0: 'chanse' is not allowed; the nearest is 'chance'" in said, command
        assert "Traceback" not in said, command


def test_settings_on_the_command_line_of_snakemake_are_refused(chance: Project) -> None:
    done = chance.snakemake("--config", "profile=demo", check=False)
    assert done.returncode != 0
    assert "params.yaml" in done.stderr


def test_a_truncated_file_of_a_run_stops_snakemake_and_is_named(chance: Project) -> None:
    scores = next(chance.root.glob("results/runs/*/scores.safetensors"))
    scores.write_bytes(scores.read_bytes()[:-1])
    done = chance.snakemake(check=False)
    assert done.returncode != 0
    assert f"{scores.parent.name}/scores.safetensors has" in done.stderr
    assert f"recompose store discard runs/{scores.parent.name}" in done.stderr


def test_a_changed_file_of_a_run_is_named_and_not_used(chance: Project) -> None:
    metrics = next(chance.root.glob("results/runs/*/metrics.json"))
    metrics.write_text(metrics.read_text().replace("0", "1"))
    verified = chance.recompose("store", "verify", check=False)
    assert verified.returncode != 0
    assert f"{metrics.parent.name}/metrics.json was changed" in verified.stdout
    made = chance.recompose("artifacts", "msci", check=False)
    assert made.returncode != 0
    assert f"{metrics.parent.name}/metrics.json was changed" in made.stderr


def test_a_lost_run_is_made_again_with_the_same_numbers(chance: Project) -> None:
    table = chance.table()
    folder = next(chance.root.glob("results/runs/*/run.json")).parent
    chance.recompose("store", "discard", f"runs/{folder.name}")
    chance.snakemake()
    assert (folder / "run.json").exists()
    assert chance.table() == table


def test_an_edited_report_is_written_anew(chance: Project) -> None:
    table = chance.root / "reports/msci/table-2.csv"
    right = table.read_text()
    table.write_text(right.replace("measured", "reported"))
    chance.snakemake()
    assert table.read_text() == right


def test_prune_removes_the_runs_that_nothing_needs(chance: Project) -> None:
    old = set(chance.runs())
    chance.edit(SEEDS, OTHER_SEEDS)
    chance.snakemake()
    new = set(chance.runs()) - old
    said = chance.recompose("store", "prune", "--dry-run").stderr
    assert all(f"would remove results/runs/{name}" in said for name in old)
    assert set(chance.runs()) == old | new
    chance.recompose("store", "prune")
    assert set(chance.runs()) == new
    assert "Nothing to be done" in chance.snakemake().stderr


def test_trace_tells_current_from_stale_and_why(chance: Project) -> None:
    question = ("trace", "reports/msci/table-2.csv", "--row", "chance", "--column", "shapes-pairs AUC")
    said = chance.recompose(*question).stdout
    assert "current" in said
    assert all(name in said for name in chance.runs())
    chance.edit(SEEDS, "seeds: [0, 5]")
    stale = chance.recompose(*question).stdout
    assert "stale" in stale
    assert "seed 1 is not asked for any more" in stale


def test_snakemake_report_shows_tables_with_labels(chance: Project) -> None:
    chance.snakemake("--report", "report.html")
    page = (chance.root / "report.html").read_text()
    assert "table-2" in page
    assert "Comparison with other models in the closed world." in page
