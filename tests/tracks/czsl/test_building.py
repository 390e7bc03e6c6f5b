"""How a method is built: of its own settings, on what it may know, with a backbone that nobody else holds."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from recompose.backbones.clip import Backbone
from recompose.tracks.building import TypedSettings
from recompose.tracks.czsl.building import (
    backbone_copy,
    build_method,
    prepare_method,
    read_embeddings,
    read_images,
)
from recompose.tracks.czsl.data.pairs import PairData
from recompose.tracks.czsl.methods.base import TrainingPrior
from recompose.tracks.czsl.methods.clip_coop_csp import CSP
from recompose.tracks.czsl.methods.settings import CsoSettings, CspSettings, ThreePathScoring, ThreePathTraining
from recompose.tracks.czsl.methods.three_path import CSO
from tests.tracks.czsl.methods.derivations import SCORING, random_images, settings_of
from tests.tracks.czsl.tiny import TowerTuningCSP, evaluation_document, run_document, write_inputs

OF_CSP: dict[str, Any] = {"prompt": "a photo of {state} {object}", "dropout": 0.0}


class NotingMethod:
    """A method that notes what it is given, and draws a number."""

    def __init__(self, backbone: Backbone, states: list[str], objects: list[str], settings: CspSettings) -> None:
        self.given = (backbone, states, objects, settings)
        self.random_numbers = float(torch.rand(())), float(np.random.rand())
        self.priors: list[TrainingPrior] = []

    def prepare(self, prior: TrainingPrior) -> None:
        self.priors.append(prior)


def noting(backbone: Backbone, data: PairData, embeddings: np.ndarray, seed: int = 3) -> Any:
    return build_method(NotingMethod, CspSettings(**OF_CSP), backbone, data, embeddings, seed=seed)


def test_a_method_is_built_of_its_own_settings(backbone: Backbone, data: PairData, embeddings: np.ndarray) -> None:
    actual = noting(backbone, data, embeddings)
    assert actual.given == (backbone, ["dry", "old", "wet"], ["cat", "dog"], CspSettings(**OF_CSP))


def test_a_method_may_know_pairs_and_images_of_training(
    backbone: Backbone, data: PairData, embeddings: np.ndarray
) -> None:
    rows = [row for row, sample in enumerate(data.samples) if sample.split == "train"]
    hidden = embeddings.copy()
    hidden[[row for row in range(len(hidden)) if row not in rows]] = np.nan
    (prior,) = noting(backbone, data, hidden).priors
    # dry cats and dogs, old cats, wet cats and dogs
    assert prior.pairs.tolist() == [[0, 0], [0, 1], [1, 0], [2, 0], [2, 1]]
    assert prior.embeddings.tolist() == [embeddings[row].tolist() for row in rows]
    labels = [(data.samples[row].state, data.samples[row].object) for row in rows]
    assert prior.labels.tolist() == [[["dry", "old", "wet"].index(s), ["cat", "dog"].index(o)] for s, o in labels]


def test_the_seed_determines_what_a_method_begins_with(
    backbone: Backbone, data: PairData, embeddings: np.ndarray
) -> None:
    torch.manual_seed(0)
    first = noting(backbone, data, embeddings).random_numbers
    torch.manual_seed(1)
    assert noting(backbone, data, embeddings).random_numbers == first
    other = noting(backbone, data, embeddings, seed=4).random_numbers
    assert other[0] != first[0]
    assert other[1] != first[1]


TRAINING: dict[str, Any] = {"lr": 0.1, "weight_decay": 0.0, "batch_size": 4, "accumulate": 1, "epochs": 1}


def test_sections_of_a_document_are_those_of_the_method_s_own_classes() -> None:
    selection = {"fusion": "logits", "weights": [1.0, 1.0]}
    training = TRAINING | {"halve_every": 2, "augment": True, "selection": selection}
    run = run_document(CSO, settings_of("c-s-o") | {"training": training})
    assert TypedSettings(run).own == CsoSettings(**settings_of("c-s-o"))
    assert TypedSettings(run).training == ThreePathTraining(**training)
    evaluation = evaluation_document(CSO, settings_of("c-s-o") | {"scoring": SCORING})
    assert TypedSettings(evaluation).scoring == ThreePathScoring(**SCORING)
    assert TypedSettings(evaluation_document(CSP, OF_CSP)).scoring is None


@pytest.fixture(scope="module")
def needs(
    backbone: Backbone, data: PairData, embeddings: np.ndarray, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    pixels = random_images(len(data.samples)).numpy()
    return write_inputs(tmp_path_factory.mktemp("inputs"), backbone, data, embeddings, pixels)


@pytest.mark.parametrize(("kind", "own", "sees"), [(CSP, OF_CSP, "embeddings"), (CSO, settings_of("c-s-o"), "pixels")])
def test_a_run_and_an_evaluation_build_the_same_method_on_what_it_sees(
    needs: dict[str, Path], embeddings: np.ndarray, kind: type, own: dict[str, Any], sees: Any
) -> None:
    one, other = (
        prepare_method(document, needs)
        for document in (
            run_document(kind, own | {"training": {"lr": 1.0}}, seed=2),
            evaluation_document(kind, own | {"scoring": {"fusion": "logits"}}, seed=2),
        )
    )
    assert type(one.method) is type(other.method) is kind
    states = one.method.state_dict(), other.method.state_dict()
    assert states[0].keys() == states[1].keys()
    assert all(map(torch.equal, states[0].values(), states[1].values()))
    expected = embeddings if sees == "embeddings" else random_images(len(embeddings)).numpy()
    np.testing.assert_array_equal(one.inputs[:], expected)
    read = read_embeddings(needs["features"]) if sees == "embeddings" else read_images(needs["pixels"])
    assert one.inputs is other.inputs is read
    assert one.data is other.data


def test_each_method_has_a_backbone_of_its_own(needs: dict[str, Path], backbone: Backbone) -> None:
    tuned = prepare_method(run_document(TowerTuningCSP, OF_CSP), needs).method
    with torch.no_grad():
        tuned.backbone.model.text_projection.add_(1.0)
    other, again = prepare_method(run_document(CSP, OF_CSP), needs).method.backbone, backbone_copy(needs["backbone"])
    assert other is not again
    for copy in (other, again):
        assert torch.equal(copy.model.text_projection, backbone.model.text_projection)
    assert all(parameter.requires_grad for parameter in again.parameters())
    assert not again.training
