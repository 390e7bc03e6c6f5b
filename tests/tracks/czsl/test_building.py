"""The building of a method, its feasibility, and the vectors that figures show."""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from recompose.backbones.clip import Backbone
from recompose.tracks.czsl import evaluation
from recompose.tracks.czsl.building import backbone_copy, build_method, prepare_method
from recompose.tracks.czsl.data.glove import ARCHIVE, MEMBER
from recompose.tracks.czsl.data.pairs import PairData
from recompose.tracks.czsl.evaluation import read_feasibility
from recompose.tracks.czsl.methods.base import TrainingPrior
from recompose.tracks.czsl.methods.clip_coop_csp import CSP
from recompose.tracks.czsl.methods.settings import CspSettings
from recompose.tracks.czsl.methods.three_path import CSO
from recompose.tracks.czsl.metrics.feasibility import feasibility
from tests.tracks.czsl.methods.derivations import method_of, random_images, settings_of
from tests.tracks.czsl.tiny import CPU, TowerTuningCSP, evaluation_document, run_document, write_inputs

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
    np.testing.assert_array_equal(evaluation.inputs[:], expected)
    assert run.data is evaluation.data


def test_each_method_has_a_backbone_of_its_own(needs: dict[str, Path], backbone: Backbone) -> None:
    tuned = prepare_method(run_document(TowerTuningCSP, OF_CSP), needs).method
    with torch.no_grad():
        tuned.backbone.model.text_projection.add_(1.0)
    other, copy = prepare_method(run_document(CSP, OF_CSP), needs).method.backbone, backbone_copy(needs["backbone"])
    for each in (other, copy):
        assert torch.equal(each.model.text_projection, backbone.model.text_projection)
    assert all(parameter.requires_grad for parameter in copy.parameters())


DATA = PairData(
    {
        "train": [("Wet.Fur", "dog"), ("dry", "cat"), ("dry", "dog")],
        "val": [("Wet.Fur", "cat")],
        "test": [("old", "cat")],  # training shows no old thing
    },
    [],
)


def feasibility_of(vectors: dict[str, np.ndarray]) -> list[float]:
    states, objects = (np.array([vectors[name] for name in names]) for names in (DATA.states, DATA.objects))
    return feasibility(states, objects, DATA.seen_matrix).ravel().tolist()


def test_feasibility_by_text_is_of_the_embeddings_of_prompts(backbone: Backbone, tmp_path: Path) -> None:
    needs = write_inputs(tmp_path, backbone, DATA, np.zeros((0, backbone.width), np.float32))
    names = {"Wet.Fur": "wet fur"} | {name: name for name in ("dry", "old", "cat", "dog")}
    with torch.no_grad():
        texts = backbone.model.encode_text(backbone.tokens([f"a photo of {name}" for name in names.values()])).double()
    expected = feasibility_of(dict(zip(names, texts.numpy(), strict=True)))
    section = {"vectors": "backbone", "prompt": "a photo of {name}"}
    assert read_feasibility(section, needs, CPU.device).ravel().tolist() == pytest.approx(expected, abs=1e-5)
    assert read_feasibility(None, needs, CPU.device) is None


def test_feasibility_by_glove_is_of_the_means_of_words(tmp_path: Path) -> None:
    words = ["wet", "fur", "dog", "dry", "cat", "old"]
    vectors = dict(zip(words, np.random.default_rng(0).normal(size=(6, 300)).round(4), strict=True))
    lines = (" ".join([word, *map(str, vector.tolist())]) + "\n" for word, vector in vectors.items())
    (tmp_path / MEMBER).write_text("".join(lines))
    (tmp_path / "archived").mkdir()
    with zipfile.ZipFile(tmp_path / "archived" / ARCHIVE, "w") as archive:
        archive.write(tmp_path / MEMBER, MEMBER)
    DATA.write(tmp_path / "index")
    expected = feasibility_of(vectors | {"Wet.Fur": (vectors["wet"] + vectors["fur"]) / 2})
    for place in (tmp_path / MEMBER, tmp_path, tmp_path / "archived"):  # a file, its folder, or that of its archive
        values = read_feasibility({"vectors": "glove"}, {"data": tmp_path / "index", "words": place}, CPU.device)
        assert values.ravel().tolist() == pytest.approx(expected, abs=1e-9)


class EmbeddingCSP(CSP):
    """A method with embeddings, which notes the mode in which it is called."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.calls: list[tuple[int, bool, bool]] = []

    def image_embeddings(self, inputs: Tensor) -> dict[str, Tensor]:
        self.calls.append((len(inputs), self.training, torch.is_grad_enabled()))
        return {"images": 2 * inputs, "halves": inputs.double()[:, ::2]}

    def pair_embeddings(self, pairs: Tensor) -> dict[str, Tensor]:
        return {"indices": pairs}


def test_embeddings_are_those_of_test_images_and_of_the_closed_world_s_pairs(
    backbone: Backbone, data: PairData, embeddings: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluation, "IMAGE_BLOCK", 2)
    settings = {"prompt": "a photo of {state} {object}", "dropout": 0.5}
    method = method_of(EmbeddingCSP, backbone, data.states, data.objects, **settings).train()
    vectors = evaluation.embeddings(method, data, embeddings, CPU.device)
    tested = torch.tensor(embeddings[[row for row, sample in enumerate(data.samples) if sample.split == "test"]])
    pairs = torch.tensor([[0, 0], [0, 1], [1, 0], [2, 0], [2, 1]])
    expected = {"images": 2 * tested, "halves": tested[:, ::2], "indices": pairs.float()}
    assert vectors.keys() == expected.keys()
    assert all(torch.equal(vectors[name], tensor) for name, tensor in expected.items())
    assert method.calls == [(2, False, False), (2, False, False), (1, False, False)]
