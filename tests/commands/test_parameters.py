"""The values in use, and where each comes from."""

from pathlib import Path

import pytest

from recompose.commands.parameters import values_in_use
from recompose.errors import ParamsError
from recompose.workspace import Workspace
from tests.configuration import write_params
from tests.errors import raises

LR, EPOCHS = "czsl.methods.csp.training.lr", "czsl.methods.csp.training.epochs"


def line_of(path: Path, text: str) -> str:
    number = next(number for number, line in enumerate(path.read_text().splitlines(), 1) if text in line)
    return f"params.yaml:{number}"


@pytest.fixture
def params_file(tmp_path: Path) -> Path:
    mine = {"based_on": "smoke", "czsl": {"seeds": [7]}, "override": {EPOCHS: 9}}
    return write_params(tmp_path, "demo", {"profiles.mine": mine})


def values(path: Path, keys: str, *edits: str) -> dict[str, tuple[object, str]]:
    work = Workspace(path.parent, edits)
    listed = values_in_use(work.load("mine"), keys)
    return {name: (value, origin) for name, value, origin in listed}


def test_values_come_from_the_method_the_override_or_the_edit(params_file: Path) -> None:
    listed = values(params_file, "czsl.methods.csp", f"{LR}=0.25")
    assert listed[EPOCHS] == (9, line_of(params_file, f'"{EPOCHS}": 9'))
    assert listed[LR] == (0.25, f"--edit {LR}=0.25")
    assert listed["czsl.methods.csp.training.precision"] == (None, "default")
    weight_decay = listed["czsl.methods.csp.training.weight_decay"]
    section = params_file.read_text().splitlines()
    assert '"weight_decay"' in section[int(weight_decay[1].partition(":")[2]) - 1]


def test_values_of_a_profile_come_from_the_one_that_has_them(params_file: Path) -> None:
    listed = values(params_file, "profiles.mine.czsl")
    assert listed["profiles.mine.czsl.seeds"][1].startswith("params.yaml:")
    seeds, inherited = (int(listed[f"profiles.mine.czsl.{key}"][1].partition(":")[2]) for key in ("seeds", "backbone"))
    mine = int(line_of(params_file, '"mine": {').partition(":")[2])
    assert inherited < mine < seeds


def test_a_key_that_does_not_exist_is_named_with_the_nearest_one(params_file: Path) -> None:
    with raises(ParamsError, "unknown-key", "czsl.methods.cps") as error:
        values(params_file, "czsl.methods.cps.training")
    assert "'csp'" in str(error.value)
