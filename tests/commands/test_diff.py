"""The settings in which two things of one kind differ."""

import json
from io import StringIO

import pytest
from rich.console import Console
from typer.testing import CliRunner

from recompose.cli import app
from recompose.commands.diff import settings_difference, show_settings
from recompose.errors import PlanError
from recompose.workspace import Workspace
from tests.configuration import write_params
from tests.errors import raises


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    root = tmp_path_factory.mktemp("settings")
    write_params(root, "smoke")
    return Workspace(root)


def test_two_methods_differ_in_settings_on_each_data_set(work: Workspace) -> None:
    (difference,) = settings_difference(work, "csp", "troika")
    assert difference.place == "czsl on shapes-pairs"
    assert difference.settings["method"] == {"csp": "csp", "troika": "troika"}
    console = Console(width=200, record=True, file=StringIO())
    show_settings(console, [difference])
    place, header, *_ = console.export_text().splitlines()
    assert (place, header.split()) == ("czsl on shapes-pairs", ["setting", "csp", "troika"])


def test_a_method_does_not_differ_from_itself(work: Workspace) -> None:
    (difference,) = settings_difference(work, "csp", "csp")
    assert difference.settings == {}


def test_two_profiles_differ_in_all_their_parameters(work: Workspace) -> None:
    (difference,) = settings_difference(work, "smoke", "demo")
    assert difference.settings["czsl.datasets.shapes-pairs.images.test"] == {"smoke": 120, "demo": 480}


def test_a_stored_result_that_is_not_planned_any_more_is_read_from_its_record(work: Workspace) -> None:
    recipe, other = work.plan.of("data")[:2]
    (difference,) = settings_difference(work, recipe.key, other.digest[:9])
    assert difference.settings


def test_what_is_neither_is_named_with_the_nearest(work: Workspace) -> None:
    with raises(PlanError, "unknown-name", "trokia") as error:
        settings_difference(work, "csp", "trokia")
    assert "the nearest is 'troika'" in str(error.value)


def test_the_command_prints_json(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(work.root)
    done = CliRunner().invoke(app, ["diff", "csp", "troika", "--json"])
    (difference,) = json.loads(done.stdout)
    assert difference["settings"]["method"] == {"csp": "csp", "troika": "troika"}
