"""Pictures as a synthetic data set of state-object pairs has them, for people who ask what it looks like."""

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from PIL import Image

from recompose.synthetic.looks import CATALOGUE
from recompose.synthetic.objects import draw_object, finish, ground

PAIRS = (("striped", "star"), ("rusty", "drop"), ("glossy", "ring"))


def samples(document: Mapping[str, Any]) -> Iterator[tuple[Image.Image, str]]:
    """Yield a picture of a few pairs [32 x 32], each with its label.

    Args:
        document: of the recipe of the data.
    """
    if document["adapter"] == "shapes-pairs":
        for number, pair in enumerate(PAIRS):
            yield draw_pair(pair, Random(f"sample/{document['seed']}/{number}")), " ".join(pair)


def draw_pair(pair: tuple[str, str], rng: Random) -> Image.Image:
    """Return a picture [32 x 32] of a state and an object, under the names that the drawing has for them."""
    picture = ground(rng, CATALOGUE)
    centre = (32 + rng.randrange(-3, 4), 32 + rng.randrange(-3, 4))
    draw_object(picture, pair[1], (pair[0],), centre, 25 + rng.randrange(5), rng, CATALOGUE)
    return finish(picture, CATALOGUE)
