"""Which pairs a run may answer: feasibility from the backbone's texts and from word vectors."""

from pathlib import Path

import numpy as np
import pytest
import torch

from recompose.backbones.clip import Backbone, build
from recompose.backbones.words import text_vectors
from recompose.data.glove import MEMBER
from recompose.data.pairs import PairData
from recompose.training.run import feasibility_by_glove, feasibility_by_text

DATA = PairData(
    {
        "train": [("Wet.Fur", "dog"), ("dry", "cat"), ("dry", "dog")],
        "val": [("Wet.Fur", "cat")],
        "test": [("old", "cat")],  # training shows no old thing
    },
    [],
)


@pytest.fixture(scope="module")
def backbone() -> Backbone:
    torch.manual_seed(0)
    return build("shapes-clip", "gelu").eval()


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def by_hand(vectors: dict[str, np.ndarray]) -> dict[tuple[str, str], float]:
    """The mean of the nearest seen partner of the object and of the state; -1 for one that does not exist."""
    shown, found = DATA.pairs_of["train"], {}
    for state, name in DATA.all_pairs:
        objects = [cosine(vectors[name], vectors[o]) for s, o in shown if s == state]
        states = [cosine(vectors[state], vectors[s]) for s, o in shown if o == name]
        found[state, name] = (max(objects, default=-1.0) + max(states, default=-1.0)) / 2
    return found


def test_text_vectors_are_the_tower_s_of_readable_names_in_the_prompt(backbone: Backbone) -> None:
    found = text_vectors(backbone, ["Wet.Fur", "cat"], "a photo of {name}")
    with torch.no_grad():
        expected = backbone.model.encode_text(backbone.tokens(["a photo of wet fur", "a photo of cat"]))
    np.testing.assert_allclose(found, expected.numpy(), rtol=0, atol=1e-5)


def test_feasibility_by_text_is_that_of_plain_loops(backbone: Backbone) -> None:
    found = feasibility_by_text(DATA, backbone, "a photo of {name}", torch.device("cpu"))
    names = [*DATA.states, *DATA.objects]
    vectors = dict(zip(names, text_vectors(backbone, names, "a photo of {name}").astype(np.float64), strict=True))
    expected = by_hand(vectors)
    assert found.ravel().tolist() == pytest.approx([expected[pair] for pair in DATA.all_pairs], abs=1e-6)


def test_feasibility_by_glove_is_that_of_plain_loops(tmp_path: Path) -> None:
    words = ["wet", "fur", "dog", "dry", "cat", "old"]
    drawn = dict(zip(words, np.random.default_rng(0).normal(size=(6, 300)).round(4), strict=True))
    lines = (" ".join([word, *map(str, vector.tolist())]) + "\n" for word, vector in drawn.items())
    (tmp_path / MEMBER).write_text("".join(lines))
    expected = by_hand(drawn | {"Wet.Fur": (drawn["wet"] + drawn["fur"]) / 2})
    found = feasibility_by_glove(DATA, tmp_path / MEMBER)
    assert found.ravel().tolist() == pytest.approx([expected[pair] for pair in DATA.all_pairs], abs=1e-9)
    assert found[DATA.states.index("old"), 0] < found[DATA.states.index("Wet.Fur"), 0]
