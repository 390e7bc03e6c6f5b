"""Drawn corpora: read back as NegCLIP's list is, with a parser's view of captions, and negatives made of them."""

import ast
import csv
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from recompose.tracks.vlc.data import shapes_captions
from recompose.tracks.vlc.data.captions import read_docs
from recompose.tracks.vlc.data.shapes_captions import CORPORA

pytestmark = pytest.mark.slow

IMAGES = 240


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpora")
    for corpus in CORPORA:
        shapes_captions.draw(folder / corpus, seed=2, corpus=corpus, images=IMAGES)
    return folder


def table(folder: Path) -> list[dict[str, str]]:
    with (folder / "train_neg_clip.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


@pytest.mark.parametrize("corpus", CORPORA)
def test_what_is_drawn_is_read(root: Path, corpus: str) -> None:
    read = shapes_captions.read(root / corpus)
    assert len(read.paths) == len(read.captions) == len(set(read.paths)) == IMAGES
    assert all((root / corpus / path).is_file() for path in read.paths)
    assert [doc.text for doc in read_docs(root / corpus)] == list(read.captions)


def test_the_list_is_as_fsc_clips_loader_takes_it(root: Path) -> None:
    rows = table(root / "shapes-coco")
    negatives_of = [ast.literal_eval(row["neg_caption"]) for row in rows]
    assert all(row["filepath"].startswith("coco/train2014/") for row in rows)
    assert sum(map(bool, negatives_of)) > IMAGES // 3
    for row, false in zip(rows, negatives_of, strict=True):
        assert row["title"] not in false
        words = sorted(row["title"].replace("an ", "a ").split())
        assert all(sorted(text.replace("an ", "a ").split()) == words for text in false)


def digests(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_another_process_draws_the_same_bytes_and_another_seed_others(tmp_path: Path) -> None:
    drawn = "shapes_captions.draw(pathlib.Path(sys.argv[1]), seed=4, corpus='shapes-laion', images=30)"
    script = f"import sys, pathlib; from recompose.tracks.vlc.data import shapes_captions; {drawn}"
    environment = os.environ | {"PYTHONHASHSEED": "77", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "same")], env=environment, check=True)
    shapes_captions.draw(tmp_path / "own", seed=4, corpus="shapes-laion", images=30)
    assert digests(tmp_path / "same") == digests(tmp_path / "own")
    shapes_captions.draw(tmp_path / "other", seed=5, corpus="shapes-laion", images=30)
    own, other = (set(digests(tmp_path / name / "images").values()) for name in ("own", "other"))
    assert not own & other
