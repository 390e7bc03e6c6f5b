"""What the command line says of errors that are none of the project's own."""

import errno
import os
from pathlib import Path

import pytest

from recompose import cli
from recompose.errors import DataError
from recompose.options import raw_files
from recompose.progress import say
from recompose.workspace import open_workspace
from tests.configuration import write_params


def fails_with(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(*, standalone_mode: bool) -> None:
        assert not standalone_mode
        raise error

    monkeypatch.setattr(cli, "app", fail)


def test_a_package_that_is_not_installed_is_named_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fails_with(monkeypatch, ModuleNotFoundError("No module named 'torch.cuda'", name="torch.cuda"))
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 1
    output = capsys.readouterr().err
    assert output.startswith("recompose: torch.cuda is not installed; ") and "`make environment`" in output


def test_a_module_of_ours_that_is_gone_keeps_its_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    fails_with(monkeypatch, ModuleNotFoundError("No module named 'recompose.x'", name="recompose.x"))
    with pytest.raises(ModuleNotFoundError):
        cli.main()


@pytest.mark.parametrize("refused", [errno.ENOSPC, errno.EACCES, errno.ELOOP])
def test_what_the_file_system_refuses_is_one_line_that_names_the_place(
    refused: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fails_with(monkeypatch, OSError(refused, os.strerror(refused), "results"))
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 1
    output = capsys.readouterr().err
    assert output.startswith(f"recompose: results: {os.strerror(refused)}: ") and output.count("\n") == 1


def test_an_error_keeps_its_lines_and_sends_no_codes_to_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fails_with(monkeypatch, DataError("names in a file: \x1b[2Ja\x9b31m\n  the second line"))
    with pytest.raises(SystemExit) as end:
        cli.main()
    written = capsys.readouterr().err.splitlines()
    assert end.value.code == 1
    sign = "\N{REPLACEMENT CHARACTER}"
    assert written == [f"recompose: names in a file: {sign}[2Ja{sign}31m", "  the second line"]
    say("a note: \x1b]0;title\x07")
    assert capsys.readouterr().err.strip().isprintable()


def test_a_sub_folder_is_as_good_as_the_project_and_paths_start_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_params(tmp_path)
    folder = tmp_path / "reports/demo"
    folder.mkdir(parents=True)
    (folder / "table.csv").touch()
    monkeypatch.chdir(folder)
    work = open_workspace(".")
    assert work.root == tmp_path and Path.cwd() == folder
    assert cli._in_project(work, "table.csv") == "reports/demo/table.csv"
    assert cli._in_project(work, "msci/table-2") == "msci/table-2"
    assert raw_files(work) == Path("../../data/vlc")
