"""VL-Checklist: objects by place and size, attributes, relations."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from recompose.synthetic.objects import CANVAS
from recompose.synthetic.scenes import RELATIONS
from recompose.synthetic.sentences import ACTIONS, QUALITIES, SIZES, Entity, Scene, Spot, caption
from recompose.tracks.vlc.data.formats import vl_checklist
from recompose.tracks.vlc.data.synthetic_suites.counterfactuals import (
    Change,
    falsify,
    replace_object,
    replace_relation,
    replace_size,
    replace_state,
)
from recompose.tracks.vlc.data.synthetic_suites.files import write_json
from recompose.tracks.vlc.data.synthetic_suites.photos import Photo, SuiteReplicate, held_out_scene, keep_colours
from recompose.tracks.vlc.data.synthetic_suites.questions import PHOTO, photos_with_relation

CHECKED = 12  # items of a set


def _distance(spot: Spot) -> int:
    return max(abs(side - CANVAS // 2) for side in spot.centre)


PARTS: Mapping[str, Callable[[Spot], bool]] = {  # VL-Checklist's positions and sizes of objects
    "center": lambda spot: _distance(spot) <= 6,
    "mid": lambda spot: 6 < _distance(spot) < 13,
    "margin": lambda spot: _distance(spot) >= 13,
    "large": lambda spot: spot.radius >= 18,
    "medium": lambda spot: 11 <= spot.radius < 18,
    "small": lambda spot: spot.radius < 11,
}
ATTRIBUTES: Mapping[str, Sequence[str]] = {  # substitutes for VL-Checklist's kinds of attributes
    "action": tuple(QUALITIES["finish"]),
    "color": tuple(QUALITIES["colour"]),
    "material": tuple(QUALITIES["texture"]),
    "size": SIZES,
    "state": tuple(QUALITIES["condition"]),
}


def _candidates(leaf: str, photos: Sequence[Photo]) -> tuple[list[tuple[Photo, Scene]], Change]:
    """Return the candidates of a set, pictures with true statements, and the change that makes these false."""
    topic, *kinds = leaf.split("/")[0].split("_")
    kind = kinds[-1]
    if topic == "relation":
        relations = ACTIONS if kind == "action" else RELATIONS
        return [
            (photo, keep_colours(photo.scene)) for photo in photos_with_relation(photos, relations)
        ], replace_relation
    entities = [(photo, spot) for photo in photos for spot in photo.spots]
    if topic == "object":
        objects = [
            (photo, Scene(replace(spot.entity, states=(spot.entity.colour,), size="", count=1)))
            for photo, spot in entities
            if PARTS[kind](spot) and spot.entity.count == 1
        ]
        return objects, replace_object
    states = ATTRIBUTES[kind]
    if kind == "size":
        return [
            (photo, Scene(replace(spot.entity, states=()))) for photo, spot in entities if spot.entity.size
        ], replace_size
    attributes = [
        (photo, Scene(Entity(spot.entity.name, (state,))))
        for photo, spot in entities
        for state in spot.entity.states
        if state in states and spot.entity.count == 1
    ]
    return attributes, replace_state


def draw_checklist(replicate: SuiteReplicate, albums: Mapping[str, Sequence[Photo]]) -> None:
    """Write VL-Checklist's 56 files.

    Args:
        replicate: the replicate.
        albums: the albums by the folders of their pictures.
    """
    for leaf in vl_checklist.LEAVES:
        below = vl_checklist.IMAGES[vl_checklist.corpus_of(leaf)]
        rng = replicate.rng(f"checklist/{leaf}")
        photos = list(albums[below])
        candidates, change = _candidates(leaf, photos)
        while not candidates:  # an album may lack candidates: add pictures until there is one
            scene = held_out_scene(rng.choice(("one", "two", "act")), rng)
            photos.append(replicate.photo(f"{below}/{leaf.replace('/', '-')}-{len(photos)}.jpg", scene))
            candidates, change = _candidates(leaf, photos)
        order = rng.sample(candidates, len(candidates))
        items = []
        for number in range(replicate.items(CHECKED)):
            photo, statement = order[number % len(order)]
            false = caption(falsify(photo.scene, statement, change, rng), PHOTO)
            items.append([photo.path.removeprefix(f"{below}/"), {"POS": [caption(statement, PHOTO)], "NEG": [false]}])
        write_json(replicate.root / "vl_checklist/data" / vl_checklist.file_of(leaf), items)
