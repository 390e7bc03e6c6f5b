"""How collections of pictures look: the captioned scenes, and a data set that shows the same things as another camera
would.

A tower that was pretrained on scenes knows the words of a data set, but has met what they name in another palette,
grain, ground and light. What remains of its knowledge, and what training has to adapt, is the point of a data set that
is not the pretraining's own.
"""

from collections.abc import Mapping
from dataclasses import dataclass

Colour = tuple[int, int, int]


@dataclass(frozen=True)
class Look:
    """What all pictures of a collection share."""

    palette: Mapping[str, Colour]  # what its named colours are
    ground: tuple[int, int]  # the channels of grounds, from and below
    clutter: tuple[int, int]  # the fewest and the most things on a ground
    grain: int = 100  # of textures, in percent: above 100 coarser
    turn: int = 0  # steps of a full turn by which angles and tints that belong to a kind of object are moved
    tilt: int = 0  # steps of a full turn by which objects stand askew
    light: Colour = (100, 100, 100)  # percent of each channel that it lets through
    blur: int = 0  # radius, in pixels of the canvas


SCENES = Look(
    palette={"red": (205, 45, 45), "blue": (45, 80, 205), "green": (50, 160, 65), "golden": (215, 170, 45)},
    ground=(70, 200),
    clutter=(4, 9),
)
CATALOGUE = Look(
    palette={"red": (180, 50, 130), "blue": (50, 145, 185), "green": (140, 165, 50), "golden": (225, 122, 60)},
    ground=(120, 225),
    clutter=(2, 6),
    grain=140,
    turn=12,
    tilt=2,
    light=(112, 100, 82),
    blur=1,
)
