"""The settings in which two things of one kind differ."""

import json

import pytest
from typer.testing import CliRunner

from recompose.cli import app
from recompose.commands.diff import settings_differences
from recompose.errors import UnknownError
from recompose.workspace import Workspace
from tests.configuration import write_params
from tests.errors import raises


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    root = tmp_path_factory.mktemp("settings")
    write_params(root, "smoke")
    return Workspace(root)


def test_two_methods_differ_in_settings_on_each_data_set(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(work.root)
    document = json.loads(CliRunner().invoke(app, ["diff", "csp", "troika", "--json"]).stdout)
    assert document.keys() == {"czsl on shapes-pairs"}
    assert document["czsl on shapes-pairs"]["method"] == {"csp": "csp", "troika": "troika"}
    header, *rows = CliRunner().invoke(app, ["diff", "csp", "troika"]).stdout.splitlines()
    assert header.split() == ["czsl", "on", "shapes-pairs", "csp", "troika"]
    assert ["method", "csp", "troika"] in [row.split() for row in rows]


def test_two_profiles_differ_in_all_their_parameters(work: Workspace) -> None:
    (settings,) = settings_differences(work, "smoke", "demo").values()
    assert settings["czsl.datasets.shapes-pairs.images.test"] == {"smoke": 120, "demo": 480}


def test_what_is_neither_is_named_with_the_nearest(work: Workspace) -> None:
    with raises(UnknownError, "unknown-key", "trokia") as error:
        settings_differences(work, "csp", "trokia")
    assert "the nearest is 'troika'" in str(error.value)
