"""What an edit makes anew, as Snakemake sees it: a dry run after each edit of a finished project."""

import json
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from recompose.recipes.records import COSTS, LOG
from tests.conftest import Project, announced, with_values

pytestmark = pytest.mark.engines
REPORTS = {"table", "figure", "page"}
TRAINED = {"train_c_s_o": 2, "evaluate_czsl": 3}


@pytest.fixture(scope="module")
def finished(trained_project: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy, one for each worker, that dry runs see edited; each edit is undone."""
    return trained_project.copy(tmp_path_factory.mktemp("edited") / "project")


def after_edit(project: Project, name: str, edit: Callable[[str], str]) -> str:
    """What a dry run says while a file is edited."""
    path = project.root / name
    before = path.read_text()
    after = edit(before)
    assert after != before
    path.write_text(after)
    try:
        return project.snakemake("--dry-run").stdout
    finally:
        path.write_text(before)


def of_key(path: str, value: object) -> Callable[[str], str]:
    """Return an edit of one parameter."""
    return lambda text: with_values(text, {path: value})


def commented(text: str) -> str:
    return text + "\n# a thought\n"


def replaced(old: str, new: str) -> Callable[[str], str]:
    """Return an edit of code that runs."""
    return lambda text: text.replace(old, new)


SOURCES = "src/recompose"
FIVE = [  # each on top of those before it
    ("params.yaml", of_key("profiles.smoke.override.czsl.datasets.shapes-pairs.seed", 5)),
    (f"{SOURCES}/tracks/czsl/data/pairs.py", replaced("read_index(folder).paths]", "read_index(folder).paths[::-1]]")),
    (
        f"{SOURCES}/tracks/czsl/methods/three_path.py",
        replaced("images, texts[path]), labels", "images, texts[path]) / 2, labels"),
    ),
    (f"{SOURCES}/tracks/czsl/metrics/czsl.py", replaced("curve.seen.max()", "curve.seen.mean()")),
    (f"{SOURCES}/tracks/czsl/metric_values.py", replaced('Metric("%", 100, 1', 'Metric("%", 100, 2')),
]


def test_comments_and_what_can_move_no_number_cost_nothing(finished: Project) -> None:
    for name, edit in (
        ("params.yaml", commented),
        ("src/recompose/tracks/czsl/training.py", commented),
        ("src/recompose/data/upstream.py", replaced("delivers {", "brings {")),
    ):
        assert "Nothing to be done" in after_edit(finished, name, edit), name


@pytest.mark.parametrize(
    ("name", "edit"),
    [
        ("tracks/czsl/metrics/groups.py", replaced("groups[targets]", "groups[predicted]")),
        ("tracks/czsl/metric_values.py", replaced('Metric("%", 100, 1', 'Metric("%", 100, 2')),
        ("tables/formats.py", replaced(".6g", ".7g")),
    ],
)
def test_an_edit_of_what_measures_or_writes_trains_and_scores_nothing(
    finished: Project, name: str, edit: Callable[[str], str]
) -> None:
    assert announced(after_edit(finished, f"src/recompose/{name}", edit)).keys() == REPORTS


@pytest.mark.parametrize(
    ("name", "edit", "made"),
    [
        ("params.yaml", of_key("czsl.methods.c-s-o.scoring.closed", [1.0, 0.5]), {"evaluate_czsl": 2}),
        # each run is scored by its pair's text path alone, too
        ("params.yaml", of_key("czsl.methods.c-s-o.training.lr", 0.0031), TRAINED),
        ("src/recompose/tracks/czsl/training.py", replaced("self.augmentation(inputs)", "inputs"), TRAINED),
    ],
)
def test_a_weight_of_a_fusion_scores_alone_and_the_trainer_trains_and_pretrains_nothing(
    finished: Project, name: str, edit: Callable[[str], str], made: dict[str, int]
) -> None:
    output = after_edit(finished, name, edit)
    planned = announced(output)
    assert "table msci/table-2" in output and "table msci/table-1" not in output  # statistics of the data
    assert {rule: count for rule, count in planned.items() if rule not in REPORTS} == made
    assert planned.keys() >= REPORTS


def content_files(project: Project) -> dict[str, object]:
    """The digests of the files of each content, without its costs and its log, and without what shows these."""
    files: dict[str, object] = {}
    for path in project.root.glob("results/*/*/record.json"):
        record = json.loads(path.read_text())
        if record["kind"] == "page" or any(role.endswith("/costs") for role in record["needs"]):
            continue  # they tell of times
        named = {name: about["sha256"] for name, about in record["files"].items() if name not in (LOG, COSTS)}
        files[f"{record['kind']}/{record['digest']}"] = named
    return files


def shown(project: Project) -> dict[str, bytes]:
    """The tables and figures by their names, without those of costs."""
    paths = [path for path in project.published.glob("*/*") if path.suffix in (".csv", ".md", ".tex", ".svg", ".png")]
    names = {
        str(path.relative_to(project.published)): path for path in paths if path.stem not in ("table-10", "README")
    }
    return {name: path.read_bytes() for name, path in names.items()}


def test_edits_one_after_another_give_the_bytes_of_a_run_from_nothing(trained: Project, tmp_path: Path) -> None:
    seen = [shown(trained)]
    for name, edit in FIVE:
        path = trained.root / name
        path.write_text(edit(path.read_text()))
        trained.commit(f"An edit of {name}")  # what was not committed says so
        trained.snakemake()
        seen.append(shown(trained))
    assert [first != second for first, second in pairwise(seen)] == [True] * len(FIVE)
    fresh = trained.clone(tmp_path / "fresh")
    shutil.rmtree(fresh.published)
    fresh.snakemake()
    assert shown(fresh) == seen[-1]
    made, before = content_files(fresh), content_files(trained)
    assert made == {key: before[key] for key in made}


def test_an_edit_of_a_drawn_data_set_makes_what_stands_on_it(finished: Project) -> None:
    planned = announced(after_edit(finished, "params.yaml", of_key("czsl.datasets.shapes-pairs.seed", 1008)))
    assert planned.keys() == REPORTS | {"index_data", "decode_pixels", "encode_features", *TRAINED}
    assert (planned["train_c_s_o"], planned["evaluate_czsl"]) == (2, 5)
