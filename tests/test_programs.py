"""Programs that are missing or refuse: their reason is passed on."""

import os
from pathlib import Path

import pytest

from recompose import cli
from recompose.audit.audit import LOCK, check_lock
from recompose.commands.against import commit_of
from recompose.environment import state_of_sources
from recompose.errors import DiffError, ProgramError
from recompose.programs import git
from tests.configuration import write_params
from tests.conftest import commit_files
from tests.errors import raises

OTHER_OWNER = "GIT_TEST_ASSUME_DIFFERENT_OWNER"  # git then takes every repository for another user's


@pytest.fixture
def refusing_dvc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A DVC that refuses everything; its reason."""
    program = tmp_path / "bin" / "dvc"
    program.parent.mkdir()
    program.write_text(
        "#!/bin/sh\necho 'ERROR: failed:' >&2\necho '  no repository' >&2\necho 'Traceback: x' >&2\nexit 255\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    return "dvc: ERROR: failed: no repository"


def test_a_program_that_is_not_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with raises(ProgramError, "program", "git") as error:
        git("status", folder=tmp_path)
    assert str(error.value) == "git is not installed"


def test_who_asks_git_passes_its_reason_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    commit_files(tmp_path, "file")
    assert state_of_sources(tmp_path) == {"commit": commit_of(tmp_path, "HEAD"), "dirty": False}
    assert capsys.readouterr().err == ""
    monkeypatch.setenv(OTHER_OWNER, "1")
    assert state_of_sources(tmp_path) == {"commit": None, "dirty": None}
    reasons = [capsys.readouterr().err.rstrip("\n")]
    with raises(DiffError, "unknown-revision") as no_commit:
        commit_of(tmp_path, "HEAD")
    for reason in [*reasons, str(no_commit.value)]:
        assert "dubious ownership" in reason and "safe.directory" in reason and "\n" not in reason


def test_the_sources_of_plugins_count_wherever_they_are(tmp_path: Path) -> None:
    """In the project's repository, in one of their own, and in none."""
    project, plugin, nowhere = (tmp_path / name for name in ("project", "plugin", "nowhere"))
    for folder in (project / "src", project / "plugin", plugin, nowhere):
        folder.mkdir(parents=True)
        (folder / "model.py").write_text("scale = 1")
    commit_files(project, "src/model.py")
    assert not state_of_sources(project)["dirty"]
    for root, source in ((project, project / "plugin/model.py"), (plugin, plugin / "model.py")):
        assert state_of_sources(project, [source])["dirty"]
        commit_files(root, source.relative_to(root).as_posix())
        assert not state_of_sources(project, [source])["dirty"]
        source.write_text("scale = 2")
        assert state_of_sources(project, [source])["dirty"]
    assert state_of_sources(project, [nowhere / "model.py"])["dirty"]


def test_what_dvc_cannot_record_is_one_line_and_no_failure(
    refusing_dvc: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_params(tmp_path)
    monkeypatch.chdir(tmp_path)
    cli.app(["store", "commit"], standalone_mode=False)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and "left out" in lines[0] and refusing_dvc in lines[0] and "Traceback" not in lines[0]


def test_whoever_asks_dvc_passes_its_reason_on(refusing_dvc: str, tmp_path: Path) -> None:
    (tmp_path / LOCK).touch()
    (finding,) = check_lock(tmp_path)
    assert (finding.state, finding.place) == ("unchecked", LOCK)
    assert refusing_dvc in finding.why
