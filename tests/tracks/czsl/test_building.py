"""The building of a method, its feasibility, and evaluations: the scores in their files, and vectors for figures."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file
from torch import Tensor

from recompose.backbones.clip import Backbone
from recompose.tracks.building import CHECKPOINT, COSTS, EMBEDDINGS, SCORES
from recompose.tracks.czsl import evaluation
from recompose.tracks.czsl.building import backbone_copy, build_method, prepare_method
from recompose.tracks.czsl.data.glove import ARCHIVE, MEMBER
from recompose.tracks.czsl.data.pairs import PairData
from recompose.tracks.czsl.evaluation import evaluate, read_feasibility
from recompose.tracks.czsl.methods.base import TrainingPrior
from recompose.tracks.czsl.methods.chance import Chance
from recompose.tracks.czsl.methods.clip_coop_csp import CSP
from recompose.tracks.czsl.methods.duplex.model import Duplex
from recompose.tracks.czsl.methods.msci import MSCI
from recompose.tracks.czsl.methods.settings import ChanceSettings, CspSettings
from recompose.tracks.czsl.methods.three_path import CSO
from recompose.tracks.czsl.metrics import worlds
from recompose.tracks.czsl.metrics.feasibility import feasibility
from recompose.tracks.czsl.metrics.worlds import score_worlds
from recompose.tracks.czsl.training import train
from tests.calls import watch
from tests.tracks.czsl.methods.derivations import SCORING, method_of, settings_of
from tests.tracks.czsl.tiny import TowerTuningCSP, write_inputs
from tests.tracks.documents import document, recipe_of
from tests.tracks.vlc.data.published import pack
from tests.training.small import CPU

pytestmark = pytest.mark.usefixtures("in_64_bits")

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


def test_each_method_has_a_backbone_of_its_own(needs: dict[str, Path], backbone: Backbone) -> None:
    tuned = prepare_method(document(TowerTuningCSP, OF_CSP), needs).method
    with torch.no_grad():
        tuned.backbone.model.text_projection.add_(1.0)
    other, copy = prepare_method(document(CSP, OF_CSP), needs).method.backbone, backbone_copy(needs["backbone"])
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
    assert read_feasibility(section, needs, CPU.device).ravel().tolist() == pytest.approx(expected, abs=1e-9)
    assert read_feasibility(None, needs, CPU.device) is None


def test_feasibility_by_glove_is_of_the_means_of_words(tmp_path: Path) -> None:
    words = ["wet", "fur", "dog", "dry", "cat", "old"]
    vectors = dict(zip(words, np.random.default_rng(0).normal(size=(6, 300)).round(4), strict=True))
    lines = (" ".join([word, *map(str, vector.tolist())]) + "\n" for word, vector in vectors.items())
    (tmp_path / MEMBER).write_text("".join(lines))
    pack(tmp_path / "archived" / ARCHIVE, {MEMBER: (tmp_path / MEMBER).read_bytes()})
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


# evaluations


TRAINING = {
    "lr": 1e-2,
    "weight_decay": 1e-5,
    "batch_size": 4,
    "accumulate": 1,
    "epochs": 1,
    "halve_every": 10,
    "augment": False,
    "selection": {"fusion": "probabilities", "weights": [0.5, 0.5]},
}
BY_TEXT = {"vectors": "backbone", "prompt": "a photo of {name}"}


def evaluated(scored: dict[str, Any], needs: dict[str, Path], folder: Path) -> dict[str, np.ndarray]:
    folder.mkdir()
    evaluate({folder: recipe_of(scored)}, needs)
    tensors: dict[str, np.ndarray] = load_file(folder / SCORES)
    return tensors


def differing(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> set[str]:
    return {name for name in one if not np.array_equal(one[name], other[name])}


@pytest.mark.slow
def test_chance_is_evaluated_by_its_seed(needs: dict[str, Path], data: PairData, tmp_path: Path) -> None:
    evaluated(document(Chance, {}, seed=3), {"data": needs["data"]}, tmp_path / "evaluation")
    score_worlds(data, Chance(3, ChanceSettings()).score).write(tmp_path / "expected")
    assert (tmp_path / "evaluation" / SCORES).read_bytes() == (tmp_path / "expected").read_bytes()


@pytest.mark.slow
def test_one_run_is_evaluated_with_other_settings_of_scores(needs: dict[str, Path], tmp_path: Path) -> None:
    own, run = settings_of("c-s-o"), tmp_path / "run"
    assert train(recipe_of(document(CSO, own | {"training": TRAINING})), needs, run)
    before = (run / CHECKPOINT).read_bytes()

    def scores(name: str, **changed: Any) -> dict[str, np.ndarray]:
        scored = document(CSO, own | {"scoring": SCORING | changed})
        return evaluated(scored, needs if name == "untrained" else needs | {"run": run}, tmp_path / name)

    plain = scores("plain")
    closed = differing(plain, scores("closed", closed=[0.0, 1.0]))
    assert "test/closed/seen_score" in closed and not [name for name in closed if "/open/" in name]
    for name, changed in (("logits", {"fusion": "logits"}), ("untrained", {})):
        assert "test/open/seen_score" in differing(plain, scores(name, **changed))
    assert (run / CHECKPOINT).read_bytes() == before


SCORINGS: dict[str, list[dict[str, Any]]] = {
    "msci": [
        {"fusion": "logits", "closed": [0.1, 0.81], "open": [0.3, 0.49]},
        {"fusion": "probabilities", "closed": [0.1, 0.9], "open": [0.3, 0.7]},
    ],
    "duplex": [
        {"fusion": "probabilities", "closed": [1.0, 1.0, 1.0], "open": [1.0, 1.0, 1.0]},
        {"fusion": "logits", "closed": [0.0, 1.0, 0.0], "open": [1.0, 0.0, 0.0]},
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [2, 4096])  # several blocks of pairs, and one
@pytest.mark.parametrize(("kind", "name"), [(MSCI, "msci"), (Duplex, "duplex")])
def test_several_scorings_encode_images_and_texts_once_and_score_as_each_alone_to_the_bit(
    needs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type, name: str, pairs: int
) -> None:
    monkeypatch.setattr(worlds, "PAIR_BLOCK", pairs)
    monkeypatch.setattr(worlds, "IMAGE_BLOCK", 3)
    documents = {
        tmp_path / str(place): document(kind, settings_of(name) | {"scoring": scoring}, feasibility=BY_TEXT)
        for place, scoring in enumerate(SCORINGS[name])
    }
    saved = {EMBEDDINGS} if kind is Duplex else set()
    documents[tmp_path / "0"]["save"] = ["embeddings"] if saved else []
    calls = Counter[str]()
    for method in ("encode_images", "encode_texts", "logits"):
        watch(monkeypatch, kind, method, lambda *_, called=method, **__: calls.update([called]))
    alone = {}
    for folder, scored in documents.items():
        calls.clear()
        evaluated(scored, needs, folder.with_name(f"{folder.name}-alone"))
        alone = dict(calls)  # of the last one, which saves nothing
        folder.mkdir()
    calls.clear()
    evaluate({folder: recipe_of(scored) for folder, scored in documents.items()}, needs)
    assert calls["encode_texts"] == alone["encode_texts"]
    assert calls["encode_images"] - alone["encode_images"] <= 2 * len(saved)  # of test images, by embeddings
    assert pairs < 100 or calls["logits"] == alone["logits"]
    for folder in documents:
        files = {SCORES} | (saved if folder.name == "0" else set())
        assert {path.name for path in folder.iterdir()} == files | {COSTS}
        for file in files:
            assert (folder / file).read_bytes() == (folder.with_name(f"{folder.name}-alone") / file).read_bytes(), file
        costs = json.loads((folder / COSTS).read_text())
        assert costs["pass_evaluations"] == 2
        assert 0 < costs["test_seconds"] < costs["pass_seconds"]
    assert len({(folder / SCORES).read_bytes() for folder in documents}) == 2
