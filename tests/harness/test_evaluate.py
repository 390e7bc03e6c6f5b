"""Evaluating any CLIP on suites: weights and activations, what is absent, and the command from end to end."""

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import open_clip
import pytest
import torch
from safetensors.torch import save_file
from typer.testing import CliRunner

from recompose.backbones.clip import Backbone, build
from recompose.data.pictures import Picture
from recompose.errors import DataError
from recompose.harness import checkpoints
from recompose.harness.checkpoints import (
    ModelWeights,
    choose_activation,
    choose_preprocessing,
    find_weights,
    load_model,
)
from recompose.harness.evaluate import evaluate
from recompose.harness.evaluation import EvaluationRequest
from recompose.main import app
from recompose.tracks.vlc.data.formats.sugarcrepe import SETS
from recompose.tracks.vlc.suites.scores import read_scores
from tests.clips import random_clip
from tests.errors import raises
from tests.precision import assert_close
from tests.tracks.vlc.data.formats.published import pair, write_files, write_json
from tests.tracks.vlc.data.formats.test_formats import FILES
from tests.tracks.vlc.tiny import CLIP_FT, CONFIG, FULL, document
from tests.tracks.vlc.tiny_suites import plain_image, plain_text, write_sugarcrepe

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Backbone]:
    """A folder of raw files, a file of weights, and the model that they are of."""
    folder = tmp_path_factory.mktemp("world")
    write_sugarcrepe(folder / "data")
    clip = random_clip()
    save_file(clip.model.state_dict(), folder / "tiny.safetensors")
    return folder / "data", folder / "tiny.safetensors", clip


World = tuple[Path, Path, Backbone]


def request(world: World, out: Path, **changes: Any) -> EvaluationRequest:
    data, weights, _ = world
    return replace(EvaluationRequest("shapes-clip", str(weights), ("sugarcrepe",), data, out, device="cpu"), **changes)


def test_the_command_prints_a_table_and_leaves_its_numbers(world: World, tmp_path: Path) -> None:
    data, weights, clip = world
    arguments = ["evaluate", "--model", "shapes-clip", "--weights", str(weights), "--suites", "sugarcrepe, all"]
    done = CliRunner().invoke(app, [*arguments, "--data", str(data), "--out", str(tmp_path), "--device", "cpu"])
    assert done.exit_code == 0, done.output
    items = json.loads((data / "sugarcrepe" / "swap_obj.json").read_text()).values()
    right = []
    for item in items:
        image = plain_image(clip, data, Picture(f"images/coco/val2017/{item['filename']}"))
        own, other = (image @ plain_text(clip, item[field]) for field in ("caption", "negative_caption"))
        right.append(own > other)
    share = sum(right) / len(right)
    with (tmp_path / "scores.csv").open(newline="") as file:
        rows = {row["name"]: row for row in csv.DictReader(file)}
    assert next(iter(rows)) == "sugarcrepe"
    assert float(rows["sugarcrepe/swap_obj"]["value"]) == pytest.approx(share)
    assert (rows["sugarcrepe/swap_obj"]["items"], rows["sugarcrepe/swap_obj"]["left_out"]) == ("5", "0")
    results = json.loads((tmp_path / "results.json").read_text())
    assert results["metrics"]["test/sugarcrepe"] == pytest.approx(share)  # all of its sets are the same here
    assert results["activation"] == "gelu" and results["precision"] == "fp32"
    assert results["suites"] == ["sugarcrepe"] and {"winoground", "aro"} <= {*results["absent"]}
    lines = [line.split() for line in done.output.splitlines()]
    assert ["swap_obj", f"{100 * share:.2f}", "5"] in lines and ["sugarcrepe", f"{100 * share:.2f}"] in lines
    assert {*read_scores(tmp_path / "scores.safetensors")} == {f"sugarcrepe/{name}" for name in SETS}


def test_what_cannot_be_read_is_left_out_and_counted(world: World, tmp_path: Path) -> None:
    data = tmp_path / "data"
    write_sugarcrepe(data)
    broken = data / "images" / "coco" / "val2017" / f"{1:012d}.jpg"
    broken.write_bytes(b"no image")
    asked = request((data, *world[1:]), tmp_path / "out")
    with raises(DataError, "broken-image", "000000000001.jpg, item 1 (from 0)"):
        evaluate(asked)
    done = evaluate(replace(asked, skip_broken=True))
    rows = {row.name: row for row in done.rows}
    assert (rows["sugarcrepe/add_obj"].items, rows["sugarcrepe/add_obj"].left_out) == (3, 2)
    assert "1 image cannot be read; 14 items with them are left out" in done.notes
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert [each["path"] for each in results["broken"]] == ["images/coco/val2017/000000000001.jpg"]
    assert results["items"]["sugarcrepe/add_obj"] == {"items": 3, "left_out": 2}


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A folder with three complete suites, two incomplete ones and a hostile one."""
    root = tmp_path / "mixed"
    write_sugarcrepe(root)
    write_files(root, FILES["sick"] | FILES["sts_b"])
    (root / "crepe").mkdir()
    write_json(root / "colorswap/test.json", [pair(1, 1, "images/img_{}_{}.png")])
    write_files(root, {"winoground/examples.jsonl": [pair(4, 0, "ex_{}_img_{}", image_1="../../../etc/passwd")]})
    return root


def test_what_is_incomplete_or_hostile_does_not_stop_the_rest(world: World, mixed: Path, tmp_path: Path) -> None:
    arguments = ["evaluate", "--model", "shapes-clip", "--weights", str(world[1]), "--suites", "all", "--device", "cpu"]
    done = CliRunner().invoke(app, [*arguments, "--data", str(mixed), "--out", str(tmp_path / "out")])
    assert done.exit_code == 3, done.output
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert {*results["suites"]} == {"sugarcrepe", "sick", "sts_b"}
    assert {f"test/{name}" for name in results["suites"]} <= {*results["metrics"]}
    lines = results["left_out"]
    assert {*lines} == {"crepe", "winoground", "colorswap"}
    assert all("\n" not in line and line in done.stdout for line in lines.values())
    assert "is absent" in lines["crepe"] and "images are absent (2)" in lines["colorswap"]
    assert "outside of its folder" in lines["winoground"]
    strict = CliRunner().invoke(app, [*arguments, "--data", str(mixed), "--out", str(tmp_path / "strict"), "--strict"])
    assert isinstance(strict.exception, DataError) and strict.exception.code == "missing-image"
    assert not (tmp_path / "strict").exists()


def test_an_image_that_turns_out_to_be_unreadable_costs_its_suite_alone(
    world: World, mixed: Path, tmp_path: Path
) -> None:
    for side in (0, 1):
        broken = mixed / "images/colorswap" / pair(1, 1, "images/img_{}_{}.png")[f"image_{side + 1}"]
        broken.parent.mkdir(parents=True, exist_ok=True)
        broken.write_bytes(b"no image")
    asked = request((mixed, *world[1:]), tmp_path / "out", suites=("colorswap", "sick"))
    done = evaluate(asked)
    assert done.rows[0].name == "sick" and len(done.left_out) == 1
    assert "colorswap is broken" in done.left_out[0] and "item 0 (from 0) of colorswap" in done.left_out[0]
    with raises(DataError, "broken-image", "images/colorswap"):
        evaluate(replace(asked, strict=True))


def weights(name: str, trained: Any) -> ModelWeights:
    return ModelWeights(name, Path(name), "", trained)


def test_the_activation_is_that_of_training_unless_another_is_asked_for() -> None:
    assert choose_activation("ViT-B-32", weights("x", "quick_gelu"), "auto") == ("quick_gelu", None, ())
    assert choose_activation("ViT-B-32", weights("x", "gelu"), "gelu") == ("gelu", None, ())
    assert choose_activation("ViT-B-32", weights("negclip", None), "gelu") == ("gelu", None, ())
    assert choose_activation("ViT-B-32-quickgelu", weights("x", None), "auto")[0] == "quick_gelu"
    chosen, assumption, notes = choose_activation("ViT-B-32", weights("x", "quick_gelu"), "gelu")
    assert (chosen, assumption) == ("gelu", None) and "trained with quick_gelu and runs with gelu" in notes[0]


QUICK = ("negclip-from-laion2b.pt", "NegCLIP_epoch5.pt", "ce_clip.pt", "CE-CLIP.bin", "gnm_clip.pt", "b-32-openai.pt")


@pytest.mark.parametrize("name", [*QUICK, "spaceclip.pt", "my.pt"])
def test_what_the_name_of_a_file_alone_says_is_assumed_and_an_option_states_it(tmp_path: Path, name: str) -> None:
    assumed = "quick_gelu" if name in QUICK else "gelu"
    (tmp_path / name).write_bytes(b"weights")
    result = find_weights("ViT-B-32", str(tmp_path / name))
    assert result.trained_with is None
    chosen, assumption, _ = choose_activation("ViT-B-32", result, "auto")
    assert assumption and (chosen, assumption.value) == (assumed, assumed)
    assert (name in assumption.note) == (assumed == "quick_gelu")
    for tag, activation in (("laion2b_s34b_b79k", "gelu"), ("openai", "quick_gelu")):
        stated = find_weights("ViT-B-32", str(tmp_path / name), like=tag)
        assert choose_activation("ViT-B-32", stated, "auto") == (activation, None, ())


def test_the_preprocessing_is_that_of_most_tags_unless_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "my.pt"
    path.write_bytes(b"weights")
    half = {"mean": (0.5, 0.5, 0.5), "std": (0.5, 0.5, 0.5), "interpolation": "bicubic"}
    sigmoid, assumption = choose_preprocessing("ViT-B-16-SigLIP", find_weights("ViT-B-16-SigLIP", str(path)))
    assert sigmoid == half | {"resize_mode": "squash"} and assumption and "webli" in assumption.note
    usual, assumption = choose_preprocessing("ViT-L-14", find_weights("ViT-L-14", str(path)))
    assert usual["mean"] == open_clip.OPENAI_DATASET_MEAN and assumption and "--like" in assumption.note
    named = find_weights("ViT-L-14", str(path), like="laion2b_s32b_b82k")
    assert choose_preprocessing("ViT-L-14", named) == (half | {"resize_mode": "shortest"}, None)
    elsewhere = find_weights("ViT-S-32", str(path), like="ViT-L-14:laion2b_s32b_b82k")
    assert choose_preprocessing("ViT-S-32", elsewhere) == (half | {"resize_mode": "shortest"}, None)
    _, assumption = choose_preprocessing("ViT-S-32", find_weights("ViT-S-32", str(path)))
    assert assumption and "no tags" in assumption.note
    for option in ({"like": "openai"}, {"part": "ema"}):
        with raises(DataError, "unused-option", f"--{next(iter(option))}"):
            find_weights("ViT-B-32", "openai", **option)
    with raises(DataError, "unknown-weights", "opnai"):
        find_weights("ViT-B-32", str(path), like="opnai")


def test_what_is_assumed_is_a_note_and_a_field_of_the_results_unless_options_state_it(
    world: World, tmp_path: Path
) -> None:
    renamed = tmp_path / "negclip-from-laion2b.safetensors"
    renamed.symlink_to(world[1])
    asked = request(world, tmp_path / "guessed", weights=str(renamed))
    done = evaluate(asked)
    results = json.loads((tmp_path / "guessed" / "results.json").read_text())
    assert results["activation"] == "quick_gelu" and results["trained_with"] is None
    (assumed,) = results["assumed"]
    assert assumed["value"] == "quick_gelu" and renamed.name in assumed["reason"]
    assert any(renamed.name in note and "--activation" in note for note in done.notes)
    done = evaluate(replace(asked, out=tmp_path / "stated", activation="gelu"))
    results = json.loads((tmp_path / "stated" / "results.json").read_text())
    assert (results["activation"], results["assumed"], done.notes) == ("gelu", [], ())
    assert results["preprocessing"]["mean"] == pytest.approx(open_clip.OPENAI_DATASET_MEAN)


def test_a_tag_is_downloaded_by_open_clip_and_known_by_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "open_clip_model.safetensors"
    file.write_bytes(b"weights")
    asked: list[Any] = []
    monkeypatch.setattr(open_clip, "download_pretrained", lambda config: asked.append(config) or str(file))
    result = find_weights("ViT-B-32", "openai")
    assert (result.file, result.trained_with) == (file, "quick_gelu") and asked[0]["url"].endswith("ViT-B-32.pt")
    assert find_weights("ViT-B-32", "laion2b_s34b_b79k").trained_with == "gelu"
    with raises(DataError, "unknown-weights", "opnai") as error:
        find_weights("ViT-B-32", "opnai")
    assert "'openai'" in str(error.value)
    with raises(DataError, "no-run", tmp_path):
        find_weights("ViT-B-32", str(tmp_path))

    def failing(_: Any) -> None:
        raise OSError("no network")

    monkeypatch.setattr(open_clip, "download_pretrained", failing)
    with raises(DataError, "no-download", "openai"):
        find_weights("ViT-B-32", "openai")


def test_an_archive_that_openai_published_is_known_by_its_digest(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "any name.pt"
    clip = build("shapes-clip", "gelu").eval()
    clip.load_state_dict(world[2].state_dict())
    torch.jit.trace(clip.model.visual, torch.zeros(1, 3, 32, 32), check_trace=False).save(str(path))
    result = find_weights("shapes-clip", str(path))
    assert result.trained_with is None
    with raises(DataError, "weights-with-code", path):
        load_model("shapes-clip", result, "gelu")
    tag = open_clip.get_pretrained_cfg("ViT-B-32", "openai")
    monkeypatch.setattr(checkpoints, "_openai_tags", lambda: {result.sha256: tag})
    assert find_weights("shapes-clip", str(path)).trained_with == "quick_gelu"
    with raises(DataError, "other-architecture", path):  # it is read, and has the image tower alone
        load_model("shapes-clip", result, "gelu")
    monkeypatch.undo()
    digests = checkpoints._openai_tags()
    assert "40d365715913c9da98579312b702a82c18be219cc2a73407c4526f58eba950af" in digests  # of ViT-B-32


@pytest.mark.parametrize("activation", ["gelu", "quick_gelu"])
@pytest.mark.parametrize("quick", [True, False])
def test_a_model_runs_with_the_activation_that_is_asked_for_whatever_its_configuration_has(
    tmp_path: Path, activation: Any, quick: bool
) -> None:
    name, x = f"tiny-{quick}", torch.linspace(-3, 3, 7, dtype=torch.float64)
    config = {key: CONFIG[key] for key in CONFIG if key != "stem"} | {"quick_gelu": quick}
    save_file(random_clip(architecture=name, config=config).model.state_dict(), tmp_path / "weights.safetensors")
    towers: Any = load_model(name, find_weights(name, str(tmp_path / "weights.safetensors")), activation).model
    expected = {"gelu": torch.nn.functional.gelu(x), "quick_gelu": x * torch.sigmoid(1.702 * x)}[activation]
    for transformer in (towers.model.transformer, towers.model.visual.transformer):
        assert_close(transformer.resblocks[-1].mlp.gelu(x), expected)


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("ViT-B/32", "'ViT-B-32'"),
        ("ViT-L/14@336px", "'ViT-L-14-336'"),
        ("RN50x62", "'RN50x64'"),
        ("local-dir:nowhere", "nowhere/open_clip_config.json"),
        ("local-dir:broken", "local-dir:broken"),
        ("hf-hub:org/model", "hf-hub:org/model"),
    ],
)
def test_an_unknown_model_is_named_before_its_weights(
    name: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(*_: Any, **__: Any) -> Any:
        raise OSError("no network")

    monkeypatch.setattr("open_clip.pretrained.hf_hub_download", unreachable)
    monkeypatch.chdir(tmp_path)
    Path("my.pt").write_bytes(b"weights")
    Path("broken").mkdir()
    Path("broken/open_clip_config.json").write_text("{")
    for weights in ("openai", None, "my.pt"):
        with raises(DataError, "unknown-architecture", name) as caught:
            find_weights(name, weights)
        assert named in str(caught.value) and "\n" not in str(caught.value)


def test_a_model_in_a_folder_has_its_weights_and_preprocessing_there(world: World, tmp_path: Path) -> None:
    config = checkpoints.config_of("shapes-resnet")
    folder, mean = tmp_path / "my model", [0.1, 0.2, 0.3]
    folder.mkdir()
    write_json(folder / "open_clip_config.json", {"model_cfg": config, "preprocess_cfg": {"mean": mean}})
    model = f"local-dir:{folder}"
    with raises(DataError, "no-weights", folder):
        find_weights(model, None)
    save_file(open_clip.create_model(model).state_dict(), folder / "open_clip_model.safetensors")
    result = find_weights(model, None)
    assert choose_activation(model, result, "auto") == ("gelu", None, ())
    assert choose_preprocessing(model, result)[1] is None
    assert load_model(model, result, "gelu").preprocessing["mean"] == mean
    named = find_weights(model, str(folder / "open_clip_model.safetensors"))
    assert load_model(model, named, "gelu").preprocessing["mean"] == mean
    (folder / "open_clip_config.json").write_text('{"model_cfg": {"embed_dim": 8, "vision_cfg": {}, "text_cfg": 7}}')
    checkpoints.tokenizer_of.cache_clear()
    with raises(DataError, "unknown-architecture", model):
        load_model(model, named, "gelu")


def weights_of_run(run: dict[str, Any]) -> ModelWeights:
    return ModelWeights("the run", Path("checkpoint.safetensors"), "", "gelu", document=run)


@pytest.mark.parametrize(
    "changed",
    [
        {"class": "recompose.tracks.vlc.methods.gone.model:Gone"},
        {"class": "recompose.tracks.vlc.methods.clip_ft:ClipFt"},
        {"settings": {"tuning": "full"}},
        {"settings": FULL | {"momentum": 0.9}},
    ],
    ids=["no module", "no class", "without a setting", "another setting"],
)
def test_a_run_of_other_code_has_to_be_trained_again(changed: dict[str, Any]) -> None:
    with raises(DataError, "outdated-run", "checkpoint.safetensors"):
        load_model("tiny-clip", weights_of_run(document(CLIP_FT) | changed), "gelu")


def test_a_run_has_one_activation_and_a_file_no_share_of_training() -> None:
    with raises(DataError, "other-activation", "the run"):
        load_model("tiny-clip", weights_of_run(document(CLIP_FT)), "quick_gelu")
    with raises(DataError, "no-run", "--alpha"):
        load_model("tiny-clip", ModelWeights("w.pt", Path("w.pt"), "", "gelu"), "gelu", alpha=0.5)
