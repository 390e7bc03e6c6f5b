"""A track and a paper that the core has never heard of: they are put into a copy of the project, and all of it works
for them.
"""

import csv
import json
import re
import shutil
from pathlib import Path
from statistics import mean

import pytest
from ruamel.yaml import YAML

from recompose.files import SCRATCH
from tests.conftest import ROOT, Project, made_once, new_project
from tests.workflow.test_identity import traced

pytestmark = pytest.mark.engines

HERE = ROOT / "tests" / "toy"
PROFILE = {
    "trainer": {"precision": "32-true", "threads": 1, "accelerator": "cpu", "devices": 1},
    "toy": {"datasets": ["lengths"], "methods": ["zero", "descent"], "seeds": [0, 1]},
}
SECTION = {
    "datasets": {"lengths": {"seed": 3, "count": 40}},
    "methods": {"zero": {}, "descent": {"training": {"lr": 0.1, "epochs": 40}}},
}


def with_toy(root: Path) -> Project:
    """A copy of the project with a folder for the track, one for the paper, a line for each, and a profile of
    nothing else.
    """
    project = new_project(root)
    shutil.copytree(HERE / "track", root / "src/recompose/tracks/toy", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(HERE / "paper", root / "src/recompose/papers/toy")
    tracks = root / "src/recompose/tracks/__init__.py"
    text = tracks.read_text().replace("VLC())", "VLC(), Toy())")
    tracks.write_text(text.replace("import GZSL\n", "import GZSL\nfrom recompose.tracks.toy import Toy\n"))
    assert tracks.read_text().count("Toy") == 2
    project.set({"profile": "toy", "profiles.toy": PROFILE, "toy": SECTION})
    stages = YAML(typ="safe").load(root / "dvc.yaml")
    del stages["plots"]
    YAML(typ="safe").dump(stages, root / "dvc.yaml")
    project.commit("The project with another track")
    return project


def carried_out(root: Path) -> None:
    project = with_toy(root)
    planned = project.recompose("plan", "--json").stdout
    assert "descent" in planned
    assert "msci" not in planned
    project.snakemake()
    project.call("dvc", "repro")
    project.commit("Its results")


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Carried out by Snakemake and taken over by DVC, once for all workers; tests that change it copy it."""
    root = made_once(tmp_path_factory, "toy", carried_out)
    return Project(root)


def evaluations(project: Project) -> dict[tuple[str, int], Path]:
    """The folder of each evaluation, by name and seed."""
    records = {
        path.parent: json.loads(path.read_text()) for path in project.root.glob("results/evaluations/*/record.json")
    }
    return {(of["labels"]["name"], of["labels"]["seed"]): folder for folder, of in records.items()}


def lengths(project: Project) -> tuple[list[float], list[float]]:
    (path,) = project.root.glob("data/lengths-*/lengths.csv")
    values = [float(line) for line in path.read_text().splitlines()[1:]]
    return values[:20], values[20:]


def table(project: Project, name: str) -> dict[tuple[str, str], str]:
    """The measured cells of a table."""
    with (project.published / "toy" / f"{name}.csv").open() as file:
        return {(row["row"], row["column"]): row["text"] for row in csv.DictReader(file) if row["source"] == "measured"}


def test_only_its_own_is_planned_and_made(project: Project) -> None:
    kinds = {path.parent.parent.name for path in project.root.glob("results/*/*/record.json")}
    assert kinds == {"data", "runs", "evaluations", "metrics", "artifacts", "page"}
    trained = {(name, seed) for name in ("descent", "descent-short") for seed in (0, 1)}
    assert set(evaluations(project)) == {("zero", 0)} | trained
    assert len(list(project.root.glob("results/runs/*/record.json"))) == 4
    assert not list(project.root.glob(f"results/*/*/{SCRATCH}"))
    assert not (project.published / "msci").exists()


def test_whatever_runs_of_it_is_identified(project: Project, tmp_path: Path) -> None:
    shutil.copy(project.root / "params.yaml", tmp_path)
    made = traced(project, tmp_path)
    assert {name.partition(" ")[0] for name in made} == {"data", "runs", "evaluations", "metrics", "artifacts", "page"}


def test_its_numbers_are_those_of_its_lengths(project: Project) -> None:
    _, test = lengths(project)
    cells = table(project, "table-1")
    assert cells["Zero", "lengths error (m)"] == f"{mean(test):.3f}"
    assert cells["Zero", "lengths bias (cm)"] == f"{-100 * mean(test):.1f}"
    guesses = [json.loads((evaluations(project)["descent", s] / "scores.json").read_text())["guess"] for s in (0, 1)]
    errors = [mean(abs(guess - length) for length in test) for guess in guesses]
    assert cells["Descent", "lengths error (m)"].startswith(f"{mean(errors):.3f} ± ")
    assert table(project, "table-2") == {("Lengths", "to train on"): "20", ("Lengths", "to test on"): "20"}
    assert table(project, "table-3")["test", "lengths longest"] == f"{max(test):g}"
    assert table(project, "table-4") == {("Length of a step", "lengths"): "0.1", ("Steps", "lengths"): "40"}
    verdicts = {row: text for (row, column), text in table(project, "claims").items() if "verdict" in column}
    assert verdicts.keys() <= {"steps-help", "more-than-nothing"}


def test_the_page_and_the_numbers_to_compare_are_its(project: Project) -> None:
    page = (project.published / "index.html").read_text()
    assert "On Guessing Lengths" in page
    assert "between one and two metres" in page
    error = table(project, "table-1")["Zero", "lengths error (m)"]
    assert error in page
    text = re.sub(r"<(style|script).*?</\1>|base64,[^\"]*", "", page, flags=re.DOTALL)
    for word in ("unseen", "AUC", "Duplex", "MSCI", "compositional", "czsl"):
        assert word not in text, word
    numbers = json.loads((project.published / "metrics.json").read_text())
    (about,) = numbers["details"]
    means = {
        row: float(text.split()[0]) for (row, column), text in table(project, "table-1").items() if "error" in column
    }
    best = min(means["Zero"], means["Descent"])
    assert numbers["toy*"] == pytest.approx(about["mean"], abs=5e-3)  # printed in two digits, and below in three
    assert about["mean"] == pytest.approx(best, abs=5e-4)
    assert means[about["method"].capitalize()] == best
    assert (project.published / "errors.csv").read_text().startswith("name,seed,error\nzero,0,")


def test_all_that_people_ask_is_answered(project: Project) -> None:
    audit = json.loads(project.recompose("audit", "--json").stdout)
    assert audit["clean"], audit["findings"]
    assert set(audit["cells"]) == {"current"}
    trace = project.recompose("trace", "toy/table-1", "--row", "Descent", "--column", "lengths error (m)", "--full")
    for folder in (evaluations(project)["descent", seed] for seed in (0, 1)):
        assert folder.name in trace.stdout
    status = json.loads(project.recompose("status", "--json").stdout)
    assert {item["state"] for item in status["items"]} == {"current"}
    assert set(status["papers"]) == {"toy"} and not any(status["due"].values())
    assert "nothing" in project.recompose("plan").stdout.lower()
    assert "toy" in project.recompose("summary").stdout
    output = project.recompose("plan", "--edit", "toy.methods.descent.training.lr=0.05").stdout
    assert "4 runs to train and 4 evaluations to score" in output
    assert "toy/table-1" in output
    wrong = project.recompose("plan", "--edit", "toy.methods.descent.training.rate=0.05", check=False)
    assert "there is no key 'rate'" in wrong.stderr
    unknown = project.recompose("artifacts", "msci", check=False)
    assert unknown.returncode
    assert "there is no paper 'msci'" in unknown.stderr
