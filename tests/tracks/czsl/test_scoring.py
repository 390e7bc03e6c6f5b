"""Feasibility by texts and by word vectors against plain loops, and the vectors that figures show."""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from recompose.backbones.clip import Backbone
from recompose.tracks.czsl import scoring
from recompose.tracks.czsl.data.glove import ARCHIVE, MEMBER
from recompose.tracks.czsl.data.pairs import PairData
from recompose.tracks.czsl.methods.clip_coop_csp import CSP
from recompose.tracks.czsl.scoring import read_feasibility
from tests.tracks.czsl.methods.derivations import method_of
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


def plain_feasibility(vectors: dict[str, np.ndarray]) -> list[float]:
    """The mean of the nearest seen partner of the object and of the state; -1 for one that does not exist."""
    shown, values = DATA.pairs_of["train"], []
    for state, name in DATA.all_pairs:
        objects = [cosine(vectors[name], vectors[o]) for s, o in shown if s == state]
        states = [cosine(vectors[state], vectors[s]) for s, o in shown if o == name]
        values.append((max(objects, default=-1.0) + max(states, default=-1.0)) / 2)
    return values


def test_feasibility_by_text_is_that_of_plain_loops(backbone: Backbone, tmp_path: Path) -> None:
    needs = write_inputs(tmp_path, backbone, DATA, np.zeros((0, backbone.width), np.float32))
    names = {"Wet.Fur": "wet fur"} | {name: name for name in ("dry", "old", "cat", "dog")}
    with torch.no_grad():
        texts = backbone.model.encode_text(backbone.tokens([f"a photo of {name}" for name in names.values()])).double()
    expected = plain_feasibility(dict(zip(names, texts.numpy(), strict=True)))
    section = {"vectors": "backbone", "prompt": "a photo of {name}"}
    assert read_feasibility(section, needs, CPU.device).ravel().tolist() == pytest.approx(expected, abs=1e-5)
    assert read_feasibility(None, needs, CPU.device) is None


def test_feasibility_by_glove_is_that_of_plain_loops(tmp_path: Path) -> None:
    words = ["wet", "fur", "dog", "dry", "cat", "old"]
    vectors = dict(zip(words, np.random.default_rng(0).normal(size=(6, 300)).round(4), strict=True))
    lines = (" ".join([word, *map(str, vector.tolist())]) + "\n" for word, vector in vectors.items())
    (tmp_path / MEMBER).write_text("".join(lines))
    (tmp_path / "archived").mkdir()
    with zipfile.ZipFile(tmp_path / "archived" / ARCHIVE, "w") as archive:
        archive.write(tmp_path / MEMBER, MEMBER)
    DATA.write(tmp_path / "index")
    expected = plain_feasibility(vectors | {"Wet.Fur": (vectors["wet"] + vectors["fur"]) / 2})
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
    monkeypatch.setattr(scoring, "IMAGE_BLOCK", 2)
    settings = {"prompt": "a photo of {state} {object}", "dropout": 0.5}
    method = method_of(EmbeddingCSP, backbone, data.states, data.objects, **settings).train()
    vectors = scoring.embeddings(method, data, embeddings, CPU.device)
    tested = torch.tensor(embeddings[[row for row, sample in enumerate(data.samples) if sample.split == "test"]])
    pairs = torch.tensor([[0, 0], [0, 1], [1, 0], [2, 0], [2, 1]])
    expected = {"images": 2 * tested, "halves": tested[:, ::2], "indices": pairs.float()}
    assert vectors.keys() == expected.keys()
    assert all(torch.equal(vectors[name], tensor) for name, tensor in expected.items())
    assert method.calls == [(2, False, False), (2, False, False), (1, False, False)]
