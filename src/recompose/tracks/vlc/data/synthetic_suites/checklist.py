"""VL-Checklist: objects by place and size, attributes, relations."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from recompose.synthetic.objects import CANVAS
from recompose.synthetic.scenes import RELATIONS
from recompose.synthetic.sentences import ACTIONS, QUALITIES, Entity, Scene, Spot, caption
from recompose.tracks.vlc.data.formats import vl_checklist
from recompose.tracks.vlc.data.synthetic_suites import changes
from recompose.tracks.vlc.data.synthetic_suites.photos import (
    PHOTO,
    Photo,
    SuiteReplicate,
    held_out_scene,
    keep_colours,
    with_relation,
)

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
    "state": tuple(QUALITIES["condition"]),
}


def _candidates(leaf: str, photos: Sequence[Photo]) -> list[tuple[Photo, Scene]]:
    """Return the candidates of a set: pictures with true statements."""
    topic, *kinds = leaf.split("/")[0].split("_")
    kind = kinds[-1]
    if topic == "relation":
        related = with_relation(photos, ACTIONS if kind == "action" else RELATIONS)
        return [(photo, keep_colours(photo.scene)) for photo in related]
    entities = [(photo, spot, spot.entity) for photo in photos for spot in photo.spots]
    if topic == "object":
        return [
            (photo, Scene(replace(entity, states=(entity.colour,), size="", count=1)))
            for photo, spot, entity in entities
            if PARTS[kind](spot) and entity.count == 1
        ]
    if kind == "size":
        return [(photo, Scene(replace(entity, states=()))) for photo, _, entity in entities if entity.size]
    return [
        (photo, Scene(Entity(entity.name, (state,))))
        for photo, _, entity in entities
        for state in entity.states
        if state in ATTRIBUTES[kind] and entity.count == 1
    ]


def _change(leaf: str) -> changes.Change:
    """Return the change that makes the statements of a set false."""
    if leaf.startswith("attribute_size"):
        return changes.replace_size
    by_topic = {"relation": changes.replace_relation, "object": changes.replace_object}
    return by_topic.get(leaf.split("_")[0], changes.replace_state)


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
        while not (
            candidates := _candidates(leaf, photos)
        ):  # an album may lack candidates: add pictures until there is one
            scene = held_out_scene(rng.choice(("one", "two", "act")), rng)
            photos.append(replicate.photo(f"{below}/{leaf.replace('/', '-')}-{len(photos)}.jpg", scene))
        order = rng.sample(candidates, len(candidates))
        items = []
        for number in range(replicate.items(CHECKED)):
            photo, statement = order[number % len(order)]
            false = caption(changes.falsify(photo.scene, statement, _change(leaf), rng), PHOTO)
            items.append([photo.path.removeprefix(f"{below}/"), {"POS": [caption(statement, PHOTO)], "NEG": [false]}])
        replicate.write_json(f"vl_checklist/data/{vl_checklist.file_of(leaf)}", items)
