"""What the command line says of errors that are none of the project's own."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from recompose import cli
from recompose.errors import DataError
from recompose.options import raw_files
from recompose.progress import say
from recompose.workspace import open_workspace
from tests.configuration import write_params

MessageOf = Callable[[Exception], str]


@pytest.fixture
def message_of(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> MessageOf:
    """What the command line says of an error, with which it ends."""

    def end_with(error: Exception) -> str:
        def fail(*, standalone_mode: bool) -> None:
            assert not standalone_mode
            raise error

        monkeypatch.setattr(cli, "app", fail)
        with pytest.raises(SystemExit) as end:
            cli.main()
        assert end.value.code == 1
        return capsys.readouterr().err

    return end_with


def test_a_package_that_is_not_installed_is_named_with_the_remedy(message_of: MessageOf) -> None:
    output = message_of(ModuleNotFoundError("No module named 'torch.cuda'", name="torch.cuda"))
    assert output.startswith("recompose: torch.cuda is not installed; ") and "`make environment`" in output


def test_a_module_of_ours_that_is_gone_keeps_its_trace(message_of: MessageOf) -> None:
    with pytest.raises(ModuleNotFoundError):
        message_of(ModuleNotFoundError("No module named 'recompose.x'", name="recompose.x"))


@pytest.mark.parametrize("refused", [errno.ENOSPC, errno.EACCES, errno.ELOOP])
def test_what_the_file_system_refuses_is_one_line_that_names_the_place(refused: int, message_of: MessageOf) -> None:
    output = message_of(OSError(refused, os.strerror(refused), "results"))
    assert output.startswith(f"recompose: results: {os.strerror(refused)}: ") and output.count("\n") == 1


def test_an_error_keeps_its_lines_and_sends_no_codes(message_of: MessageOf, capsys: pytest.CaptureFixture[str]) -> None:
    written = message_of(DataError("names in a file: \x1b[2Ja\x9b31m\n  the second line")).splitlines()
    sign = "\N{REPLACEMENT CHARACTER}"
    assert written == [f"recompose: names in a file: {sign}[2Ja{sign}31m", "  the second line"]
    say("a note: \x1b]0;title\x07")
    assert capsys.readouterr().err.strip().isprintable()


def test_nothing_is_made_without_a_name_and_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_params(tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(typer.BadParameter, match="name results"):
        cli.app(["make"], standalone_mode=False)


def test_a_sub_folder_is_the_project_and_paths_start_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_params(tmp_path)
    folder = tmp_path / "reports/demo"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    work = open_workspace(".")
    assert work.root == tmp_path and Path.cwd() == folder
    assert raw_files(work) == Path("../../data/vlc")
