"""An evaluation: what it scores, what it leaves, and what it does not import."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from recompose.backbones.clip import Backbone
from recompose.fingerprint import fingerprint
from recompose.tracks.building import COSTS, EMBEDDINGS, SCORES
from recompose.tracks.czsl.data.pairs import PairData
from recompose.tracks.czsl.evaluation import evaluate, evaluate_together
from recompose.tracks.czsl.methods.chance import Chance
from recompose.tracks.czsl.methods.clip_coop_csp import CLIP
from recompose.tracks.czsl.methods.duplex import Duplex
from recompose.tracks.czsl.methods.msci import MSCI
from recompose.tracks.czsl.methods.settings import ChanceSettings
from recompose.tracks.czsl.methods.three_path import CSO
from recompose.tracks.czsl.metric_values import read_metrics
from recompose.tracks.czsl.metrics import worlds
from recompose.tracks.czsl.metrics.worlds import PairScores, score_worlds
from recompose.tracks.czsl.training import train
from tests.tracks.czsl.methods.derivations import SCORING, random_images, settings_of
from tests.tracks.czsl.tiny import CPU, evaluation_document, run_document, write_inputs

pytestmark = pytest.mark.slow

PROMPT = {"prompt": "a photo of {state} {object}"}
TRAINING = {"lr": 1e-2, "weight_decay": 1e-5, "batch_size": 4, "accumulate": 1, "epochs": 1}
BY_TEXT = {"vectors": "backbone", "prompt": "a photo of {name}"}
OF_DUPLEX: dict[str, Any] = settings_of("c-s-o", loss_weights=[1.0] * 4) | {
    "target": "closed",
    "text_target": "seen",
    "initial": "means",
    "unseen_start": "sum",
    "codebook": "buffer",
    "refinement": "graph",
    "momentum": 0.9,
    "edges": "posteriors",
    "writes_from": "training",
    "differentiable": True,
}


@pytest.fixture(scope="module")
def needs(backbone: Backbone, data: PairData, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    embeddings = np.random.default_rng(1).normal(size=(len(data.samples), backbone.width)).astype(np.float32)
    pixels = random_images(len(data.samples)).numpy()
    return write_inputs(tmp_path_factory.mktemp("inputs"), backbone, data, embeddings, pixels)


def evaluated(document: dict[str, Any], needs: dict[str, Path], folder: Path) -> dict[str, np.ndarray]:
    folder.mkdir()
    evaluate(document, needs, folder, CPU, "t")
    tensors: dict[str, np.ndarray] = load_file(folder / SCORES)
    return tensors


def assert_same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> None:
    assert one.keys() == other.keys()
    for name, tensor in one.items():
        np.testing.assert_array_equal(tensor, other[name], err_msg=name, strict=True)


# a method without a backbone


def test_chance_is_evaluated_by_its_seed_and_imports_no_torch(
    needs: dict[str, Path], data: PairData, tmp_path: Path
) -> None:
    document = evaluation_document(Chance, {}, seed=3)
    (tmp_path / "evaluation").mkdir()
    code = f"""
import sys
from pathlib import Path
from recompose.tracks.czsl.evaluation import evaluate
from recompose.training.hardware import Hardware
hardware = Hardware(precision="32-true", accelerator="cpu", devices=1)
evaluate({document!r}, {{"data": Path({str(needs["data"])!r})}}, Path({str(tmp_path / "evaluation")!r}), hardware, "t")
sys.exit("torch" in sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    assert {path.name for path in (tmp_path / "evaluation").iterdir()} == {SCORES, COSTS}
    score_worlds(data, Chance(3, ChanceSettings()).score).write(tmp_path / "expected")
    assert (tmp_path / "evaluation" / SCORES).read_bytes() == (tmp_path / "expected").read_bytes()
    other = evaluated(evaluation_document(Chance, {}, seed=4), {"data": needs["data"]}, tmp_path / "other")
    scores = PairScores.read(tmp_path / "expected").bests["test", "open"].seen_score
    assert not np.array_equal(other["test/open/seen_score"], scores)


# a method that is not trained


def test_an_untrained_method_is_scored_in_all_worlds(needs: dict[str, Path], tmp_path: Path) -> None:
    scores = evaluated(evaluation_document(CLIP, PROMPT), needs, tmp_path / "plain")
    assert "feasibility" not in scores
    calibrated = evaluated(evaluation_document(CLIP, PROMPT, feasibility=BY_TEXT), needs, tmp_path / "calibrated")
    assert {"feasibility", "val/ladder/pair", "test/ladder/score"} < calibrated.keys()
    assert "test/feasible/threshold" in read_metrics(needs["data"], tmp_path / "calibrated")
    assert_same(scores, {name: calibrated[name] for name in scores})
    costs = json.loads((tmp_path / "plain" / COSTS).read_text())
    assert list(costs) == ["trainable_parameters", "test_seconds", "peak_memory_bytes"]
    assert costs["trainable_parameters"] == 0
    assert costs["test_seconds"] > 0
    assert {path.name for path in (tmp_path / "plain").iterdir()} == {SCORES, COSTS}


# a run


def test_one_run_is_evaluated_with_other_settings_of_scores(needs: dict[str, Path], tmp_path: Path) -> None:
    own = settings_of("c-s-o")
    training = (
        TRAINING
        | {"halve_every": 10, "augment": False}
        | {"selection": {"fusion": "probabilities", "weights": [0.5, 0.5]}}
    )
    assert train(run_document(CSO, own | {"training": training}), needs, tmp_path / "run", CPU, "t")
    before = (tmp_path / "run" / "checkpoint.safetensors").read_bytes()

    def of(name: str, **changed: Any) -> dict[str, np.ndarray]:
        document = evaluation_document(CSO, own | {"scoring": SCORING | changed})
        return evaluated(document, needs | {"run": tmp_path / "run"}, tmp_path / name)

    plain, again, closed, logits = (
        of("plain"),
        of("again"),
        of("closed", closed=[0.0, 1.0]),
        of("logits", fusion="logits"),
    )
    assert_same(plain, again)
    changed = {name for name in plain if not np.array_equal(plain[name], closed[name])}
    assert "test/closed/seen_score" in changed
    assert not {name for name in changed if "/open/" in name}
    assert not np.array_equal(plain["test/open/seen_score"], logits["test/open/seen_score"])
    assert (tmp_path / "run" / "checkpoint.safetensors").read_bytes() == before
    untrained = evaluated(evaluation_document(CSO, own | {"scoring": SCORING}), needs, tmp_path / "untrained")
    assert not np.array_equal(plain["test/open/seen_score"], untrained["test/open/seen_score"])


SCORINGS: dict[str, list[dict[str, Any]]] = {
    "msci": [
        {"fusion": "logits", "closed": [0.1, 0.81], "open": [0.3, 0.49]},
        {"fusion": "probabilities", "closed": [0.1, 0.9], "open": [0.3, 0.7]},
        {"fusion": "logits", "closed": [1.0, 0.0], "open": [1.0, 0.0]},
    ],
    "duplex": [
        {"fusion": "probabilities", "closed": [1.0, 1.0, 1.0], "open": [1.0, 1.0, 1.0]},
        {"fusion": "probabilities", "closed": [0.0, 1.0, 0.5], "open": [0.2, 0.0, 1.0]},
        {"fusion": "logits", "closed": [0.0, 1.0, 0.0], "open": [1.0, 0.0, 0.0]},
    ],
}


@pytest.mark.parametrize("pairs", [2, 4096])  # several blocks of pairs, and one
@pytest.mark.parametrize(("kind", "name", "own"), [(MSCI, "msci", settings_of("msci")), (Duplex, "duplex", OF_DUPLEX)])
def test_several_scorings_encode_images_and_texts_once_and_score_as_each_alone_to_the_bit(
    needs: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: type,
    name: str,
    own: dict[str, Any],
    pairs: int,
) -> None:
    monkeypatch.setattr(worlds, "PAIR_BLOCK", pairs)
    monkeypatch.setattr(worlds, "IMAGE_BLOCK", 3)
    documents = {
        tmp_path / str(place): evaluation_document(kind, own | {"scoring": scoring}, feasibility=BY_TEXT)
        for place, scoring in enumerate(SCORINGS[name])
    }
    first = tmp_path / "0"
    documents[first]["save"] = ["embeddings"] if kind is Duplex else []
    for folder, document in documents.items():
        evaluated(document, needs, folder.with_name(f"{folder.name}-alone"))
        folder.mkdir()
    counts = Counter[str]()
    for method in ("encode_images", "encode_texts", "attend"):
        monkeypatch.setattr(kind, method, counted(getattr(kind, method), counts))
    evaluate_together({tmp_path / "0": documents[first] | {"save": []}}, needs, CPU, "t")
    alone, _ = dict(counts), counts.clear()
    evaluate_together(documents, needs, CPU, "t")
    blocks_shown = 2 if kind is Duplex else 0  # of test images, by embeddings
    assert counts["encode_texts"] == alone["encode_texts"]
    assert counts["encode_images"] - alone["encode_images"] <= blocks_shown
    if pairs > 100:
        assert counts["attend"] == alone["attend"]
    for folder in documents:
        other = folder.with_name(f"{folder.name}-alone")
        assert {path.name for path in folder.iterdir()} == {path.name for path in other.iterdir()}
        for file in {path.name for path in folder.iterdir()} - {COSTS}:
            assert (folder / file).read_bytes() == (other / file).read_bytes(), file
        costs = json.loads((folder / COSTS).read_text())
        assert costs["pass_evaluations"] == 3
        assert 0 < costs["test_seconds"] < costs["pass_seconds"]
    assert len({(folder / SCORES).read_bytes() for folder in documents}) == 3


def counted(function: Any, counts: "Counter[str]") -> Any:
    """The same function, each call of which is counted under its name."""

    def counting(*args: Any, **kwargs: Any) -> Any:
        counts[function.__name__] += 1
        return function(*args, **kwargs)

    return counting


def test_embeddings_are_kept_where_they_are_asked_for(
    needs: dict[str, Path], data: PairData, backbone: Backbone, tmp_path: Path
) -> None:
    scoring = {"fusion": "probabilities", "closed": [1.0, 1.0, 1.0], "open": [1.0, 1.0, 1.0]}
    document = evaluation_document(Duplex, OF_DUPLEX | {"scoring": scoring}, save=("embeddings",))
    evaluated(document, needs, tmp_path / "evaluation")
    actual = load_file(tmp_path / "evaluation" / EMBEDDINGS)
    assert actual["images"].shape == (len(data.rows("test")), backbone.width)
    assert actual["visual"].shape == (len(data.pairs), backbone.width)


# what makes runs and evaluations stale


def reached(*modules: str) -> set[str]:
    return {name.removeprefix("recompose.") for name in fingerprint(f"recompose.{module}" for module in modules)}


def test_modules_that_only_measure_make_neither_runs_nor_evaluations_stale() -> None:
    metric_code = {
        "tracks.czsl.metric_values",
        *(f"tracks.czsl.metrics.{name}" for name in ("czsl", "groups", "thresholds")),
    }
    assert not metric_code & reached("tracks.czsl.training", "tracks.czsl.evaluation")
    assert metric_code <= reached("tracks.czsl.metric_values")


def test_modules_that_only_score_make_no_run_stale() -> None:
    scoring = {"tracks.czsl.evaluation", "tracks.czsl.scoring", "tracks.czsl.data.glove"}
    scoring |= {f"tracks.czsl.metrics.{name}" for name in ("worlds", "feasibility", "top")}
    assert not scoring & reached("tracks.czsl.training")
    assert scoring <= reached("tracks.czsl.evaluation")
    assert not reached("tracks.czsl.evaluation") & {"tracks.czsl.training", "training.loop", "training.augmentation"}


def test_the_core_makes_neither_runs_nor_evaluations_stale() -> None:
    core = {"plan", "store", "workspace", "phases", "params", "tracks.czsl.catalogue"}
    everything = reached("tracks.czsl.training", "tracks.czsl.evaluation", "tracks.czsl.metric_values")
    assert not {name for name in everything if name in core or name.startswith(("params.", "papers"))}
