"""What the command line says of errors that are none of the project's own."""

import pytest

from recompose import cli


def fails_with(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr(cli, "app", fail)


def test_a_package_that_is_not_installed_is_named_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fails_with(monkeypatch, ModuleNotFoundError("No module named 'torch.cuda'", name="torch.cuda"))
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 1
    said = "recompose: torch.cuda is not installed: `make environment` installs what is needed\n"
    assert capsys.readouterr().err == said


def test_a_module_of_ours_that_is_gone_keeps_its_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    fails_with(monkeypatch, ModuleNotFoundError("No module named 'recompose.x'", name="recompose.x"))
    with pytest.raises(ModuleNotFoundError):
        cli.main()
