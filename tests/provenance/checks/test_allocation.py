"""The check of an allocation: a study is computed once more, and what does not follow is found."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from recompose.monitor.decide import decide
from recompose.params.allocation import REMEDY
from recompose.params.reading import document_text, read_document
from recompose.provenance.checks.allocation import check_allocation
from recompose.report.findings import AuditReport
from recompose.report.results import StoredResults
from recompose.workspace import Workspace
from tests.allocation.studies import FILE, STUDY, prepare_study, run
from tests.configuration import edit, write_params

pytestmark = pytest.mark.slow

LOOKS = "profiles.study.czsl.looks"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of three stages or more."""
    root = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        prepare_study(root, patch)
        assert len(list(decide(root, 0.3, lambda: (run(root), None)[1]))) > 2
    return root


@pytest.fixture
def root(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy that a test may change."""
    shutil.copytree(finished, tmp_path / "study")
    return prepare_study(tmp_path / "study", monkeypatch)


def check(root: Path) -> AuditReport:
    work = Workspace(root)
    return check_allocation(work, work.papers, StoredResults(work))


def change(root: Path, key: str, value: Any) -> Any:
    """Set a key of the file to a value, or to what a function makes of the value there; returns the one before."""
    document = read_document((root / FILE).read_text(), FILE)
    before = document
    for part in key.split("."):
        before = before[int(part)] if isinstance(before, list) else before[part]
    edit(document, {key: value(before) if callable(value) else value})
    (root / FILE).write_text(document_text(document))
    return before


def places(report: AuditReport) -> list[tuple[str, str]]:
    return [(finding.state, finding.place) for finding in report.findings]


def test_a_study_follows_from_its_scores(root: Path) -> None:
    report = check(root)
    assert (report.findings, report.unchecked) == ([], [])
    (root / FILE).unlink()
    assert check(root).clean


@pytest.mark.parametrize(
    ("key", "value", "place"),
    [
        ("stages.1.seen.3.p", lambda p: p * 0.99999 if p < 1 else 0.99999, "stage 2 · "),
        ("stages.2.seen.0.p_margin", 0.01, "stage 3 · "),
        ("stages.1.seen.0.difference", lambda value: -value, "stage 2 · "),
        ("stages.1.seen.0.verdict", "supported here", "stage 2 · "),
        ("stages.2.seen.0.replicates", 8, "stage 3 · "),
        ("stages.1.too_dear", [], "stage 2 · too_dear"),
        ("stages.1.core_seconds", lambda seconds: seconds + 0.01, "stage 2 · core_seconds"),
        ("stages.0.core_seconds", lambda seconds: seconds + 0.01, "stage 1 · core_seconds"),
        ("stages.1.hours", 0.0, "stage 2"),
        ("core_seconds.czsl.csp.runs csp on shapes-pairs", lambda seconds: seconds + 0.01, "stage 1 · core_seconds"),
    ],
)
def test_a_number_that_was_changed_is_found(key: str, value: Any, place: str, root: Path) -> None:
    change(root, key, value)
    report = check(root)
    assert any(state == "tampered" and where.startswith(f"{FILE} · {place}") for state, where in places(report))
    assert {finding.remedy for finding in report.findings} == {REMEDY}


def test_on_another_processor_numbers_that_were_seen_differ_and_nothing_is_called_tampered(root: Path) -> None:
    (root / "processor").write_text("16 x CPU")  # the same processor, with more cores
    assert check(root).unchecked == []
    (root / "processor").write_text("2 x Other CPU")
    change(root, "stages.1.seen.0.difference", lambda value: value * 1.01)
    report = check(root)
    assert report.clean
    stages = len(Workspace(root).params.allocation.stages)
    assert [text.partition(": it was")[0] for text in report.unchecked] == [
        f"{FILE} · stage {number}" for number in range(2, stages + 1)
    ]
    assert all("results of CPU; those here are of Other CPU" in text for text in report.unchecked)


@pytest.mark.parametrize(
    ("key", "value", "place"),
    [
        ("stages.1.seen.0.replicates", 8, "stage 2 · "),
        ("stages.1.core_seconds", lambda seconds: seconds + 0.01, "stage 2 · core_seconds"),
        ("stages.0.core_seconds", lambda seconds: seconds + 0.01, "stage 1 · core_seconds"),
    ],
)
def test_what_no_processor_changes_is_checked_on_each(key: str, value: Any, place: str, root: Path) -> None:
    (root / "processor").write_text("2 x Other CPU")
    change(root, key, value)
    assert any(state == "tampered" and where.startswith(f"{FILE} · {place}") for state, where in places(check(root)))


def test_replicates_that_nothing_chose_are_found(root: Path) -> None:
    document = read_document((root / FILE).read_text(), FILE)
    name = next(name for name, count in document["stages"][1]["replicates"]["czsl"].items() if count == 3)
    for number in range(1, len(document["stages"])):
        document["stages"][number]["replicates"]["czsl"][name] = 8
    (root / FILE).write_text(document_text(document))
    run(root)
    assert ("tampered", f"{FILE} · stage 2 · czsl.{name}") in places(check(root))


def test_an_observation_that_was_left_out_or_made_up_is_found(root: Path) -> None:
    gone = change(root, "stages.1.seen", lambda seen: seen[1:])[0]
    name = f"{gone['paper']} on {gone['benchmark']}: {gone['comparison']}"
    assert ("stale", f"{FILE} · stage 2 · {name}") in places(check(root))
    change(root, "stages.1.seen", lambda seen: [gone, *seen, gone | {"comparison": "a - b"}])
    assert places(check(root)) == [("stale", f"{FILE} · stage 2 · {gone['paper']} on {gone['benchmark']}: a - b")]


def test_a_stage_after_the_end_is_found(root: Path) -> None:
    document = read_document((root / FILE).read_text(), FILE)
    document["stages"].append(document["stages"][-1] | {"core_seconds": 0.0})
    (root / FILE).write_text(document_text(document))
    assert ("tampered", f"{FILE} · stage {len(document['stages'])}") in places(check(root))


@pytest.mark.parametrize("also_in_file", [False, True])
def test_a_look_that_was_added_later_is_found(also_in_file: bool, root: Path) -> None:
    """In params.yaml alone, and in both files: then the shares of all looks are others than those that were spent."""
    write_params(root, "study", STUDY | {LOOKS: [3, 4, 5, 8]})
    if also_in_file:
        change(root, "looks.czsl", [3, 4, 5, 8])
    report = check(root)
    assert report.findings
    assert {finding.state for finding in report.findings} == {"tampered"}
    assert any("looks of czsl" in finding.why for finding in report.findings) != also_in_file


def test_what_is_not_on_this_disk_could_not_be_checked(root: Path) -> None:
    last = Workspace(root).plan.evaluations("czsl", "msci", "shapes-pairs")[4]
    (root / "measured" / last.digest).unlink()
    report = check(root)
    assert report.clean
    assert report.unchecked == [f"{FILE} · stage 3 and those after: evaluations that are missing or not valid: 1"]
    shutil.rmtree(root / "measured")
    report = check(root)
    assert report.clean
    assert len(report.unchecked) == 1
    assert report.unchecked[0].startswith(f"{FILE} · stage 2 and those after: ")
