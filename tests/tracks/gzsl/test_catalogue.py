"""The catalogue and params.yaml: each adapter has its settings, and each choice that a paper's numbers need."""

import pytest

from recompose.errors import ParamsError
from recompose.tracks.gzsl.catalogue import ADAPTERS, METHODS
from recompose.tracks.gzsl.params import Gzsl
from tests.configuration import params_text, parse_params
from tests.errors import raises

SECTION = parse_params(params_text("paper")).tracks["gzsl"]
assert isinstance(SECTION, Gzsl)


@pytest.mark.parametrize("method", METHODS)
def test_the_bias_of_the_test_is_that_of_self_calibration_and_validation_chooses(method: str) -> None:
    for dataset in ADAPTERS:
        settings = SECTION.settings(method, dataset).document()
        assert settings["training"]["selection"] == "validation"
        if "calibration" in settings:
            bias = {"signed": 2.0, "unseen": 1.0}[settings["calibration"]["mask"]]
            assert settings["scoring"]["bias"] == bias


def test_crest_without_both_transformers_is_a_mistake() -> None:
    with raises(ParamsError):
        SECTION.settings("crest", "cub", {"components": {"vgt": False, "agt": False}}).document()
    assert SECTION.settings("crest", "cub", {"components": {"agt": False}}).document()["components"]["vgt"]
