"""Results in CLIP_benchmark's form: its own command collects them, and each number is under its name."""

import csv
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


def collect(folder: Path, output: Path) -> list[dict[str, str]]:
    """What `clip_benchmark build` does (LAION-AI/CLIP_benchmark at 48de38c, main_build), and its table read again."""
    rows, names = [], set()
    for path in sorted(folder.glob("*.json")):
        data = json.loads(path.read_text())
        row = {**data["metrics"], **data}
        del row["metrics"]
        row["model_fullname"] = row["model"] + " " + row["pretrained"]
        names |= {*row}
        rows.append(row)
    with output.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=sorted(names))
        writer.writeheader()
        writer.writerows(rows)
    with output.open(newline="") as file:
        return list(csv.DictReader(file))


def test_its_command_makes_a_table_of_them(result: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["clip-benchmark", str(result), str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    rows = {row["dataset"]: row for row in collect(tmp_path / "out", tmp_path / "benchmark.csv")}
    about = {"dataset", "model", "pretrained", "task", "language", "model_fullname"}
    assert {(row["model"], row["language"]) for row in rows.values()} == {("ViT-B-32", "en")}
    numbers = {
        name: {key: float(value) for key, value in row.items() if value and key not in about}
        for name, row in rows.items()
    }
    assert numbers == {
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
    tasks = {name: row["task"] for name, row in rows.items()}
    assert tasks["winoground"] == "image_caption_selection" and tasks["mscoco_captions"] == "zeroshot_retrieval"
    assert tasks["elevater/cifar10"] == "zeroshot_classification"
