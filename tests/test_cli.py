"""What the command line says of errors that are none of the project's own."""

import errno
import os
from pathlib import Path

import pytest

from recompose import cli
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
    said = "recompose: torch.cuda is not installed; `make environment` installs it\n"
    assert capsys.readouterr().err == said


def test_a_module_of_ours_that_is_gone_keeps_its_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    fails_with(monkeypatch, ModuleNotFoundError("No module named 'recompose.x'", name="recompose.x"))
    with pytest.raises(ModuleNotFoundError):
        cli.main()


@pytest.mark.parametrize("refused", [errno.EACCES, errno.EROFS, errno.ENOSPC, errno.EDQUOT])
def test_what_the_file_system_refuses_is_one_line_that_names_the_place(
    refused: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fails_with(monkeypatch, OSError(refused, os.strerror(refused), "results"))
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 1
    said = capsys.readouterr().err
    assert said.startswith(f"recompose: results: {os.strerror(refused)}: ") and said.count("\n") == 1


def test_another_error_of_the_operating_system_keeps_its_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    fails_with(monkeypatch, OSError(errno.EIO, os.strerror(errno.EIO), "results"))
    with pytest.raises(OSError) as error:
        cli.main()
    assert error.value.errno == errno.EIO


def test_a_forked_process_takes_the_plan_of_its_parent_until_params_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "_prepared", [])
    write_params(tmp_path)
    monkeypatch.chdir(tmp_path)
    cli.prepare_workspace()
    assert cli._workspace() is cli._workspace()
    write_params(tmp_path, "smoke")
    assert cli._workspace().params.profile == "smoke"
    write_params(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert cli._workspace().root == tmp_path / "elsewhere"
