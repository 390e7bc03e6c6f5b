"""What is kept in git of the reports says nothing that differs from one making to another of the same: that is in
one file.
"""

import re
from pathlib import Path

import pytest

from tests.audit.worlds import copy_of, each_record, evaluations_of, remake_reports
from tests.conftest import Project

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


@pytest.fixture(scope="module")
def both(chance_project: Project, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The reports as they were made, and made again from results as another machine would have them at another time."""
    root = copy_of(chance_project.root, tmp_path_factory.mktemp("elsewhere") / "project")
    each_record(root, lambda record: record["made"].update(ELSEWHERE))
    for folder in evaluations_of(root):
        (folder / "log.txt").write_text("another log\n")
    each_record(root, _with_this_log(root))
    remake_reports(root)
    return chance_project.root, root


def _with_this_log(root: Path):  # type: ignore[no-untyped-def]
    from recompose.digest import sha256_file

    def edit(record: dict) -> None:  # type: ignore[type-arg]
        if record["kind"] == "evaluations":
            path = root / "results/evaluations" / record["digest"][:12] / "log.txt"
            record["files"]["log.txt"] = {"sha256": sha256_file(path), "bytes": path.stat().st_size}

    return edit


def test_only_one_file_differs(both: tuple[Path, Path]) -> None:
    here, there = (everything(root / "reports/smoke") for root in both)
    assert here.keys() == there.keys()
    assert {name for name in here if here[name] != there[name]} == {"made.json"}


def test_nothing_of_where_and_when_it_was_made_stands_in_any_other_file(both: tuple[Path, Path]) -> None:
    _, root = both
    files = everything(root / "reports/smoke")
    made = files.pop("made.json").decode()
    for value in ELSEWHERE.values():
        assert str(value) in made
    for name, content in files.items():
        text = content.decode(errors="replace")
        for value in ("2031-05", "98765", "another-host", "OtherOS", "e" * 40, "e" * 12, "8 x Another", "3.99"):
            assert value not in text, (name, value)


def test_no_time_stands_in_what_is_kept(chance_project: Project) -> None:
    for name, content in everything(chance_project.root / "reports/smoke").items():
        if name != "made.json" and not name.endswith(".png"):
            assert not re.search(rb"20\d\d-\d\d-\d\dT\d\d:", content), name
