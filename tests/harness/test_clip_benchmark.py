"""Results in CLIP_benchmark's form: each number is under its name, in documents that its own command collects."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from recompose.cli import app

METRICS = {
    "test/sugarcrepe": 0.5,
    "test/sugarcrepe/swap_obj": 0.25,
    "test/comvg": 0.75,
    "test/comvg/verb": 0.5,
    "test/winoground": 0.1,
    "test/winoground/text": 0.3,
    "test/winoground/image": 0.2,
    "test/coco/i2t": 0.4,
    **{f"test/coco/{way}/r{k}": k / 10 + (way == "t2i") / 100 for way in ("i2t", "t2i") for k in (1, 5, 10)},
    "test/elevater/cifar10": 0.9,
    "test/elevater/caltech101": 0.8,
    "test/elevater/hateful-memes": 0.6,
    "test/sick": 0.45,
    "test/sick/pearson": 0.46,
}
SCORED = ("sugarcrepe/swap_obj", "sugarcrepe/add_obj", "comvg", "comvg/verb", "winoground", "coco/i2t", "coco/t2i")
ITEMS = (*SCORED, "elevater/cifar10", "elevater/caltech101", "elevater/hateful-memes", "sick")


@pytest.fixture
def result(tmp_path: Path) -> Path:
    document = {
        "model": "ViT-B-32",
        "weights": {"name": "../weights of/me.pt"},
        "suites": ["sugarcrepe"],
        "metrics": METRICS,
        "items": {name: {"items": 4, "left_out": 0} for name in ITEMS},
    }
    (tmp_path / "results.json").write_text(json.dumps(document))
    return tmp_path


def test_its_command_can_make_a_table_of_them(result: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["clip-benchmark", str(result), str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    documents = {row["dataset"]: row for row in map(json.loads, map(Path.read_text, (tmp_path / "out").glob("*.json")))}
    # what `clip_benchmark build` makes a row of (LAION-AI/CLIP_benchmark at 48de38c, main_build)
    about = {"dataset", "model", "pretrained", "task", "metrics", "language"}
    assert all(row.keys() == about and not about & row["metrics"].keys() for row in documents.values())
    assert {(row["model"], row["language"]) for row in documents.values()} == {("ViT-B-32", "en")}
    assert {name: row["metrics"] for name, row in documents.items()} == {
        "sugar_crepe/swap_obj": {"acc": 0.25, "text_acc": 0.25},
        "comvg": {"acc": 0.75, "image_acc": 0.75},
        "comvg/verb": {"acc": 0.5, "image_acc": 0.5},
        "winoground": {"acc": 0.1, "text_acc": 0.3, "image_acc": 0.2},
        "mscoco_captions": {
            **{f"text_retrieval_recall@{k}": k / 10 for k in (1, 5, 10)},
            **{f"image_retrieval_recall@{k}": k / 10 + 0.01 for k in (1, 5, 10)},
        },
        "elevater/cifar10": {"acc1": 0.9},
        "elevater/caltech101": {"mean_per_class_recall": 0.8},
        "elevater/hateful-memes": {"roc_auc": 0.6},
        "sick": {"spearman": 0.45, "pearson": 0.46},
    }
    tasks = {name: row["task"] for name, row in documents.items()}
    assert tasks["winoground"] == "image_caption_selection" and tasks["mscoco_captions"] == "zeroshot_retrieval"
    assert tasks["elevater/cifar10"] == "zeroshot_classification"
