"""Models of one's own: functions that load them, what is refused, and SigLIP and CoCa of open_clip."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import open_clip
import pytest
import torch
from safetensors.torch import save_file
from torch.nn.functional import normalize
from typer.testing import CliRunner

from recompose.backbones.clip import ARCHITECTURES
from recompose.data.pictures import Picture
from recompose.errors import BusyError, DataError
from recompose.harness import encoding
from recompose.harness import evaluate as harness
from recompose.harness.evaluate import evaluate
from recompose.harness.evaluation import EvaluationRequest
from recompose.harness.own_model import OwnModel, load_own_model
from recompose.main import app
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.sigmoid import Sigmoid
from recompose.tracks.vlc.suites.scores import FILE, read_scores
from recompose.tracks.vlc.suites.tasks import Classes, Task
from tests.errors import raises
from tests.precision import ROUNDING, cosine_error, default_dtype
from tests.tracks.vlc.data.formats.published import write_files
from tests.tracks.vlc.data.formats.test_formats import FILES
from tests.tracks.vlc.tiny_suites import captions, random_features, write_sugarcrepe

MODULE = """
import torch
from torchvision.transforms.functional import pil_to_tensor


class Mine:
    def __init__(self, seed):
        torch.manual_seed(int(seed))
        self.words = torch.nn.Embedding(200, 4)
        self.image = torch.nn.Linear(3, 4)

    def preprocess(self, image):
        return pil_to_tensor(image.convert("RGB").resize((8, 8))).float() / 255

    def tokenize(self, texts):
        ids = torch.zeros(len(texts), 60, dtype=torch.long)
        for row, text in zip(ids, texts):
            row[: len(text)] = torch.tensor([ord(letter) for letter in text])[:60]
        return ids

    def encode_image(self, pixels):
        return self.image(pixels.mean((2, 3)))

    def encode_text(self, ids):
        return self.words(ids).mean(1)


def load(seed="0"):
    return Mine(seed)


def as_mapping():
    mine = Mine(0)
    return {name: getattr(mine, name) for name in ("preprocess", "tokenize")} | {
        "encode_image": lambda pixels: mine.image(pixels.mean((2, 3))),
        "encode_text": lambda ids: mine.words(ids).mean(1),
    }


def no_text():
    return {name: value for name, value in as_mapping().items() if name != "encode_text"}


def wide():
    return as_mapping() | {"encode_text": lambda ids: torch.ones(len(ids), 5)}


def words():
    return as_mapping() | {"tokenize": lambda texts: texts}


def broken():
    return as_mapping() | {"encode_image": lambda pixels: pixels.nonsense}


def with_bias():
    return as_mapping() | {"logit_scale": 20.0, "logit_bias": -5.0}


def logarithm():
    return as_mapping() | {"logit_scale": torch.nn.Parameter(torch.tensor(4.6)), "logit_bias": -5.0}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a module of its own, whose name is that of no other test, and data."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / f"{module_of(tmp_path)}.py").write_text(MODULE)
    write_sugarcrepe(tmp_path / "data")
    yield tmp_path


def module_of(folder: Path) -> str:
    return "mine_" + "".join(letter for letter in folder.name if letter.isalnum())


def request(here: Path, function: str, **changes: Any) -> EvaluationRequest:
    model = f"{module_of(here)}:{function}"
    return replace(
        EvaluationRequest(model, None, ("sugarcrepe",), here / "data", here / "out", device="cpu"), **changes
    )


@default_dtype(torch.float64)
def test_a_function_of_ones_own_is_evaluated_as_by_hand(here: Path) -> None:
    arguments = ["evaluate", "--model", f"{module_of(here)}:load", "--weights", "3", "--suites", "sugarcrepe"]
    done = CliRunner().invoke(app, [*arguments, "--data", "data", "--out", "out", "--device", "cpu"])
    assert done.exit_code == 0, done.output
    model = load_own_model(f"{module_of(here)}:load", "3")
    items = json.loads((here / "data/sugarcrepe/add_att.json").read_text()).values()
    scores = []
    for item in items:
        image = Picture(f"images/coco/val2017/{item['filename']}").open(here / "data")
        pixels = normalize(model.encode_image(model.preprocess(image)[None]), dim=-1)[0]
        texts = model.encode_text(model.tokenizer([item["caption"], item["negative_caption"]]))
        scores.append((normalize(texts, dim=-1) @ pixels).tolist())
    assert read_scores(here / "out/scores.safetensors")["sugarcrepe/add_att"] == pytest.approx(
        np.array(scores),
        abs=cosine_error(texts.shape[1]),  # in 32 bits, of towers in 64
    )
    plain = evaluate(request(here, "load", out=here / "a")).rows
    assert evaluate(request(here, "as_mapping", out=here / "b")).rows == plain


HELPED = """
import json
from pathlib import Path
from types import SimpleNamespace
from {module} import Mine
import {module}_helper

class Helped(Mine):
    def preprocess(self, image):
        offset = json.loads(Path("offset.json").read_text())
        return {module}_helper.prepare(super().preprocess(image)) + offset

def load():
    return Helped(0)
"""


def scores_of(folder: Path) -> list[float]:
    return np.concatenate([array.ravel() for array in read_scores(folder / FILE).values()]).tolist()


def test_an_edit_of_what_a_model_imports_or_reads_gives_the_numbers_of_a_new_folder(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    module = module_of(here)
    (here / f"{module}_helped.py").write_text(HELPED.format(module=module))
    files = {here / f"{module}_helper.py": "def prepare(pixels): return {} - pixels", here / "offset.json": "{}"}

    def evaluate_edited(out: str, values: tuple[int, int]) -> list[float]:
        for (path, text), value in zip(files.items(), values, strict=True):
            path.write_text(text.format(value))
        for name in (f"{module}_helped", f"{module}_helper"):
            sys.modules.pop(name, None)
        evaluate(replace(request(here, ""), model=f"{module}_helped:load", out=here / out))
        return scores_of(here / out)

    first, edited, reread = ((1, 0), (2, 0), (2, 3))
    scores = [evaluate_edited("out", first), evaluate_edited("out", edited), evaluate_edited("out", reread)]
    assert scores[1:] == [evaluate_edited("edited", edited), evaluate_edited("reread", reread)]
    assert len({*map(tuple, scores)}) == 3


def test_a_killed_evaluation_of_ones_own_model_starts_anew(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def dying(*arguments: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as during, pytest.raises(KeyboardInterrupt):
        during.setattr(encoding.ArrayWriter, "append", dying)
        evaluate(request(here, "load"))
    for path in (here / "out/embeddings").glob("*.npy"):  # as if other code had written them
        rows = np.load(path, mmap_mode="r+")
        rows[:] = 7
    evaluate(request(here, "load"))
    evaluate(request(here, "load", out=here / "new"))
    assert scores_of(here / "out") == scores_of(here / "new")


def test_of_two_evaluations_into_one_folder_at_once_the_second_is_refused(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encode, refusals = harness.encode, list[BusyError]()

    def meanwhile(*arguments: Any, **options: Any) -> Any:
        with raises(BusyError, "busy", here / "out") as caught:
            evaluate(request(here, "load", weights="4"))
        refusals.append(caught.value)
        return encode(*arguments, **options)

    evaluate(request(here, "load", weights="3", out=here / "alone"))
    with monkeypatch.context() as during:
        during.setattr(harness, "encode", meanwhile)
        evaluate(request(here, "load", weights="3"))
    assert len(refusals) == 1 and "\n" not in str(refusals[0])
    assert scores_of(here / "out") == scores_of(here / "alone")
    assert json.loads((here / "out/results.json").read_text())["weights"]["name"] == "3"


def test_results_that_would_be_lost_are_not_replaced_and_suites_are_added(here: Path) -> None:
    write_files(here / "data", FILES["sick"])
    before = {row.name: row.value for row in evaluate(request(here, "load", weights="3")).rows}
    files = {path: path.read_bytes() for path in (here / "out").rglob("*") if path.is_file()}
    for changes, code, word in (
        ({"weights": "4"}, "other-model", "weights"),
        ({"precision": "bf16"}, "other-model", "precision"),
        ({"suites": ("sick",)}, "other-suites", "sugarcrepe"),
    ):
        with raises(DataError, code, here / "out/results.json") as caught:
            evaluate(request(here, "load", **{"weights": "3", **changes}))
        assert word in str(caught.value)
        assert {path: path.read_bytes() for path in (here / "out").rglob("*") if path.is_file()} == files
    (here / "damaged").mkdir()
    (here / "damaged/results.json").write_text('{"model": ')
    with raises(DataError, "damaged-result", here / "damaged/results.json"):
        evaluate(request(here, "load", weights="3", out=here / "damaged"))
    assert (here / "damaged/results.json").read_text() == '{"model": '
    added = evaluate(request(here, "load", weights="3", suites=("sugarcrepe", "sick"))).rows
    after = {row.name: row.value for row in added}
    assert after["sugarcrepe"] == before["sugarcrepe"] and "sick" in after


@pytest.mark.parametrize(
    ("function", "code", "place"),
    [
        ("no_text", "missing-part", "encode_text"),
        ("wide", "wrong-part", "encode_text"),
        ("words", "wrong-part", "tokenize"),
        ("broken", "failing-model", "encode_image"),
        ("lod", "unknown-model", "lod"),
        ("logarithm", "wrong-part", "logit_scale"),
        ("", "unknown-model", ":"),
    ],
)
def test_what_is_wrong_is_found_before_any_work(here: Path, function: str, code: str, place: str) -> None:
    with raises(DataError, code, place) as caught:
        evaluate(request(here, function))
    assert "\n" not in str(caught.value) and not (here / "out").exists()


def test_modules_that_are_absent_or_broken_and_options_of_others_are_named(here: Path) -> None:
    (here / "needs_more.py").write_text("import a_package_that_nobody_has\n")
    (here / "wrong_syntax.py").write_text("def (\n")
    codes = {"mine_nowhere": "unknown-model", "needs_more": "failing-model", "wrong_syntax": "failing-model"}
    for module, code in codes.items():
        with raises(DataError, code, module):
            load_own_model(f"{module}:load", None)
    for changes, code in (({"alpha": 0.5}, "unused-option"), ({"model": "ViT-B-32"}, "no-weights")):
        with raises(DataError, code, "--"):
            evaluate(request(here, "load", **changes))


def test_a_bias_of_ones_own_gives_a_sigmoid(here: Path) -> None:
    assert load_own_model(f"{module_of(here)}:with_bias", None).sigmoid == Sigmoid(20.0, -5.0)
    assert load_own_model(f"{module_of(here)}:load", None).sigmoid is None
    assert isinstance(load_own_model(f"{module_of(here)}:load", None), OwnModel)


TEXT = {"context_length": 24, "vocab_size": 49408, "width": 32, "heads": 2, "layers": 1}
VISION = {"image_size": 32, "layers": 1, "width": 32, "patch_size": 16, "head_width": 16}
CONFIGS = {  # open_clip takes SigLIP's own tokenizer, which is downloaded, for names with "siglip" in them
    "tiny-sigmoid": {
        "embed_dim": 16,
        "init_logit_scale": 2.0,
        "init_logit_bias": -3.0,
        "custom_text": True,
        "vision_cfg": VISION,
        "text_cfg": {**TEXT, "no_causal_mask": True, "pool_type": "last"},
    },
    "tiny-coca": {
        "embed_dim": 16,
        "custom_text": True,
        "vision_cfg": {**VISION, "attentional_pool": True, "attn_pooler_heads": 2, "output_tokens": True},
        "text_cfg": {**TEXT, "embed_cls": True, "output_tokens": True},
        "multimodal_cfg": {**TEXT, "attn_pooler_heads": 2},
    },
}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with random weights of the configurations."""
    folder = tmp_path_factory.mktemp("models")
    for name, config in CONFIGS.items():
        (folder / f"{name}.json").write_text(json.dumps(config))
    open_clip.add_model_config(ARCHITECTURES)
    open_clip.add_model_config(folder)
    for name in CONFIGS:
        torch.manual_seed(7)
        state = open_clip.create_model(name).state_dict()
        save_file({key: tensor.clone().contiguous() for key, tensor in state.items()}, folder / f"{name}.safetensors")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", [*CONFIGS])
@default_dtype(torch.float64)
@torch.no_grad()
def test_siglip_and_coca_of_open_clip_score_as_by_hand(name: str, models: Path, tmp_path: Path) -> None:
    write_sugarcrepe(tmp_path / "data")
    weights = str(models / f"{name}.safetensors")
    asked = EvaluationRequest(name, weights, ("sugarcrepe",), tmp_path / "data", tmp_path / "out", device="cpu")
    evaluate(asked)
    model, _, preprocess = open_clip.create_model_and_transforms(name, pretrained=weights)
    model.eval()
    tokenizer = open_clip.get_tokenizer(name)
    items = json.loads((tmp_path / "data/sugarcrepe/swap_att.json").read_text()).values()
    scores = []
    for item in items:
        image = Picture(f"images/coco/val2017/{item['filename']}").open(tmp_path / "data")
        pixels: Any = preprocess
        embedded = model.encode_image(pixels(image)[None], normalize=True)[0]
        texts = model.encode_text(tokenizer([item["caption"], item["negative_caption"]]), normalize=True)
        scores.append((texts @ embedded).tolist())
    assert read_scores(tmp_path / "out/scores.safetensors")["sugarcrepe/swap_att"] == pytest.approx(
        np.array(scores), abs=cosine_error(texts.shape[1])
    )
    results = json.loads((tmp_path / "out/results.json").read_text())
    if name == "tiny-sigmoid":
        assert results["sigmoid"] == {"scale": pytest.approx(np.exp(2.0), rel=ROUNDING), "bias": -3.0}
    else:
        assert results["sigmoid"] is None


def test_a_sigmoid_ranks_images_of_several_classes_by_its_probabilities() -> None:
    prompts, labels = ((0, 1), (2,), (3, 4, 5)), np.eye(3, dtype=bool)[np.arange(8) % 3]
    tasks: dict[str, Task] = {
        "elevater/voc2007classification": Classes(np.arange(8), labels, prompts, ("a", "b", "c")),
        "elevater/mnist": Classes(np.arange(8), np.arange(8) % 3, prompts, ("a", "b", "c")),
    }
    suite = Suite("elevater", tuple(Picture(f"{number}.png") for number in range(8)), captions(6), tasks)
    given = random_features(suite)
    features = replace(given, images=given.images.astype(float), texts=given.texts.astype(float))
    encoded: Any = SimpleNamespace(features=lambda _: features)
    scores = harness._scores(suite, encoded, Sigmoid(7.0, -3.0))
    for row, image in enumerate(features.images):
        for column, texts in enumerate(prompts):
            mean = features.texts[[*texts]].mean(axis=0)
            logit = 7 * (image @ mean) / np.linalg.norm(mean) - 3
            probability = scores["elevater/voc2007classification"][row, column]
            assert probability == pytest.approx(1 / (1 + np.exp(-logit)), rel=ROUNDING)
    assert scores["elevater/mnist"].sum(axis=1) == pytest.approx(1, abs=4 * ROUNDING)
