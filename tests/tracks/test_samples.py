"""Synthetic data sets are drawn from their seed alone, and their pictures for the page as they are."""

import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from PIL import Image

from recompose.tracks import TRACKS
from recompose.tracks.czsl.data import shapes_pairs
from recompose.tracks.czsl.samples import draw_pair
from recompose.tracks.measuring import function
from recompose.tracks.vlc.data import negclip_list, shapes_captions
from tests.conftest import ROOT
from tests.tracks.vlc.data.published import contents

DOCUMENTS: dict[str, dict[str, Any]] = {
    "czsl": {"adapter": "shapes-pairs", "seed": 7},
    "gzsl": {"adapter": "shapes-classes", "seed": 7},
    "vlc": {"adapter": "shapes-captions", "seed": 21, "corpus": "shapes-laion"},
}


@pytest.mark.parametrize("track", DOCUMENTS)
def test_three_labelled_pictures_of_drawn_data_and_none_of_published(track: str) -> None:
    samples = TRACKS[track].samples
    drawn = list(samples(DOCUMENTS[track]))
    assert len(drawn) == 3
    assert all(label and picture.getextrema() for picture, label in drawn)
    assert list(samples({"adapter": "published"})) == []


def test_a_pair_is_drawn_as_in_the_data_set(tmp_path: Path) -> None:
    shapes_pairs._draw(tmp_path / "a.png", ("rusty", "ring"), Random(3))
    with Image.open(tmp_path / "a.png") as expected:
        assert expected.tobytes() == draw_pair(("rusty", "ring"), Random(3)).tobytes()


def test_a_caption_is_that_of_the_first_image(tmp_path: Path) -> None:
    shapes_captions.draw(tmp_path, seed=21, corpus="shapes-laion", images=1)
    (path,) = tmp_path.rglob("*.png")
    picture, label = next(TRACKS["vlc"].samples(DOCUMENTS["vlc"]))
    with Image.open(path) as expected:
        assert expected.tobytes() == picture.tobytes()
    assert label in (tmp_path / negclip_list.LIST).read_text(encoding="utf-8")


DRAWN: dict[str, dict[str, Any]] = {  # what draws, and what a small draw is asked for
    "tracks.czsl.data.shapes_pairs:draw": {"images": {"train": 60, "val": 20, "test": 20}},
    "tracks.gzsl.data.shapes_classes:draw": {"images": {"trainval": 120, "test_seen": 60, "test_unseen": 40}},
    "tracks.vlc.data.shapes_captions:draw": {"images": 30, "corpus": "shapes-laion"},
    "synthetic.scenes:write_corpus": {"scenes": 30},
}


def draw_everything(folder: Path, seed: int) -> None:
    for place, values in DRAWN.items():
        function(f"recompose.{place}")(folder / place, seed=seed, **values)


@pytest.mark.slow
def test_another_process_draws_the_same_bytes_and_another_seed_other_pictures(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib, time; time.asctime = lambda *_: 'another time'; import tests.tracks.test_samples as m; "
        "m.draw_everything(pathlib.Path(sys.argv[1]), 4)"
    )
    environment = os.environ | {"PYTHONHASHSEED": "77"}
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "same")], env=environment, cwd=ROOT, check=True)
    for name, seed in (("own", 4), ("other", 5)):
        draw_everything(tmp_path / name, seed)
    own, same, other = (contents(tmp_path / name) for name in ("own", "same", "other"))
    assert own == same
    for place in DRAWN:
        pictures = [
            {files[path] for path in files if path.startswith(place) and path.endswith((".png", ".tar"))}
            for files in (own, other)
        ]
        assert pictures[0] and not pictures[0] & pictures[1]
