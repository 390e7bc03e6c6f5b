"""The audit where reports themselves were changed, in a project with its results and in a clone without them."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recompose.files import read_json
from recompose.papers.declaration import artifact_files
from recompose.provenance.checks.findings import Audit
from tests.conftest import Project
from tests.provenance.worlds import (
    FROM_INDEX,
    MADE_FROM_RUNS,
    PAPERS_LOADED,
    all_of,
    audited,
    correct,
    edit_json,
    findings,
    moved,
    replace_once,
)

pytestmark = pytest.mark.xdist_group("engines")  # they share a project
CHANGED = "was changed since it was written"
TABLE = "msci/table-2"
ROW = "chance,shapes-pairs AUC,measured,exact,0.0 ± 0.0,0.0178571"
BETTER = "chance,shapes-pairs AUC,measured,exact,9.9 ± 0.0,9.9"
AUC = ("measured", "exact", "chance", "shapes-pairs AUC")


@pytest.fixture(scope="module")
def clean(chance_project: Project) -> Audit:
    return audited(chance_project.root)


def file_of(root: Path, ending: str, name: str = TABLE) -> Path:
    return root / "reports" / f"{name}.{ending}"


def improve(lineage: dict[str, Any]) -> None:
    """Give chance's first AUC another value."""
    cell = next(cell for cell in lineage["cells"] if (cell["view"], cell["column"]) == (AUC[1], AUC[3]))
    cell.update(text="9.9 ± 0.0", value=9.9)


# tables


def test_an_edited_cell_is_found(chance: Project, clean: Audit) -> None:
    replace_once(file_of(chance.root, "csv"), ROW, BETTER)
    found = audited(chance.root)
    place = "reports/msci/table-2.csv · chance · shapes-pairs AUC · exact"
    assert findings(found) == [("tampered", place, "shows '9.9 ± 0.0'; its runs give '0.0 ± 0.0'")]
    assert moved(found, clean) == {TABLE: {"tampered": 1}}
    assert found.states[TABLE][AUC] == "tampered"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (ROW, ROW.replace("0.0 ± 0.0", "9.9 ± 0.0"), "shows '9.9 ± 0.0'; its runs give '0.0 ± 0.0'"),
        (ROW, ROW.replace("0.0178571", "9.9"), "shows value '9.9'; its runs give value '0.0178571'"),
        (f"{ROW},0,2,,\n", "", "shows nothing; its runs give '0.0 ± 0.0'"),
    ],
)
def test_an_edited_cell_is_found_where_the_digest_was_made_to_agree(
    chance: Project, clean: Audit, old: str, new: str, said: str
) -> None:
    replace_once(file_of(chance.root, "csv"), old, new)
    correct(file_of(chance.root, "lineage.json"), "table-2.csv")
    found = audited(chance.root)
    place = "reports/msci/table-2.csv · chance · shapes-pairs AUC · exact"
    assert findings(found) == [("tampered", place, said)]
    assert moved(found, clean) == {TABLE: {"tampered": 1}}


def test_a_forged_table_is_found_where_lineage_agrees_with_it_in_everything(chance: Project, clean: Audit) -> None:
    replace_once(file_of(chance.root, "csv"), ROW, BETTER)
    edit_json(file_of(chance.root, "lineage.json"), improve)
    correct(file_of(chance.root, "lineage.json"), "table-2.csv")
    found = audited(chance.root)
    place = "reports/msci/table-2.csv · chance · shapes-pairs AUC · exact"
    assert findings(found) == [("tampered", place, "shows '9.9 ± 0.0'; its runs give '0.0 ± 0.0'")]
    assert moved(found, clean) == {TABLE: {"tampered": 1}}


def test_a_row_that_stands_twice_is_found(chance: Project, clean: Audit) -> None:
    replace_once(file_of(chance.root, "csv"), ROW, f"{BETTER},0,2,,\n{ROW}")
    correct(file_of(chance.root, "lineage.json"), "table-2.csv")
    found = audited(chance.root)
    why = "the current code or declaration would write it otherwise"
    assert findings(found) == [("stale", "reports/msci/table-2.csv", why)]
    assert moved(found, clean) == {}


def test_an_edited_lineage_is_found(chance: Project, clean: Audit) -> None:
    edit_json(file_of(chance.root, "lineage.json"), improve)
    found = audited(chance.root)
    place = "reports/msci/table-2.lineage.json · chance · shapes-pairs AUC · exact"
    assert findings(found) == [("tampered", place, "its text, value are not what its runs give")]
    assert moved(found, clean) == {TABLE: {"tampered": 1}}


def test_a_cell_that_stands_in_the_lineage_alone_is_found(chance: Project, clean: Audit) -> None:
    def invent(lineage: dict[str, Any]) -> None:
        lineage["cells"].append({**lineage["cells"][0], "row": "MSCI", "made_from": [], "measures": [], "missing": []})

    edit_json(file_of(chance.root, "lineage.json"), invent)
    found = audited(chance.root)
    place = "reports/msci/table-2.lineage.json · MSCI · shapes-pairs S · exact"
    assert ("tampered", place, "its runs give nothing of it") in findings(found)
    assert {state for state, where, _ in findings(found) if "MSCI" not in where} == set()


def test_an_edited_record_in_one_lineage_is_found(chance: Project, clean: Audit) -> None:
    def edit(lineage: dict[str, Any]) -> None:
        record = next(record for key, record in lineage["records"].items() if key.startswith("runs/"))
        record["made"]["host"] = "elsewhere"

    lineage = file_of(chance.root, "lineage.json", "duplex/table-3")
    key = next(key for key in read_json(lineage)["records"] if key.startswith("runs/"))
    host = read_json(lineage)["records"][key]["made"]["host"]
    edit_json(lineage, edit)
    found = audited(chance.root)
    why = f"its record of {key} is not that in results/: made.host was {host} and is elsewhere now"
    assert findings(found) == [("tampered", "reports/duplex/table-3.lineage.json", why)]
    assert moved(found, clean) == {}


def test_an_edited_reported_cell_is_found(chance: Project, clean: Audit) -> None:
    replace_once(
        file_of(chance.root, "csv"), "SCEN,mit-states S,reported,,29.9,29.9", "SCEN,mit-states S,reported,,39.9,39.9"
    )
    found = audited(chance.root)
    why = "shows '39.9'; reported/table-2.csv says '29.9'"
    assert findings(found) == [("tampered", "reports/msci/table-2.csv · SCEN · mit-states S", why)]
    assert moved(found, clean) == {}


# other files


@pytest.mark.parametrize("name", ["msci/table-2.md", "duplex/table-1.tex", "msci/figure-curves.svg"])
def test_an_edited_file_is_found(chance: Project, clean: Audit, name: str) -> None:
    path = chance.root / "reports" / name
    path.write_text(path.read_text().replace("chance", "change").replace("16", "61"))
    found = audited(chance.root)
    assert findings(found) == [("tampered", f"reports/{name}", CHANGED)]
    assert moved(found, clean) == ({"msci/figure-curves": {"tampered": 1}} if name.endswith("svg") else {})


def test_an_edited_picture_is_found(chance: Project, clean: Audit) -> None:
    path = file_of(chance.root, "png", "msci/figure-curves")
    path.write_bytes(path.read_bytes() + b"0")
    found = audited(chance.root)
    assert findings(found) == [("tampered", "reports/msci/figure-curves.png", CHANGED)]
    assert moved(found, clean) == {"msci/figure-curves": {"tampered": 1}}


@pytest.mark.parametrize("agreeing", [False, True])
def test_edited_numbers_of_a_figure_are_found(chance: Project, clean: Audit, agreeing: bool) -> None:
    path = file_of(chance.root, "csv", "msci/figure-curves")
    line = path.read_text().splitlines()[1]
    replace_once(path, line, line.replace("1.2500", "9.2500"))
    if agreeing:
        correct(file_of(chance.root, "lineage.json", "msci/figure-curves"), path.name)
    found = audited(chance.root)
    why = f"line 2 shows {line.replace('1.2500', '9.2500')}; its runs give {line}" if agreeing else CHANGED
    assert findings(found) == [("tampered", "reports/msci/figure-curves.csv", why)]
    assert moved(found, clean) == {"msci/figure-curves": {"tampered": 1}}


@pytest.mark.parametrize("name", ["README.md", "metrics.json", "curves.csv", "index.html"])
def test_an_edited_index_is_found(chance: Project, clean: Audit, name: str) -> None:
    path = chance.root / "reports" / name
    path.write_text(path.read_text() + " ")
    found = audited(chance.root)
    assert findings(found) == [("tampered", f"reports/{name}", CHANGED)]
    assert moved(found, clean) == {}


@pytest.mark.parametrize("name", ["README.md", "metrics.json", "curves.csv", "index.html"])
def test_an_edited_index_is_found_where_the_digest_was_made_to_agree(chance: Project, clean: Audit, name: str) -> None:
    path = chance.root / "reports" / name
    path.write_text(path.read_text().replace("chance", "magic"))
    correct(chance.root / "reports/index.lineage.json", name)
    found = audited(chance.root)
    why = "artifacts, parameters, or the code that writes it, changed since"
    assert findings(found) == [("stale", f"reports/{name}", why)]
    assert moved(found, clean) == {}


@pytest.mark.parametrize("name", ["msci/table-2.csv", "msci/table-2.tex", "msci/figure-curves.png", "curves.csv"])
def test_a_deleted_file_is_found(chance: Project, clean: Audit, name: str) -> None:
    (chance.root / "reports" / name).unlink()
    found = audited(chance.root)
    assert findings(found) == [("incomplete", f"reports/{name}", "is missing")]
    assert moved(found, clean) == {}


def test_a_deleted_lineage_is_found_and_hides_nothing_else(chance: Project, clean: Audit) -> None:
    file_of(chance.root, "lineage.json").unlink()
    (chance.root / "reports/msci/table-3.md").write_text("")
    found = audited(chance.root)
    assert findings(found) == [
        ("incomplete", "reports/msci/table-2.lineage.json", "is missing"),
        ("tampered", "reports/msci/table-3.md", CHANGED),
    ]
    assert moved(found, clean) == {TABLE: {"gone": 8}}
    assert found.recomputed == 2
    assert "msci/table-2: nothing of it can be told without its lineage" in found.report.unchecked


def drop(*path: str | int) -> Callable[[Any], None]:
    def edit(document: Any) -> None:
        for part in path[:-1]:
            document = document[part]
        del document[path[-1]]

    return edit


def put(value: Any, *path: str | int) -> Callable[[Any], None]:
    def edit(document: Any) -> None:
        for part in path[:-1]:
            document = document[part]
        document[path[-1]] = value

    return edit


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (drop("cells", 0, "view"), "cells.0.view: Field required"),
        (put(3, "cells", 0, "row"), "cells.0.row: Input should be a valid string"),
        (put("many", "cells", 0, "value"), "cells.0.value: Input should be a valid number"),
        (put([], "records"), "records: Input should be a valid dictionary"),
        (put(None, "cells"), "cells: Input should be a valid list"),
        (put(["runs/000000000000"], "cells", 0, "made_from"), "it has no record of runs/000000000000"),
        (put([], "measures"), "which nothing in it asks for"),
        (put("../..", "datasets", 0, "name"), "datasets.0.name: Input should be 'shapes-pairs'"),
    ],
)
def test_a_lineage_of_another_form_is_found(
    chance: Project, clean: Audit, edit: Callable[[Any], None], said: str
) -> None:
    edit_json(file_of(chance.root, "lineage.json"), edit)
    found = audited(chance.root)
    ((state, place, why),) = findings(found)
    assert (state, place) == ("tampered", "reports/msci/table-2.lineage.json")
    assert why.startswith("it is no lineage: ") and said in why
    assert moved(found, clean) == {TABLE: {"gone": 8}}


def test_a_lineage_that_other_code_wrote_is_stale(chance: Project) -> None:
    edit_json(file_of(chance.root, "lineage.json"), drop("wanted"))
    found = audited(chance.root)
    assert findings(found) == [("stale", "reports/msci/table-2.lineage.json", "it has no wanted: other code wrote it")]


NONSENSE = ["", "{", "[]", "null", '"cells"', "[" * 100_000, '{"cells": NaN}', "\udcff", "{}", "\0"]


@pytest.mark.parametrize("text", NONSENSE)
def test_nonsense_anywhere_is_found_and_no_error(chance: Project, text: str) -> None:
    """The same nonsense in every kind of file: each is named, and the others are still checked."""
    root, content = chance.root, text.encode("utf-8", errors="surrogateescape")
    folder = next(root.glob("results/runs/*/run.json")).parent
    inside = [*(folder / name for name in ("run.json",)), *root.glob("results/index/*/content.json")]
    names = ("msci/table-2.lineage.json", "msci/table-3.csv", "msci/figure-curves.csv")
    names = (*names, "duplex/table-1.md", "index.lineage.json")
    for path in (*inside, *(root / "reports" / name for name in names)):
        path.write_bytes(content)
    found = audited(root)
    places = {place.partition(" · ")[0] for _, place, _ in findings(found)}
    assert places >= {path.relative_to(root).as_posix() for path in inside}
    assert places >= {f"reports/{name}" for name in names}
    assert "reports/duplex/table-3.csv" not in places


@pytest.mark.parametrize(
    "text",
    [
        "",
        "row,column\n1,2\n",
        "row,column,source,view,text\na\n",
        "a" * 200_000,
        "row,column,source,view,text,value\n" + "," * 20,
    ],
)
def test_a_csv_of_another_form_is_found_where_the_digest_was_made_to_agree(chance: Project, text: str) -> None:
    file_of(chance.root, "csv").write_text(text)
    correct(file_of(chance.root, "lineage.json"), "table-2.csv")
    found = audited(chance.root)
    assert {state for state, _, _ in findings(found)} <= {"tampered", "stale"}
    places = {place.partition(" · ")[0] for _, place, _ in findings(found)}
    assert places == {"reports/msci/table-2.csv"}


# files of results whose records, too, were forged


@pytest.mark.parametrize("name", ["metrics.json", "scores.safetensors"])
@pytest.mark.parametrize("text", ["", "{}", "[]", "nonsense"])
def test_nonsense_in_a_run_is_found_where_every_record_was_made_to_agree(chance: Project, name: str, text: str) -> None:
    folder = next(chance.root.glob("results/runs/*/run.json")).parent
    (folder / name).write_text(text)
    correct(folder / "run.json", name)
    record, key = read_json(folder / "run.json"), f"runs/{folder.name}"
    for path in chance.root.glob("reports/**/*.lineage.json"):
        edit_json(path, lambda lineage: lineage["records"].update({key: record}) if key in lineage["records"] else None)
    found = audited(chance.root)
    assert [(state, place) for state, place, _ in findings(found)] == [("tampered", f"results/{key}/{name}")]


# clones


@pytest.fixture
def clone(chance: Project) -> Project:
    """What a clone of a repository holds: neither data nor results."""
    for name in ("data", "results"):
        shutil.rmtree(chance.root / name)
    return chance


UNKNOWN = MADE_FROM_RUNS | FROM_INDEX | {"duplex/table-13": 40}


def test_a_clone_is_clean_as_far_as_can_be_told(clone: Project, clean: Audit) -> None:
    found = audited(clone.root)
    assert findings(found) == []
    assert moved(found, clean) == all_of("unchecked", UNKNOWN)
    assert (found.runs, found.recomputed, found.files) == (2, 0, 0)
    unchecked = found.report.unchecked
    lost = {f"results/{key} is not on this disk" for lineage in found.lineages for key in lineage["records"]}
    assert len(lost) == 3 and lost <= set(unchecked)
    for name in MADE_FROM_RUNS:
        assert f"{name}: it rests on runs that cannot be relied on, or are not here" in unchecked
    assert "the index rests on runs or lineages that cannot be relied on, or are not here" in unchecked


LOCK = ("tampered", "reports/msci", "is not what dvc.lock says (modified)")
CELL = "reports/msci/table-2.csv · chance · shapes-pairs AUC · exact"


@pytest.mark.parametrize(
    ("old", "new", "finding"),
    [
        (ROW, BETTER, ("tampered", CELL, "shows '9.9 ± 0.0'; its lineage says '0.0 ± 0.0'")),
        (f"{ROW},0,2,,\n", "", ("tampered", CELL, "shows nothing; its lineage says '0.0 ± 0.0'")),
        (ROW, ROW.replace("0.0178571", "9.9"), ("tampered", "reports/msci/table-2.csv", CHANGED)),
    ],
)
def test_an_edited_cell_is_found_in_a_clone(
    clone: Project, clean: Audit, old: str, new: str, finding: tuple[str, str, str]
) -> None:
    replace_once(file_of(clone.root, "csv"), old, new)
    found = audited(clone.root)
    assert findings(found) == sorted([LOCK, finding])


def test_an_edited_cell_of_an_index_is_found_in_a_clone(clone: Project) -> None:
    replace_once(file_of(clone.root, "csv", "duplex/table-1"), "states,measured,,16,16", "states,measured,,17,17")
    place = "reports/duplex/table-1.csv · shapes-pairs · states"
    lock = (LOCK[0], "reports/duplex", LOCK[2])
    assert findings(audited(clone.root)) == sorted([("tampered", place, "shows '17'; its lineage says '16'"), lock])


def test_an_edited_file_without_runs_is_found_in_a_clone(clone: Project) -> None:
    path = file_of(clone.root, "md", "duplex/table-1")
    path.write_text(path.read_text() + " ")
    lock = (LOCK[0], "reports/duplex", LOCK[2])
    assert findings(audited(clone.root)) == sorted([("tampered", "reports/duplex/table-1.md", CHANGED), lock])


def test_a_table_and_its_lineage_edited_together_are_found_by_the_lock(clone: Project) -> None:
    replace_once(file_of(clone.root, "csv"), ROW, BETTER)
    edit_json(file_of(clone.root, "lineage.json"), improve)
    correct(file_of(clone.root, "lineage.json"), "table-2.csv")
    assert findings(audited(clone.root)) == [LOCK]


def test_without_a_lock_it_is_said_that_there_is_none(clone: Project) -> None:
    (clone.root / "dvc.lock").unlink()
    found = audited(clone.root)
    assert findings(found) == []
    assert "reports against dvc.lock: there is no dvc, no .dvc or no dvc.lock to ask" in found.report.unchecked


def test_the_lock_is_not_asked_where_there_are_runs(chance: Project, clean: Audit) -> None:
    """Who works with Snakemake alone has a lock of something else."""
    replace_once(chance.root / "dvc.lock", "path: reports/msci\n", "path: reports/else\n")
    assert findings(audited(chance.root)) == []


def test_everything_is_named_where_nothing_was_made(chance: Project) -> None:
    for name in ("data", "results", "reports"):
        shutil.rmtree(chance.root / name)
    (chance.root / "dvc.lock").unlink()
    found = audited(chance.root)
    due = [
        f"reports/{paper.name}/{file}"
        for paper in PAPERS_LOADED
        for name, artifact in paper.artifacts.items()
        for file in artifact_files(name, artifact)
    ]
    assert findings(found) == sorted(
        ("incomplete", place, "is missing") for place in [*due, "reports/index.lineage.json"]
    )
