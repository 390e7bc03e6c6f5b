"""An evaluation: the scores in its files."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from recompose.tracks.building import CHECKPOINT, COSTS, EMBEDDINGS, SCORES
from recompose.tracks.czsl.data.pairs import PairData
from recompose.tracks.czsl.evaluation import evaluate
from recompose.tracks.czsl.methods.chance import Chance
from recompose.tracks.czsl.methods.duplex import Duplex
from recompose.tracks.czsl.methods.msci import MSCI
from recompose.tracks.czsl.methods.settings import ChanceSettings
from recompose.tracks.czsl.methods.three_path import CSO
from recompose.tracks.czsl.metrics import worlds
from recompose.tracks.czsl.metrics.worlds import score_worlds
from recompose.tracks.czsl.training import train
from tests.tracks.czsl.methods.derivations import SCORING, settings_of
from tests.tracks.czsl.tiny import CPU, evaluation_document, run_document

pytestmark = pytest.mark.slow

PROMPT = {"prompt": "a photo of {state} {object}"}
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


def evaluated(document: dict[str, Any], needs: dict[str, Path], folder: Path) -> dict[str, np.ndarray]:
    folder.mkdir()
    evaluate({folder: document}, needs, CPU, "t")
    tensors: dict[str, np.ndarray] = load_file(folder / SCORES)
    return tensors


def differing(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> set[str]:
    return {name for name in one if not np.array_equal(one[name], other[name])}


def test_chance_is_evaluated_by_its_seed(needs: dict[str, Path], data: PairData, tmp_path: Path) -> None:
    evaluated(evaluation_document(Chance, {}, seed=3), {"data": needs["data"]}, tmp_path / "evaluation")
    score_worlds(data, Chance(3, ChanceSettings()).score).write(tmp_path / "expected")
    assert (tmp_path / "evaluation" / SCORES).read_bytes() == (tmp_path / "expected").read_bytes()


def test_one_run_is_evaluated_with_other_settings_of_scores(needs: dict[str, Path], tmp_path: Path) -> None:
    own, run = settings_of("c-s-o"), tmp_path / "run"
    assert train(run_document(CSO, own | {"training": TRAINING}), needs, run, CPU, "t")
    before = (run / CHECKPOINT).read_bytes()

    def scores(name: str, **changed: Any) -> dict[str, np.ndarray]:
        document = evaluation_document(CSO, own | {"scoring": SCORING | changed})
        return evaluated(document, needs if name == "untrained" else needs | {"run": run}, tmp_path / name)

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


@pytest.mark.parametrize("pairs", [2, 4096])  # several blocks of pairs, and one
@pytest.mark.parametrize(("kind", "name"), [(MSCI, "msci"), (Duplex, "duplex")])
def test_several_scorings_encode_images_and_texts_once_and_score_as_each_alone_to_the_bit(
    needs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type, name: str, pairs: int
) -> None:
    monkeypatch.setattr(worlds, "PAIR_BLOCK", pairs)
    monkeypatch.setattr(worlds, "IMAGE_BLOCK", 3)
    documents = {
        tmp_path / str(place): evaluation_document(kind, settings_of(name) | {"scoring": scoring}, feasibility=BY_TEXT)
        for place, scoring in enumerate(SCORINGS[name])
    }
    saved = {EMBEDDINGS} if kind is Duplex else set()
    documents[tmp_path / "0"]["save"] = ["embeddings"] if saved else []
    calls = Counter[str]()
    for method in ("encode_images", "encode_texts", "attend"):
        monkeypatch.setattr(kind, method, counted(getattr(kind, method), calls))
    alone = {}
    for folder, document in documents.items():
        calls.clear()
        evaluated(document, needs, folder.with_name(f"{folder.name}-alone"))
        alone = dict(calls)  # of the last one, which saves nothing
        folder.mkdir()
    calls.clear()
    evaluate(documents, needs, CPU, "t")
    assert calls["encode_texts"] == alone["encode_texts"]
    assert calls["encode_images"] - alone["encode_images"] <= 2 * len(saved)  # of test images, by embeddings
    assert pairs < 100 or calls["attend"] == alone["attend"]
    for folder in documents:
        files = {SCORES} | (saved if folder.name == "0" else set())
        assert {path.name for path in folder.iterdir()} == files | {COSTS}
        for file in files:
            assert (folder / file).read_bytes() == (folder.with_name(f"{folder.name}-alone") / file).read_bytes(), file
        costs = json.loads((folder / COSTS).read_text())
        assert costs["pass_evaluations"] == 2
        assert 0 < costs["test_seconds"] < costs["pass_seconds"]
    assert len({(folder / SCORES).read_bytes() for folder in documents}) == 2


def counted(function: Any, calls: "Counter[str]") -> Any:
    """Return the same function, each call of which is counted under its name."""

    def counting(*args: Any, **kwargs: Any) -> Any:
        calls[function.__name__] += 1
        return function(*args, **kwargs)

    return counting
