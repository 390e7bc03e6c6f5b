"""The catalogue: its entries lead to what is there, and settings of papers' variants fit."""

from typing import get_args

import pytest

from recompose.errors import ParamsError
from recompose.fingerprint import path_of
from recompose.tracks import TRACKS
from recompose.tracks.czsl.catalogue import ADAPTERS, METHODS, DataSet
from recompose.tracks.czsl.params import Czsl
from tests.configuration import params_text, parse_params

SECTION = parse_params(params_text("paper")).tracks["czsl"]
VARIANTS = {name: variant for name, variant in TRACKS["czsl"].variants.items() if variant.method in METHODS}


@pytest.mark.parametrize("name", METHODS)
def test_settings_of_training_and_scoring_stand_in_sections_of_their_own(name: str) -> None:
    fields = METHODS[name].settings.model_fields
    assert ("training" in fields) == (name not in ("chance", "clip"))
    assert ("scoring" in fields) == (name in ("c-s-o", "troika", "msci", "duplex"))
    assert not fields.keys() & {"lr", "weight_decay", "batch_size", "accumulate", "epochs", "halve_every", "augment"}


def test_an_adapter_is_named_as_its_settings_say() -> None:
    branches = get_args(get_args(DataSet)[0])
    named = {name: branch for branch in branches for name in get_args(branch.model_fields["adapter"].annotation)}
    assert named == {name: adapter.settings for name, adapter in ADAPTERS.items()}
    assert all("def read(" in path_of(adapter.module).read_text() for adapter in ADAPTERS.values())


@pytest.mark.parametrize("dataset", ["shapes-pairs", "mit-states", "ut-zappos", "cgqa"])
@pytest.mark.parametrize("method", ["c-s-o", "troika", "msci", "duplex"])
def test_an_epoch_is_chosen_by_the_fusion_of_the_test_and_by_released_weights(method: str, dataset: str) -> None:
    assert isinstance(SECTION, Czsl)
    settings = SECTION.settings(method, dataset).document()
    selection, scoring = settings["training"]["selection"], settings["scoring"]
    assert selection["fusion"] == scoring["fusion"]
    # MSCI at 04cea14 selects with all weights at 1 and tests with others
    assert selection["weights"] == ([1.0, 1.0] if method == "msci" else scoring["closed"])


def test_methods_that_were_released_in_full_precision_train_in_it_everywhere() -> None:
    assert isinstance(SECTION, Czsl)
    for dataset in ("mit-states", "ut-zappos", "cgqa"):
        for method in METHODS:
            precision = SECTION.settings(method, dataset).document().get("training", {}).get("precision")
            assert precision == ("32-true" if method in ("troika", "msci") else None)


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_fits_and_one_that_evaluates_changes_scoring_alone(name: str) -> None:
    assert isinstance(SECTION, Czsl)
    variant = VARIANTS[name]
    for dataset in variant.datasets:
        settings = SECTION.settings(variant.method, dataset, variant.settings).document()
        if variant.reuse_runs_of:
            assert variant.settings.keys() <= {"scoring"}
        elif "scoring" in settings:
            changed = variant.settings.get("scoring", {})
            selection = settings["training"]["selection"]
            assert "closed" not in changed or selection["weights"] == changed["closed"]
            assert selection["fusion"] == settings["scoring"]["fusion"]


def test_heads_that_begin_at_zero_have_to_end_linear() -> None:
    assert isinstance(SECTION, Czsl)
    with pytest.raises(ParamsError) as caught:
        SECTION.settings("troika", "shapes-pairs", {"disentangler_start": "residual-zero"}).document()
    assert "disentangler_end" in str(caught.value)
    changed = {"disentangler_start": "residual-zero", "disentangler_end": "linear"}
    assert SECTION.settings("troika", "shapes-pairs", changed).document()["disentangler_start"] == "residual-zero"
