"""The project as it lies on people's machines: odd paths, links to another disk, line ends of Windows."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT, commit_files, environment

ODD = ["my work", "Recompose (copy)", 'it\'s 100% "mine" & $HOME; `x`']


def git(folder: Path, *arguments: str) -> str:
    command = ["git", *arguments]
    return subprocess.run(command, cwd=folder, env=environment(), check=True, capture_output=True, text=True).stdout


def project_with_stand_ins(root: Path) -> Path:
    """Write what make needs into a folder, with programs that write down what they are told; return their folder."""
    programs = root / ".venv" / "bin"
    programs.mkdir(parents=True)
    for file in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copyfile(ROOT / file, root / file)
    told = '"$VIRTUAL_ENV" "${PATH%%:*}" "$HOME" "$1"'
    for program in ("python", "uv"):
        (programs / program).write_text(f'#!/bin/sh\nprintf "%s\\n" {told} >> "$TOLD"\n')
        (programs / program).chmod(0o755)
    return programs


@pytest.mark.parametrize("name", ODD)
def test_make_installs_into_the_environment_of_a_folder_with_an_odd_name(name: str, tmp_path: Path) -> None:
    """The programs that install are stand-ins, which write down what they are told."""
    root, told = tmp_path / name, tmp_path / "told"
    programs = project_with_stand_ins(root)
    home = {"HOME": str(tmp_path)}
    subprocess.run(["make", "-s", "environment"], cwd=root, env=environment() | home | {"TOLD": str(told)}, check=True)
    assert told.read_text().splitlines() == 2 * [str(root / ".venv"), str(programs), str(tmp_path), "pip"]
    assert (root / ".venv" / ".environment").exists()


def test_a_clone_with_the_line_ends_of_windows_has_the_same_bytes(tmp_path: Path) -> None:
    files = [".gitattributes", "Makefile", ".ci/run", "params.yaml", "dvc.lock", "src/recompose/digest.py"]
    reports = sorted((ROOT / "reports").rglob("table-1.*"))[:5]
    files += [path.relative_to(ROOT).as_posix() for path in reports]
    original = tmp_path / "original"
    for file in files:
        (original / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, original / file)
    (original / "reports" / "windows.csv").write_bytes(b"a\r\n")  # a report is what its digest says, whatever it has
    commit_files(original, ".")
    git(tmp_path, "clone", "--quiet", "--config", "core.autocrlf=true", "original", "clone")
    for file in [*files, "reports/windows.csv"]:
        assert (tmp_path / "clone" / file).read_bytes() == (original / file).read_bytes(), file
    assert git(tmp_path / "clone", "status", "--porcelain") == ""
