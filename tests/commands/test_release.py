"""Releases: what a hostile or damaged archive is answered with, and what a right one gives."""

import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from recompose.commands.audit import show_release_audit
from recompose.commands.release import RELEASE, open_release, write_release
from recompose.errors import ParamsError, ReleaseError
from recompose.files import write_json
from recompose.tables.published import Published
from recompose.workspace import Workspace
from tests.configuration import write_params
from tests.errors import raises

DESCRIBED = {"program": "recompose 0.1.0", "profile": "demo", "commit": None, "evaluations": 1, "absent": 0}


def folder_of(root: Path, **files: str) -> Path:
    """The files of a small release."""
    folder = root / "small"
    for name, text in {"reports/a.csv": "1", **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    write_json(folder / RELEASE, DESCRIBED)
    return folder


def packed(folder: Path) -> Path:
    archive = folder.parent / "small.tar.gz"
    with tarfile.open(archive, "w:gz") as file:
        for path in folder.parent.iterdir():
            if path != archive:
                file.add(path, path.name)
    return archive


def test_a_right_release_is_opened_with_its_description(tmp_path: Path) -> None:
    with open_release(packed(folder_of(tmp_path))) as (root, release):
        assert release.profile == "demo"
        assert (root / "reports/a.csv").read_text() == "1"
    assert not root.exists()


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / RELEASE).unlink(),
        lambda folder: (folder / RELEASE).write_text("{"),
        lambda folder: write_json(folder / RELEASE, DESCRIBED | {"profile": "../x"}),
        lambda folder: (folder.parent / "second").mkdir(),
    ],
)
def test_what_is_no_release_is_refused(damage: Callable[[Path], object], tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    damage(folder)
    with raises(ReleaseError, "no-release", RELEASE), open_release(packed(folder)):
        raise AssertionError("it was opened")


def test_no_code_in_a_release_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOMPOSE_PROFILE", "")  # which the audit sets
    method = "{class: settings:Own, settings: settings:Own}"
    files = {
        "params.yaml": "plugins: [.]",
        "my_trap/plugin.yaml": f"methods: {{czsl: {{mine: {method}}}}}",
        "my_trap/settings.py": f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Own: pass",
    }
    with pytest.raises(ParamsError, match="this key is missing"):
        show_release_audit(packed(folder_of(tmp_path, **files)), full=False, as_json=False)
    assert not (tmp_path / "ran").exists()


@pytest.mark.slow
def test_a_release_has_the_files_of_comparisons_whose_reports_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_params(tmp_path)
    (tmp_path / "comparisons").mkdir()
    (tmp_path / "comparisons/scratch-mine.yaml").write_text("{track: czsl, baseline: csp, methods: [msci]}")
    work, archive = Workspace(tmp_path), tmp_path / "small.tar.gz"
    monkeypatch.setattr(Published, "read", lambda _: Published(cells={"scratch-mine/table": []}))
    write_release(work, work.papers, archive)
    with open_release(archive) as (root, _):
        assert [paper.name for paper in Workspace(root).papers] == [paper.name for paper in work.papers]
