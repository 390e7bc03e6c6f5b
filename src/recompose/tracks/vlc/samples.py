"""Pictures of a synthetic corpus with their captions, for people who ask what it looks like."""

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from PIL import Image

from recompose.synthetic.sentences import caption, draw_captioned_scene
from recompose.tracks.vlc.data.shapes_captions import CORPORA

COUNT = 3


def samples(document: Mapping[str, Any]) -> Iterator[tuple[Image.Image, str]]:
    """Yield the first pictures of a corpus [32 x 32], by its recipe's document, each with its caption."""
    if document["adapter"] != "shapes-captions":
        return
    corpus = document["corpus"]
    for number in range(COUNT):
        rng = Random(f"{corpus}/{document['seed']}/{number}")
        picture, _, statement, wording = draw_captioned_scene(CORPORA[corpus], rng)
        yield picture, caption(statement, wording)
