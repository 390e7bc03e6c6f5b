"""VL-Checklist: objects by place and size, attributes, relations."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from recompose.synthetic.objects import CANVAS
from recompose.synthetic.scenes import RELATIONS
from recompose.synthetic.sentences import ACTIONS, QUALITIES, SIZES, Scene, Spot, Thing, caption
from recompose.tracks.vlc.data.drawn.asking import PHOTO, related
from recompose.tracks.vlc.data.drawn.counterfactuals import (
    Change,
    false_of,
    other_object,
    other_relation,
    other_size,
    other_state,
)
from recompose.tracks.vlc.data.drawn.files import write_json
from recompose.tracks.vlc.data.drawn.world import Photo, World, coloured_only, held_out
from recompose.tracks.vlc.data.formats import vl_checklist
from recompose.tracks.vlc.suites.aggregation import VL_CHECKLIST

CHECKED = 12  # items of a set


def _distance(spot: Spot) -> int:
    return max(abs(side - CANVAS // 2) for side in spot.centre)


PARTS: Mapping[str, Callable[[Spot], bool]] = {  # of VL-Checklist's objects, by where they are and how large
    "center": lambda spot: _distance(spot) <= 6,
    "mid": lambda spot: 6 < _distance(spot) < 13,
    "margin": lambda spot: _distance(spot) >= 13,
    "large": lambda spot: spot.radius >= 18,
    "medium": lambda spot: 11 <= spot.radius < 18,
    "small": lambda spot: spot.radius < 11,
}
ATTRIBUTES: Mapping[str, Sequence[str]] = {  # what stands for VL-Checklist's kinds of attributes
    "action": tuple(QUALITIES["finish"]),
    "color": tuple(QUALITIES["colour"]),
    "material": tuple(QUALITIES["texture"]),
    "size": SIZES,
    "state": tuple(QUALITIES["condition"]),
}


def _checked(leaf: str, photos: Sequence[Photo]) -> tuple[list[tuple[Photo, Scene]], Change]:
    """What a set may ask: pictures with what is said of them, and what makes it false."""
    what, *kinds = leaf.split("/")[0].split("_")
    kind = kinds[-1]
    if what == "relation":
        relations = ACTIONS if kind == "action" else RELATIONS
        return [(photo, coloured_only(photo.scene)) for photo in related(photos, relations)], other_relation
    things = [(photo, spot) for photo in photos for spot in photo.spots]
    if what == "object":
        found = [
            (photo, Scene(replace(spot.thing, states=(spot.thing.colour,), size="", count=1)))
            for photo, spot in things
            if PARTS[kind](spot) and spot.thing.count == 1
        ]
        return found, other_object
    wanted = ATTRIBUTES[kind]
    if kind == "size":
        return [(photo, Scene(replace(spot.thing, states=()))) for photo, spot in things if spot.thing.size], other_size
    said = [
        (photo, Scene(Thing(spot.thing.name, (state,))))
        for photo, spot in things
        for state in spot.thing.states
        if state in wanted and spot.thing.count == 1
    ]
    return said, other_state


def draw_checklist(world: World, albums: Mapping[str, Sequence[Photo]]) -> None:
    """Write VL-Checklist's 56 files.

    Args:
        world: whose.
        albums: by the folders of their pictures.
    """
    folder = world.root / vl_checklist.NAME / "data"
    for name in VL_CHECKLIST.leaves:
        leaf = name.removeprefix(f"{vl_checklist.NAME}/")
        corpus = leaf.partition("/")[2].split("_")[0] or "vg"
        below = vl_checklist.IMAGES[corpus]
        rng = world.rng(f"checklist/{leaf}")
        photos = list(albums[below])
        candidates, change = _checked(leaf, photos)
        while not candidates:  # an album can lack what a set asks for: pictures are added until one has it
            scene = held_out(rng.choice(("one", "two", "act")), rng)
            photos.append(world.photo(f"{below}/{leaf.replace('/', '-')}-{len(photos)}.jpg", scene))
            candidates, change = _checked(leaf, photos)
        order = rng.sample(candidates, len(candidates))
        items = []
        for number in range(world.items(CHECKED)):
            photo, said = order[number % len(order)]
            false = caption(false_of(photo.scene, said, change, rng), PHOTO)
            items.append([photo.path.removeprefix(f"{below}/"), {"POS": [caption(said, PHOTO)], "NEG": [false]}])
        write_json(folder / vl_checklist.file_of(leaf), items)
