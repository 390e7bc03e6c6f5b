"""How a method is restored, scored and shown, and which pairs are feasible, by the backbone's texts or by word
vectors.
"""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from recompose.backbones.clip import Backbone, load_backbone
from recompose.tracks.czsl import scoring
from recompose.tracks.czsl.building import build_method
from recompose.tracks.czsl.data.glove import ARCHIVE, MEMBER
from recompose.tracks.czsl.data.pairs import PairData
from recompose.tracks.czsl.methods.base import PairMethod
from recompose.tracks.czsl.methods.clip_coop_csp import CSP
from recompose.tracks.czsl.methods.msci import MSCI
from recompose.tracks.czsl.methods.settings import (
    PairTrainingSettings,
    ThreePathScoring,
)
from recompose.tracks.czsl.methods.three_path import CSO
from recompose.tracks.czsl.methods.troika import Troika
from recompose.tracks.czsl.methods.words import text_vectors
from recompose.tracks.czsl.metrics import worlds
from recompose.tracks.czsl.scoring import (
    feasibility_by_glove,
    feasibility_by_text,
    read_feasibility,
    score_method,
)
from recompose.tracks.czsl.training import PairTraining
from recompose.training.checkpoint import restore
from tests.tracks.czsl.methods.derivations import SCORING, method_of, new_method, random_images, settings_of, unsettle
from tests.tracks.czsl.tiny import CPU, write_inputs

DATA = PairData(
    {
        "train": [("Wet.Fur", "dog"), ("dry", "cat"), ("dry", "dog")],
        "val": [("Wet.Fur", "cat")],
        "test": [("old", "cat")],  # training shows no old thing
    },
    [],
)


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def by_hand(vectors: dict[str, np.ndarray]) -> dict[tuple[str, str], float]:
    """The mean of the nearest seen partner of the object and of the state; -1 for one that does not exist."""
    shown, actual = DATA.pairs_of["train"], {}
    for state, name in DATA.all_pairs:
        objects = [cosine(vectors[name], vectors[o]) for s, o in shown if s == state]
        states = [cosine(vectors[state], vectors[s]) for s, o in shown if o == name]
        actual[state, name] = (max(objects, default=-1.0) + max(states, default=-1.0)) / 2
    return actual


def test_text_vectors_are_the_tower_s_of_readable_names_in_the_prompt(backbone: Backbone) -> None:
    actual = text_vectors(backbone, ["Wet.Fur", "cat"], "a photo of {name}")
    with torch.no_grad():
        expected = backbone.model.encode_text(backbone.tokens(["a photo of wet fur", "a photo of cat"]))
    np.testing.assert_allclose(actual, expected.numpy(), rtol=0, atol=1e-5)


def test_feasibility_by_text_is_that_of_plain_loops(backbone: Backbone) -> None:
    actual = feasibility_by_text(DATA, backbone, "a photo of {name}", torch.device("cpu"))
    names = [*DATA.states, *DATA.objects]
    vectors = dict(zip(names, text_vectors(backbone, names, "a photo of {name}").astype(np.float64), strict=True))
    expected = by_hand(vectors)
    assert actual.ravel().tolist() == pytest.approx([expected[pair] for pair in DATA.all_pairs], abs=1e-6)


def test_feasibility_by_glove_is_that_of_plain_loops(tmp_path: Path) -> None:
    words = ["wet", "fur", "dog", "dry", "cat", "old"]
    vectors = dict(zip(words, np.random.default_rng(0).normal(size=(6, 300)).round(4), strict=True))
    lines = (" ".join([word, *map(str, vector.tolist())]) + "\n" for word, vector in vectors.items())
    (tmp_path / MEMBER).write_text("".join(lines))
    expected = by_hand(vectors | {"Wet.Fur": (vectors["wet"] + vectors["fur"]) / 2})
    actual = feasibility_by_glove(DATA, tmp_path / MEMBER)
    assert actual.ravel().tolist() == pytest.approx([expected[pair] for pair in DATA.all_pairs], abs=1e-9)
    assert actual[DATA.states.index("old"), 0] < actual[DATA.states.index("Wet.Fur"), 0]
    # as an evaluation reads it: from a file, or from the folder that it or its archive is in
    DATA.write(tmp_path / "index")
    for words in (tmp_path / MEMBER, tmp_path):
        needs = {"data": tmp_path / "index", "words": words}
        np.testing.assert_array_equal(read_feasibility({"vectors": "glove"}, needs, CPU.device), actual)
    (tmp_path / "archived").mkdir()
    with zipfile.ZipFile(tmp_path / "archived" / ARCHIVE, "w") as archive:
        archive.write(tmp_path / MEMBER, MEMBER)
    needs = {"data": tmp_path / "index", "words": tmp_path / "archived"}
    np.testing.assert_array_equal(read_feasibility({"vectors": "glove"}, needs, CPU.device), actual)


@pytest.mark.slow
def test_feasibility_by_text_is_read_with_pristine_towers(backbone: Backbone, tmp_path: Path) -> None:
    needs = write_inputs(tmp_path, backbone, DATA, np.zeros((0, backbone.width), np.float32))
    expected = feasibility_by_text(DATA, load_backbone(needs["backbone"]), "a photo of {name}", CPU.device)
    section = {"vectors": "backbone", "prompt": "a photo of {name}"}
    np.testing.assert_array_equal(read_feasibility(section, needs, CPU.device), expected)
    assert read_feasibility(None, needs, CPU.device) is None


# a method, trained and brought to a checkpoint


TRAINED: dict[str, Any] = {"lr": 1e-3, "weight_decay": 1e-5, "batch_size": 4, "accumulate": 1, "epochs": 1}
OF_CSP: dict[str, Any] = {"prompt": "a photo of {state} {object}", "dropout": 0.0}


@pytest.fixture(scope="module")
def pixels(data: PairData) -> np.ndarray:
    return random_images(len(data.samples)).numpy()


def scores_of(method: PairMethod, data: PairData, features: np.ndarray) -> Tensor:
    """Of all images and the pairs of the closed world."""
    with torch.no_grad():
        texts = method.eval().encode_texts([torch.from_numpy(data.indices(data.pairs))])
        (scores,) = method.scores(torch.from_numpy(features), texts, "closed")
    return scores


@pytest.mark.parametrize(("kind", "name"), [(CSO, "c-s-o"), (Troika, "troika"), (MSCI, "msci")])
def test_images_are_encoded_once_for_both_worlds(
    backbone: Backbone,
    data: PairData,
    pixels: np.ndarray,
    embeddings: np.ndarray,
    kind: type[PairMethod],
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings, scoring = kind.settings_class(**settings_of(name)), ThreePathScoring(**SCORING)
    method = build_method(kind, settings, backbone, data, embeddings, seed=0).set_scoring(scoring).eval()
    monkeypatch.setattr(worlds, "PAIR_BLOCK", 3)
    evaluation, expected = worlds.WorldEvaluation(data), []
    with torch.no_grad():
        texts = {
            world: method.encode_texts([torch.from_numpy(data.indices(pairs)) for pairs in blocks])
            for world, blocks in evaluation.pairs.items()
        }
        for block in evaluation.images():
            for world, of_world in texts.items():
                expected += list(method.scores(torch.from_numpy(pixels[block.rows]), of_world, world))
    seen: list[int] = []
    actual: list[Tensor] = []
    encode, update = method.encode_images, worlds.WorldEvaluation.update
    monkeypatch.setattr(method, "encode_images", lambda inputs: (seen.append(len(inputs)), encode(inputs))[1])

    def noted(self: Any, images: Any, world: str, block: int, scores: Tensor, position: int) -> None:
        actual.append(scores)
        update(self, images, world, block, scores, position)

    monkeypatch.setattr(worlds.WorldEvaluation, "update", noted)
    score_method(method, data, pixels, CPU.device, [scoring])
    assert sum(seen) == sum(len(data.rows(split)) for split in ("val", "test"))
    for one, other in zip(actual, expected, strict=True):
        assert torch.equal(one, other)
        assert not one.requires_grad


def checkpoint_of(method: PairMethod, data: PairData, path: Path) -> Path:
    """What training would keep of a method as it is."""
    save_file(PairTraining(method, data, PairTrainingSettings(**TRAINED)).trained_state(), path)
    return path


def test_a_method_of_other_settings_for_scores_alone_takes_a_checkpoint(
    backbone: Backbone, data: PairData, pixels: np.ndarray, tmp_path: Path
) -> None:
    whole, states = (
        new_method(CSO, backbone, data.states, data.objects, settings_of("c-s-o", closed=closed))
        for closed in ([0.5, 0.5], [0.0, 1.0])
    )
    unsettle(whole)
    restore(states, checkpoint_of(whole, data, tmp_path / "c"))
    of_whole, of_parts = (scores_of(method, data, pixels) for method in (whole, states))
    assert not torch.equal(of_whole, of_parts)
    torch.testing.assert_close(of_parts.sum(dim=1) < 1, torch.ones(len(pixels), dtype=torch.bool))
    assert all(torch.equal(tensor, whole.state_dict()[name]) for name, tensor in states.state_dict().items())


# embeddings


class EmbeddingCSP(CSP):
    """Shows some of what it sees, and notes how it was asked."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.asked: list[tuple[int, bool, bool]] = []

    def image_embeddings(self, inputs: Tensor) -> dict[str, Tensor]:
        self.asked.append((len(inputs), self.training, torch.is_grad_enabled()))
        return {"images": 2 * inputs, "halves": inputs.double()[:, ::2]}

    def pair_embeddings(self, pairs: Tensor) -> dict[str, Tensor]:
        return {"indices": pairs, "texts": self.encode_pairs(pairs).T.contiguous().T}


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
def test_embeddings_are_those_of_test_images_and_of_the_closed_world_s_pairs(
    backbone: Backbone,
    data: PairData,
    embeddings: np.ndarray,
    monkeypatch: pytest.MonkeyPatch,
    size: int,
) -> None:
    monkeypatch.setattr(scoring, "IMAGE_BLOCK", size)
    method = method_of(EmbeddingCSP, backbone, data.states, data.objects, **(OF_CSP | {"dropout": 0.5}))
    method.train()
    actual = scoring.embeddings(method, data, embeddings, CPU.device)
    tested = torch.tensor(embeddings[[row for row, sample in enumerate(data.samples) if sample.split == "test"]])
    pairs = torch.tensor([[0, 0], [0, 1], [1, 0], [2, 0], [2, 1]])
    expected = {
        "images": 2 * tested,
        "halves": tested[:, ::2],
        "indices": pairs.float(),
        "texts": method.eval().encode_pairs(pairs).detach(),
    }
    assert actual.keys() == expected.keys()
    for name, tensor in expected.items():
        torch.testing.assert_close(actual[name], tensor, atol=1e-6, rtol=1e-6)
    assert [count for count, _, _ in method.asked] == [min(size, 5 - start) for start in range(0, 5, size)]
    assert not any(training or learning for _, training, learning in method.asked)


def test_a_method_without_embeddings_says_so(backbone: Backbone, data: PairData, embeddings: np.ndarray) -> None:
    method = method_of(CSP, backbone, data.states, data.objects, **OF_CSP)
    with pytest.raises(NotImplementedError):
        scoring.embeddings(method, data, embeddings, CPU.device)
