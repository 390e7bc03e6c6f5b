"""What an edit makes anew, as Snakemake sees it: a dry run after each edit of a finished project."""

from collections.abc import Callable

import pytest

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


def commented(text: str) -> str:
    return text + "\n# a thought\n"


def replaced(old: str, new: str) -> Callable[[str], str]:
    """Return an edit of code that runs."""
    return lambda text: text.replace(old, new)


def of_key(path: str, value: object) -> Callable[[str], str]:
    """Return an edit of one parameter."""
    return lambda text: with_values(text, {path: value})


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


def test_an_edit_of_a_drawn_data_set_makes_what_stands_on_it(finished: Project) -> None:
    planned = announced(after_edit(finished, "params.yaml", of_key("czsl.datasets.shapes-pairs.seed", 1008)))
    assert planned.keys() == REPORTS | {"index_data", "decode_pixels", "encode_features", *TRAINED}
    assert (planned["train_c_s_o"], planned["evaluate_czsl"]) == (2, 5)
