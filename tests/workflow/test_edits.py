"""What an edit makes anew, as Snakemake sees it: a dry run after each edit of a finished project."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Project, made_once

pytestmark = [pytest.mark.engines, pytest.mark.xdist_group("engines")]
ALL_ARTIFACTS = {"artifacts_of_msci", "artifacts_of_duplex", "write_report"}
MOVED = "MOVED_BY_A_TEST = 1\n"  # a statement is code; a comment is none


@pytest.fixture(scope="module")
def finished(trained_project: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy that dry runs see edited; each edit is undone."""
    return Project(made_once(tmp_path_factory, "edited", lambda root: _copied(trained_project, root)))


def _copied(project: Project, root: Path) -> None:
    project.copy(root)


def with_edit(project: Project, name: str, edit: Callable[[str], str]) -> str:
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


def jobs(said: str) -> dict[str, int]:
    """How many jobs of which rules a dry run announces."""
    table = re.search(r"^job +count\n[- ]+\n(.*?)^total", said, flags=re.MULTILINE | re.DOTALL)
    rows = [line.split() for line in table[1].splitlines()] if table else []
    return {rule: int(count) for rule, count in rows if rule != "all"}


def replaced(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.replace(old, new, 1)


def appended(text: str) -> str:
    return text + MOVED


def test_comments_docstrings_and_what_can_move_no_number_cost_nothing(finished: Project) -> None:
    assert "Nothing to be done" in with_edit(finished, "params.yaml", lambda text: text + "\n# a thought\n")
    for name in ("tracks/czsl/training.py", "tracks/czsl/metrics/groups.py"):
        said = with_edit(finished, f"src/recompose/{name}", lambda text: text + "\n# a thought\n")
        assert "Nothing to be done" in said, name
    assert "Nothing to be done" in with_edit(finished, "src/recompose/data/download.py", appended)


@pytest.mark.parametrize("name", ["tracks/czsl/metrics/groups.py", "report/formats.py"])
def test_an_edit_of_what_measures_or_writes_trains_and_scores_nothing(finished: Project, name: str) -> None:
    assert jobs(with_edit(finished, f"src/recompose/{name}", appended)) == dict.fromkeys(ALL_ARTIFACTS, 1)


def of_c_s_o(old: str, new: str) -> Callable[[str], str]:
    """An edit of the general settings of this method."""

    def edit(text: str) -> str:
        start = text.index("\n    c-s-o:")
        return text[:start] + text[start:].replace(old, new, 1)

    return edit


def trained_and_scored(said: str) -> list[str]:
    """What the jobs of runs and evaluations say that they do."""
    return sorted(re.findall(r"^Job \d+: (\d.* of .*)", said, flags=re.MULTILINE))


def test_an_edit_of_a_weight_of_a_fusion_scores_alone(finished: Project) -> None:
    said = with_edit(finished, "params.yaml", of_c_s_o("closed: [1.0, 1.0]", "closed: [1.0, 0.5]"))
    assert trained_and_scored(said) == [f"1 evaluations of c-s-o on shapes-pairs, seeds {seed}" for seed in (0, 1)]
    assert jobs(said) == {"make_runs": 2, **dict.fromkeys(ALL_ARTIFACTS, 1)}


@pytest.mark.parametrize(
    ("name", "edit"),
    [
        ("src/recompose/tracks/czsl/training.py", appended),
        ("params.yaml", of_c_s_o("lr: 2e-3", "lr: 3e-3")),
    ],
)
def test_an_edit_of_the_trainer_or_of_its_settings_trains_and_pretrains_nothing(
    finished: Project, name: str, edit: Callable[[str], str]
) -> None:
    said = with_edit(finished, name, edit)
    assert trained_and_scored(said) == [
        f"1 runs and 1 evaluations of c-s-o on shapes-pairs, seeds {seed}" for seed in (0, 1)
    ]
    assert jobs(said) == {"make_runs": 2, **dict.fromkeys(ALL_ARTIFACTS, 1)}


def test_an_edit_of_how_worlds_are_drawn_makes_what_stands_on_them(finished: Project) -> None:
    made = jobs(with_edit(finished, "params.yaml", replaced("      seed: 7\n", "      seed: 8\n")))
    assert made == {"make_data": 1, "make_features": 1, "make_runs": 2, **dict.fromkeys(ALL_ARTIFACTS, 1)}
