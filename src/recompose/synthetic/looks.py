"""Looks of collections of pictures: the captioned scenes, and a data set of the same objects from another camera.

A tower that was pretrained on scenes knows the words of a data set, but has seen their objects with another palette,
grain, ground and light. A data set other than the pretraining's own shows how much of that knowledge transfers, and
what training has to adapt.
"""

from collections.abc import Mapping
from dataclasses import dataclass

Colour = tuple[int, int, int]


@dataclass(frozen=True)
class Look:
    """The properties that all pictures of a collection share."""

    palette: Mapping[str, Colour]  # name of a colour -> its channels
    ground: tuple[int, int]  # the range of the channels of grounds, the end excluded
    clutter: tuple[int, int]  # the fewest and the most shapes on a ground
    grain: int = 100  # of textures, in percent; above 100 is coarser
    turn: int = 0  # offset of the angles and tints of each kind of object, in steps of a full turn
    tilt: int = 0  # rotation of objects, in steps of a full turn
    light: Colour = (100, 100, 100)  # transmitted percent of each channel
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
