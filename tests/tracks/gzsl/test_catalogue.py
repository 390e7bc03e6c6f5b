"""The catalogue: its entries lead to what is there, and params.yaml says of papers' data sets what was printed or
released.
"""

from typing import Any, get_args

import pytest

from recompose.errors import ParamsError
from recompose.tracks.gzsl.catalogue import ADAPTERS, METHODS, DataSet
from recompose.tracks.gzsl.params import Gzsl
from tests.configuration import params_text, parse_params
from tests.errors import raises

PUBLIC = ("cub", "sun", "awa2")


@pytest.fixture(scope="module")
def section() -> Gzsl:
    tracks = parse_params(params_text("paper")).tracks
    assert isinstance(tracks["gzsl"], Gzsl)
    return tracks["gzsl"]


@pytest.mark.parametrize("name", METHODS)
def test_settings_of_training_and_scoring_stand_in_sections_of_their_own(name: str) -> None:
    fields = METHODS[name].settings.model_fields
    assert {"training", "scoring", "per_dataset"} <= fields.keys()
    assert not {"training", "scoring", "per_dataset"} & METHODS[name].settings_class.model_fields.keys()
    assert not fields.keys() & {"lr", "weight_decay", "batch_size", "epochs", "selection", "bias", "optimizer"}


def test_an_adapter_is_named_as_its_settings_say() -> None:
    branches = get_args(get_args(DataSet)[0])
    named = {name: branch for branch in branches for name in get_args(branch.model_fields["adapter"].annotation)}
    assert named == {name: adapter.settings for name, adapter in ADAPTERS.items()}


def chosen(section: Gzsl, method: str, dataset: str, *names: str) -> Any:
    value: Any = section.settings(method, dataset).document()
    for name in names:
        value = value[name]
    return value


@pytest.mark.parametrize("method", ["transzero", "transzero-pp", "crest"])
def test_transformers_on_papers_data_are_as_large_as_released(section: Gzsl, method: str) -> None:
    names = ("hidden", "feed_forward", "dropout", "self_attention", "normalise_words")
    sizes = {
        dataset: tuple(chosen(section, method, dataset, "grounding", name) for name in names) for dataset in PUBLIC
    }
    assert sizes == {
        "cub": (300, 512, 0.4, True, False),
        "sun": (128, 2048, 0.3, False, False),
        "awa2": (300, 512, 0.5, True, True),
    }


def test_crest_is_weighed_and_trained_as_printed(section: Gzsl) -> None:
    for dataset, agt_weight in zip(PUBLIC, (0.1, 0.4, 0.4), strict=True):  # 1 less TransZero++'s weight of VGT
        assert chosen(section, "crest", dataset, "agt_weight") == pytest.approx(agt_weight)
        training = chosen(section, "crest", dataset, "training")
        assert (training["optimizer"], training["lr"], training["weight_decay"]) == ("adam", 1e-4, 1e-4)
        assert training["batch_size"] == 64
        assert chosen(section, "crest", dataset, "calibration", "weight") == 0.2
        assert chosen(section, "crest", dataset, "evidence", "weight") == 0.001


@pytest.mark.parametrize("method", ["dazle", "transzero", "transzero-pp", "crest"])
@pytest.mark.parametrize("dataset", [*PUBLIC, "shapes-classes"])
def test_the_bias_of_the_test_is_that_of_self_calibration(section: Gzsl, method: str, dataset: str) -> None:
    bias = {"signed": 2.0, "unseen": 1.0}[chosen(section, method, dataset, "calibration", "mask")]
    assert chosen(section, method, dataset, "scoring", "bias") == bias


def test_no_epoch_is_chosen_by_the_test_unless_asked_for(section: Gzsl) -> None:
    for method in METHODS:
        for dataset in (*PUBLIC, "shapes-classes"):
            assert chosen(section, method, dataset, "training", "selection") == "validation"


def test_crest_without_both_transformers_is_a_mistake(section: Gzsl) -> None:
    without = {"components": {"vgt": False, "agt": False}}
    with raises(ParamsError):
        section.settings("crest", "cub", without).document()
    assert section.settings("crest", "cub", {"components": {"agt": False}}).document()["components"]["vgt"]
