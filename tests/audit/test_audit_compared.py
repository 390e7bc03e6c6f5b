"""The audit of a table whose rows have unequal seeds, each a world, and which says in words what sources say."""

import shutil
from pathlib import Path

import pytest

from recompose.audit.audit import audit
from recompose.audit.findings import Audit
from recompose.files import read_json
from recompose.papers.declaration import Paper, Variant, View, load_paper
from recompose.tables.artifacts import make_artifacts
from recompose.tables.stored_results import StoredResults
from recompose.tracks import TRACKS
from recompose.tracks.track import Track
from recompose.workspace import Workspace
from tests.audit.worlds import Found, copy_of, evaluations_of, findings, replace_once
from tests.conftest import Project

TABLE = "msci/table-2"


@pytest.fixture
def root(trained_project: Project, tmp_path: Path) -> Path:
    """A copy of a project with a trained method, which a test may change."""
    return copy_of(trained_project.root, tmp_path / "project")


@pytest.fixture
def paper(monkeypatch: pytest.MonkeyPatch) -> Paper:
    """A paper with one table: C-S-O in two replicates, and the same under another name in the first of them alone."""
    once = {"c-s-o-once": Variant(method="c-s-o", datasets=["shapes-pairs"])}
    declared = {name: track.variants for name, track in TRACKS.items()}
    monkeypatch.setattr(Track, "variants", property(lambda track: declared[track.name] | once))
    whole = load_paper("msci")
    table = whole.artifacts["table-2"]
    in_words = View(heading="What is said", says={"once": {"the text": "a | b", "the code": "nothing"}})
    shown = {"rows": {"C-S-O": "c-s-o", "once": "c-s-o-once"}, "views": {**table.views, "sources": in_words}}
    return whole.model_copy(update={"artifacts": {"table-2": table.model_copy(update=shown)}})


@pytest.fixture
def made(root: Path, paper: Paper) -> Path:
    """A project with that table."""
    make_artifacts(StoredResults(Workspace(root)), paper, ["table-2"])
    return root


def audited(root: Path, paper: Paper) -> Audit:
    return audit(Workspace(root), [paper], pages=lambda _: {}, drawing=False)


def replicates(root: Path) -> list[Path]:
    """The folders of the trained method's evaluations, by seed."""
    return [each for each in evaluations_of(root) if read_json(each / "record.json")["labels"]["name"] == "c-s-o"]


def of_table(found: Audit) -> list[Found]:
    """What is found of the table; the index of the project knows other ones."""
    return [each for each in findings(found) if TABLE in each[1]]


def test_rows_that_are_compared_in_the_worlds_they_share_are_as_they_should_be(made: Path, paper: Paper) -> None:
    found = audited(made, paper)
    assert of_table(found) == []
    assert set(found.states[TABLE].values()) == {"current"}
    lineage = read_json(made / "reports/smoke" / f"{TABLE}.lineage.json")
    first, second = (f"evaluations/{folder.name}" for folder in replicates(made))
    assert {each["name"]: each["evaluations"] for each in lineage["asked"]} == {
        "c-s-o": [first, second],
        "c-s-o-once": [first],
    }
    assert first in lineage["records"] and second not in lineage["records"] and second in lineage["wanted"]
    for cell in lineage["cells"]:
        assert (cell["made_from"], cell.get("missing"), cell["beside"]) == ([first], None, ["c-s-o", "c-s-o-once"])


def test_it_is_the_same_table_whether_the_world_that_it_does_not_show_is_there_or_not(made: Path, paper: Paper) -> None:
    files = [made / "reports/smoke" / f"{TABLE}.{ending}" for ending in ("csv", "md", "tex", "lineage.json")]
    before = [path.read_bytes() for path in files]
    shutil.rmtree(replicates(made)[1])
    make_artifacts(StoredResults(Workspace(made)), paper, ["table-2"])
    assert [path.read_bytes() for path in files] == before


def test_words_are_those_of_the_declaration_also_where_runs_are_not(made: Path, paper: Paper) -> None:
    (made / "data").unlink()
    shutil.rmtree(made / "results")
    assert of_table(audited(made, paper)) == []
    replace_once(made / "reports/smoke" / f"{TABLE}.csv", "a | b", "a")
    place = f"reports/smoke/{TABLE}.csv · once · the text · sources"
    assert of_table(audited(made, paper)) == [("tampered", place, "shows 'a'; paper.yaml says 'a | b'")]
