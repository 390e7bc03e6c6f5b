"""Pictures of synthetic classes, for people who ask what they look like."""

from collections.abc import Iterator, Mapping
from typing import Any

from PIL import Image

from recompose.synthetic.creatures import draw_creature
from recompose.tracks.gzsl.data.shapes_classes import SPLITS, DrawnImage, choose_classes

COUNT = 3


def samples(document: Mapping[str, Any]) -> Iterator[tuple[Image.Image, str]]:
    """Yield the first picture of a few classes [96 x 96], by their recipe's document, each with the invented name."""
    if document["adapter"] != "shapes-classes":
        return
    replicate = choose_classes(document["seed"])
    for number, label in enumerate(replicate.split_classes(SPLITS[0])[:COUNT]):
        values, _, rng = DrawnImage(label, SPLITS[0], number).values(replicate, document["seed"])
        name = replicate.classes[label].name.partition(".")[2].replace("_", " ")
        yield draw_creature(values, rng), f"{name}, an invented species"
