"""Both engines, as users call them: what is up to date, what an edit reruns, and which numbers come out."""

import csv
import io
import json
import resource
import subprocess
from pathlib import Path

import pytest
from filelock import FileLock

from recompose.recipes.plan import closure
from recompose.tables.provenance import Provenance
from tests.conftest import PATIENCE, Project, made_once

pytestmark = pytest.mark.engines
SEEDS = {"profiles.smoke.czsl.seeds": [0, 1]}
OTHER_SEEDS = {"profiles.smoke.czsl.seeds": [4, 5]}
NOTHING_TO_DO = 30  # CPU seconds that an engine may take to find that


def measured(table: str) -> dict[str, str]:
    """Measured cells: column -> text."""
    rows = csv.DictReader(io.StringIO(table))
    return {row["column"]: row["value"] for row in rows if row["source"] == "measured"}


def seeds_behind(project: Project) -> list[int]:
    """The seeds of the evaluations behind Table 2."""
    provenance = Provenance.read(project.published)
    behind = closure([provenance.recipes[provenance.artifacts["msci/table-2"].recipe]])
    return sorted(recipe.document["seed"] for recipe in behind if recipe.kind == "evaluations")


def worlds(project: Project) -> dict[str, bytes]:
    """The record of every data set that is there, by key."""
    return {path.parent.name: path.read_bytes() for path in project.root.glob("results/data/*/record.json")}


@pytest.fixture(scope="session")
def reseeded_project(msci_project: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """``msci_project``, after an edit of its seeds and Snakemake: copy it before changing it."""

    def make(root: Path) -> None:
        project = msci_project.copy(root)
        project.set(OTHER_SEEDS)
        project.snakemake()

    return Project(made_once(tmp_path_factory, "reseeded", make))


def test_a_second_call_of_either_engine_does_nothing_and_takes_little(project: Project) -> None:
    runs, reports = project.runs(), project.reports()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert "Nothing to be done" in project.snakemake().stderr
    assert "up to date" in project.call("dvc", "repro").stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < NOTHING_TO_DO
    assert (project.runs(), project.reports()) == (runs, reports)


def test_an_edit_reruns_what_it_touches_and_back_none(
    msci_project: Project, reseeded_project: Project, tmp_path: Path
) -> None:
    before, after = msci_project.runs(), reseeded_project.runs()
    assert len(after) == len(before) + 2
    assert before.items() <= after.items()
    assert seeds_behind(reseeded_project) == [4, 5]
    assert measured(reseeded_project.table()) != measured(msci_project.table())
    old, new = worlds(msci_project), worlds(reseeded_project)
    assert len(old) == 2
    assert len(new) == len(old) + 2  # each seed is a world of its own
    assert old.items() <= new.items()
    back = reseeded_project.copy(tmp_path / "back")
    back.set(SEEDS)
    back.snakemake()
    assert back.runs() == after
    assert worlds(back) == new
    assert back.reports() == msci_project.reports()


def test_dvc_gives_the_new_numbers_in_a_fresh_clone_and_the_old_ones_of_an_older_commit(
    msci_project: Project, reseeded_project: Project, tmp_path: Path
) -> None:
    clone = msci_project.clone(tmp_path / "clone")
    clone.set(OTHER_SEEDS)
    clone.call("dvc", "repro")
    assert seeds_behind(clone) == [4, 5]
    assert clone.table() == reseeded_project.table()
    clone.commit("Other seeds")
    made = clone.runs()
    clone.call("git", "checkout", "--quiet", "HEAD~1")
    clone.call("dvc", "repro")
    assert made.items() < clone.runs().items()  # those of the older commit are made here for the first time
    assert clone.reports() == msci_project.reports()


def test_a_wrong_parameter_stops_every_entry_point_before_any_work(project: Project) -> None:
    project.set({"profiles.smoke.czsl.methods": ["chanse"]})
    for command in (("snakemake", "--cores", "all"), ("dvc", "repro"), ("recompose", "plan"), ("recompose", "status")):
        done = project.call(*command, check=False)
        output = done.stdout + done.stderr
        assert done.returncode != 0, command
        assert "profiles.smoke.czsl.methods.0: 'chanse' is not allowed; the nearest is 'chance'" in output, command
        assert "Traceback" not in output, command


def complaints(done: "subprocess.CompletedProcess[str]", name: str) -> list[str]:
    """The lines of what a command said that speak of a file."""
    return [line for line in (done.stdout + done.stderr).splitlines() if name in line]


def test_a_damaged_file_stops_what_shows_it_with_one_line_that_names_it_and_the_remedy(project: Project) -> None:
    scores = next(project.root.glob("results/evaluations/*/scores.safetensors"))
    key, whole = f"evaluations/{scores.parent.name}", scores.read_bytes()
    forged = {
        whole[:-1]: f"has {len(whole) - 1} bytes instead of {len(whole)}",
        whole[:-1] + bytes([whole[-1] ^ 1]): "was changed since it was made",
    }
    for content, fault in forged.items():
        scores.write_bytes(content)
        done = project.snakemake("reports/smoke/msci/table-2.csv", check=False)
        assert done.returncode != 0
        (line,) = complaints(done, f"{key}/scores.safetensors")
        assert fault in line
        assert f"recompose store discard {key}" in line
    for command in (("status",), ("artifacts", "msci")):
        done = project.recompose(*command, check=False)
        assert done.returncode == 1
        assert complaints(done, f"{key}/scores.safetensors was changed"), command
    scores.write_bytes(whole)
    project.snakemake()
    assert "Nothing to be done" in project.snakemake().stderr


def test_what_fails_is_named_and_keeps_nothing_else_from_its_end(project: Project) -> None:
    project.set(OTHER_SEEDS)
    code = project.root / "src/recompose/tracks/czsl/methods/chance.py"
    text = code.read_text()
    code.write_text(text.replace("self._seed = seed", "self._seed = seed if seed != 4 else 1 // 0"))
    done = project.snakemake(check=False)
    assert done.returncode != 0
    assert "evaluate chance on shapes-pairs, seed 4: ZeroDivisionError" in done.stdout + done.stderr
    (trace,) = project.root.glob("results/evaluations/*/error.txt")
    assert "ZeroDivisionError" in trace.read_text()
    new = [json.loads(record) for record in project.runs().values()]
    assert sorted(record["document"]["seed"] for record in new) == [0, 1, 5]


def test_prune_removes_what_nothing_needs(msci_project: Project, reseeded_project: Project, tmp_path: Path) -> None:
    project = reseeded_project.copy(tmp_path / "project")
    old = set(msci_project.runs())
    new = set(project.runs()) - old
    output = project.recompose("store", "prune", "--dry-run").stderr
    assert all(f"would remove results/{key}" in output for key in old)
    assert set(project.runs()) == old | new
    project.recompose("store", "prune")
    assert set(project.runs()) == new
    assert "Nothing to be done" in project.snakemake().stderr


def test_of_two_calls_the_second_waits_and_makes_nothing_twice(project: Project, reseeded_project: Project) -> None:
    project.set(OTHER_SEEDS)
    both = [project.start("snakemake", "--cores", "all") for _ in range(2)]
    messages = [process.communicate(timeout=PATIENCE)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], messages
    (waiting,) = [text for text in messages if "waiting until it has ended" in text]
    assert "Nothing to be done" in waiting
    assert project.reports() == reseeded_project.reports()
    attempts = [json.loads(record)["made"]["attempts"] for record in project.runs().values()]
    assert attempts == [1] * 4
    assert "Nothing to be done" in project.snakemake().stderr


def test_questions_and_calls_with_nothing_to_do_wait_for_no_other_call(chance_project: Project) -> None:
    with FileLock(chance_project.root / ".snakemake/recompose-smoke.lock"):
        for question in ((), ("--dry-run", "--forceall"), ("--summary",)):
            chance_project.snakemake(*question)


def test_a_release_that_is_pulled_is_audited_without_training(chance: Project, tmp_path: Path) -> None:
    archive = "release.tar.gz"
    chance.recompose("release", archive)
    chance.call("dvc", "remote", "add", "--quiet", "--default", "lab", str(tmp_path / "remote"))
    chance.call("dvc", "add", "--quiet", archive)
    chance.call("dvc", "push", "--quiet", f"{archive}.dvc")
    chance.commit("A release")
    clone = chance.clone(tmp_path / "clone")
    audit = clone.recompose("audit", check=False).stdout
    assert "clean as far as can be told here" in audit
    assert "remedy: `snakemake --cores all` makes missing results; a release has the scores" in audit
    clone.call("dvc", "pull", "--quiet", f"{archive}.dvc")
    audited = json.loads(clone.recompose("audit", "--release", archive, "--json").stdout)
    assert (audited["evaluations"], audited["recomputed"], audited["findings"]) == (2, 2, [])
