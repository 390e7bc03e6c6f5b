"""The settings in which two things of one kind differ."""

import pytest

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


def test_two_methods_differ_in_settings_on_each_data_set(work: Workspace) -> None:
    differences = settings_differences(work, "csp", "troika")
    assert differences.keys() == {"czsl on shapes-pairs"}
    assert differences["czsl on shapes-pairs"]["method"] == {"csp": "csp", "troika": "troika"}


def test_two_profiles_differ_in_all_their_parameters(work: Workspace) -> None:
    (settings,) = settings_differences(work, "smoke", "demo").values()
    assert settings["czsl.datasets.shapes-pairs.images.test"] == {"smoke": 120, "demo": 480}


def test_what_is_neither_is_named_with_the_nearest(work: Workspace) -> None:
    with raises(UnknownError, "unknown-key", "trokia") as error:
        settings_differences(work, "csp", "trokia")
    assert "the nearest is 'troika'" in str(error.value)
