"""The building of a method: its prior knowledge, its seed, its inputs and its backbone."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from recompose.backbones.clip import Backbone
from recompose.tracks.building import TypedSettings
from recompose.tracks.czsl.building import backbone_copy, build_method, prepare_method, read_embeddings, read_images
from recompose.tracks.czsl.data.pairs import PairData
from recompose.tracks.czsl.methods.base import TrainingPrior
from recompose.tracks.czsl.methods.clip_coop_csp import CSP
from recompose.tracks.czsl.methods.settings import CsoSettings, CspSettings, ThreePathScoring
from recompose.tracks.czsl.methods.three_path import CSO
from tests.tracks.czsl.methods.derivations import SCORING, random_images, settings_of
from tests.tracks.czsl.tiny import TowerTuningCSP, evaluation_document, run_document

OF_CSP: dict[str, Any] = {"prompt": "a photo of {state} {object}", "dropout": 0.0}


class NotingMethod:
    """A method that notes its prior knowledge and draws random numbers."""

    def __init__(self, backbone: Backbone, states: list[str], objects: list[str], settings: CspSettings) -> None:
        self.names = states, objects
        self.random_numbers = float(torch.rand(())), float(np.random.rand())

    def prepare(self, prior: TrainingPrior) -> None:
        self.prior = prior


def test_a_method_knows_pairs_and_images_of_training_alone_and_draws_by_its_seed(
    backbone: Backbone, data: PairData, embeddings: np.ndarray
) -> None:
    rows = [row for row, sample in enumerate(data.samples) if sample.split == "train"]
    hidden = np.full_like(embeddings, np.nan)
    hidden[rows] = embeddings[rows]
    methods: Any = [
        build_method(NotingMethod, CspSettings(**OF_CSP), backbone, data, hidden, seed=seed) for seed in (3, 3, 4)
    ]
    states, objects = ["dry", "old", "wet"], ["cat", "dog"]
    assert methods[0].names == (states, objects)
    assert methods[0].random_numbers == methods[1].random_numbers
    assert not {*methods[0].random_numbers} & {*methods[2].random_numbers}
    prior = methods[0].prior
    assert prior.pairs.tolist() == [[0, 0], [0, 1], [1, 0], [2, 0], [2, 1]]
    assert prior.embeddings.tolist() == embeddings[rows].tolist()
    labels = [(data.samples[row].state, data.samples[row].object) for row in rows]
    assert prior.labels.tolist() == [[states.index(s), objects.index(o)] for s, o in labels]


@pytest.mark.parametrize(("kind", "own"), [(CSP, OF_CSP), (CSO, settings_of("c-s-o"))])
def test_a_run_and_an_evaluation_build_the_same_method_on_the_same_inputs(
    needs: dict[str, Path], embeddings: np.ndarray, kind: type, own: dict[str, Any]
) -> None:
    run = prepare_method(run_document(kind, own | {"training": {"lr": 1.0}}, seed=2), needs)
    evaluation = prepare_method(evaluation_document(kind, own | {"scoring": {"fusion": "logits"}}, seed=2), needs)
    states = run.method.state_dict(), evaluation.method.state_dict()
    assert states[0].keys() == states[1].keys()
    assert all(map(torch.equal, states[0].values(), states[1].values()))
    sees_pixels = kind is CSO
    expected = random_images(len(embeddings)).numpy() if sees_pixels else embeddings
    np.testing.assert_array_equal(run.inputs[:], expected)
    inputs = read_images(needs["pixels"]) if sees_pixels else read_embeddings(needs["features"])
    assert run.inputs is evaluation.inputs is inputs
    assert run.data is evaluation.data


def test_sections_of_a_document_have_the_classes_of_its_method() -> None:
    settings = TypedSettings(evaluation_document(CSO, settings_of("c-s-o") | {"scoring": SCORING}))
    assert (settings.own, settings.scoring) == (CsoSettings(**settings_of("c-s-o")), ThreePathScoring(**SCORING))
    assert TypedSettings(evaluation_document(CSP, OF_CSP)).scoring is None


def test_each_method_has_a_backbone_of_its_own(needs: dict[str, Path], backbone: Backbone) -> None:
    tuned = prepare_method(run_document(TowerTuningCSP, OF_CSP), needs).method
    with torch.no_grad():
        tuned.backbone.model.text_projection.add_(1.0)
    other, copy = prepare_method(run_document(CSP, OF_CSP), needs).method.backbone, backbone_copy(needs["backbone"])
    for each in (other, copy):
        assert torch.equal(each.model.text_projection, backbone.model.text_projection)
    assert all(parameter.requires_grad for parameter in copy.parameters())
