"""What is kept in git of the reports says nothing that differs from one making to another of the same: that is in
one file.
"""

from pathlib import Path

import pytest
from safetensors.numpy import load_file, save_file

from recompose.commands.report import make_page
from recompose.tables.artifacts import make_artifacts
from recompose.tables.reports import Reports
from recompose.workspace import Workspace
from tests.audit.worlds import (
    audited,
    copy_of,
    correct,
    each_record,
    edit_json,
    evaluations_of,
    findings,
    first_of,
    key_of,
    remake_reports,
)
from tests.configuration import new_workspace
from tests.conftest import Project

AGAIN = "was made again after the reports, with another result"
ELSEWHERE = {
    "started": "2031-05-06T07:08:09+00:00",
    "seconds": 98765.43,
    "attempts": 3,
    "host": "another-host",
    "system": "OtherOS",
    "commit": "e" * 40,
    "device": "8 x Another",
    "python": "3.99",
}


def everything(reports: Path) -> dict[str, bytes]:
    return {path.relative_to(reports).as_posix(): path.read_bytes() for path in reports.rglob("*") if path.is_file()}


MADE = "made.json"
SHOWN = {MADE, "index.html", "provenance.json"}  # the page shows digests, and the provenance has that of the page


@pytest.fixture(scope="module")
def both(chance_project: Project, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The reports as they were made, and made again from results as another machine would have them at another time:
    scores of other bytes that give the same metrics.
    """
    root = copy_of(chance_project.root, tmp_path_factory.mktemp("elsewhere") / "project")
    each_record(root, lambda record: record["made"].update(ELSEWHERE))
    for folder in evaluations_of(root):
        (folder / "log.txt").write_text("another log\n")
        scores = folder / "scores.safetensors"
        save_file(load_file(scores), scores, {"machine": "another"})
        correct(folder / "record.json", "log.txt", scores.name)
    remake_reports(root)
    return chance_project.root, root


def test_only_one_file_and_what_shows_it_differ(both: tuple[Path, Path]) -> None:
    here, there = (everything(root / "reports/smoke") for root in both)
    assert here.keys() == there.keys()
    assert {MADE} <= {name for name in here if here[name] != there[name]} <= SHOWN


def test_reports_that_were_made_again_elsewhere_are_clean(both: tuple[Path, Path]) -> None:
    found = audited(both[1])
    assert findings(found) == []
    assert found.words.keys() == {"current"}


def test_what_was_made_from_an_older_result_is_outdated_and_due(root: Path) -> None:
    """Metrics that come out equal make nothing else anew."""
    folder = first_of(root)
    save_file(load_file(folder / "scores.safetensors"), folder / "scores.safetensors", {"machine": "another"})
    correct(folder / "record.json", "scores.safetensors")
    edit_json(folder / "record.json", lambda record: record["made"].update(started="2031-05-06T07:08:09+00:00"))
    assert ("outdated", f"results/{key_of(folder)}", AGAIN) in findings(audited(root))
    reports = Reports(Workspace(root))
    due = {name for name, recipe in reports.artifacts.items() if reports.is_due(recipe)}
    assert {"msci/table-2", "msci/figure-curves"} < due and "msci/table-1" not in due
    before = {path: path.stat().st_mtime_ns for path in root.glob("results/artifacts/*/record.json")}
    make_artifacts(reports, due)
    made = {path for path in root.glob("results/artifacts/*/record.json") if path.stat().st_mtime_ns != before[path]}
    drawn = {reports.artifacts[name].key for name in due if "figure" in name}
    assert {key_of(path.parent) for path in made} <= drawn  # of scores themselves
    remake_reports(root)
    assert findings(audited(root)) == []


def test_a_table_of_data_is_due_once_the_data_is_indexed_anew_with_another_result(root: Path) -> None:
    reports = Reports(Workspace(root))
    recipe = reports.artifacts["msci/table-1"]
    assert {need.kind for need in recipe.needs.values()} == {"data"} and not reports.is_due(recipe)
    index = root / "results" / next(iter(recipe.needs.values())).key
    edit_json(index / "statistics.json", lambda counts: counts.update(states=99))
    correct(index / "record.json", "statistics.json")
    again = Reports(Workspace(root))
    assert again.is_due(recipe)
    make_artifacts(again, [recipe.name])
    assert "99" in (root / "reports/smoke/msci/table-1.csv").read_text()


def test_a_table_of_costs_alone_needs_them(tmp_path: Path) -> None:
    reports = Reports(new_workspace(tmp_path))
    needs = {name: {r: n.kind for r, n in recipe.needs.items()} for name, recipe in reports.artifacts.items()}
    costs = {name: {kind for role, kind in of.items() if role.endswith("/costs")} for name, of in needs.items()}
    assert costs["duplex/table-10"] == {"runs", "evaluations"}
    assert costs["msci/table-2"] == set()


@pytest.mark.parametrize("spoil", ["edited", "gone"])
def test_a_copy_that_is_absent_or_changed_is_copied_again_and_nothing_is_made(root: Path, spoil: str) -> None:
    table, page = (root / "reports/smoke" / name for name in ("msci/table-2.csv", "index.html"))
    before, reports = {path: path.read_bytes() for path in (table, page)}, Reports(Workspace(root))
    for path in before:
        path.unlink() if spoil == "gone" else path.write_text("x")
    due = {name for name, recipe in reports.artifacts.items() if reports.is_due(recipe)}
    assert due == {"msci/table-2"} and reports.is_due(reports.page)
    stored = {path: path.stat().st_mtime_ns for path in root.glob("results/*/*/record.json")}
    make_artifacts(reports, due)
    make_page(reports)
    assert {path: path.read_bytes() for path in before} == before
    assert {path: path.stat().st_mtime_ns for path in root.glob("results/*/*/record.json")} == stored


@pytest.mark.parametrize("kind", ["metrics", "artifacts", "page"])
def test_what_follows_from_evaluations_is_made_anew_where_it_was_changed(root: Path, kind: str) -> None:
    before = everything(root / "reports/smoke")
    for path in root.glob(f"results/{kind}/*/**/*.*"):
        if path.name not in ("record.json", "log.txt", ".seen.json"):
            path.write_bytes(b"x")
    assert {place.split("/")[1] for _, place, _ in findings(audited(root))} == {kind} or kind == "page"
    remake_reports(root)
    assert everything(root / "reports/smoke") == before
    assert findings(audited(root)) == []
