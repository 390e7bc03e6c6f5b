"""VALSE: captions and their foils, of seven phenomena."""

from collections.abc import Iterable
from dataclasses import replace
from random import Random

from recompose.synthetic.objects import COLOURS
from recompose.synthetic.scenes import RELATIONS
from recompose.synthetic.sentences import PLACES, PLAIN, SOME, Entity, Scene, Wording, caption
from recompose.tracks.vlc.data.synthetic_suites.counterfactuals import (
    Change,
    deny_entity,
    replace_number,
    replace_object,
    replace_relation,
    replace_subject,
    swap_entities,
)
from recompose.tracks.vlc.data.synthetic_suites.files import write_json
from recompose.tracks.vlc.data.synthetic_suites.photos import (
    Photo,
    SuiteReplicate,
    draw_album,
    held_out_scenes,
    map_entities,
)
from recompose.tracks.vlc.data.synthetic_suites.questions import PHOTO, caption_pair, photos_with_relation


def _foils(replicate: SuiteReplicate, name: str, data_set: str, items: Iterable[tuple[Photo, str, str]]) -> None:
    entries = {
        f"{name}_{number}": {
            "dataset": data_set,
            "image_file": photo.name,
            "caption": true,
            "foil": false,
            "mturk": {"foil": 0, "caption": 3, "other": 0},
        }
        for number, (photo, true, false) in enumerate(items)
    }
    write_json(replicate.root / f"valse/{name}.json", entries)


def _existence(photo: Photo, rng: Random) -> tuple[Photo, str, str]:
    """Return a present object with its denial, or an absent object with its denial."""
    first = photo.scene.first
    present = Scene(Entity(first.name, count=1 if first.count == 1 else SOME))
    missing = Scene(replace(replace_subject(photo.scene, rng).first, states=(), size="", count=1))
    true, false = (present, deny_entity(present, rng)) if rng.randrange(2) else (deny_entity(missing, rng), missing)
    return photo, caption(true), caption(false)


def _plural(photo: Photo) -> tuple[Photo, str, str]:
    first = photo.scene.first
    single, several = (Scene(replace(first, states=(first.colour,), size="", count=count)) for count in (1, SOME))
    true, false = (single, several) if first.count == 1 else (several, single)
    return photo, caption(true, PHOTO), caption(false, PHOTO)


def _coreference(photo: Photo, entity: Entity, name: str, rng: Random) -> tuple[Photo, str, str]:
    """Return a caption with a question about a colour and its answer, right and wrong. ``name`` refers to the entity:
    "it", the first one of the caption, or its name.
    """
    text = caption(map_entities(photo.scene, lambda part: Entity(part.name)), PHOTO)
    colour = (
        entity.colour
        if rng.randrange(2)
        else rng.choice([alternative for alternative in COLOURS if alternative != entity.colour])
    )
    answers = ("yes", "no") if colour == entity.colour else ("no", "yes")
    true, false = (f"{text}. is {name} {colour}? {answer}." for answer in answers)
    return photo, true, false


def draw_valse(replicate: SuiteReplicate, val2017: list[Photo], val2014: list[Photo], swig: list[Photo]) -> None:
    """Write VALSE's files, on pictures of other suites and some of its own."""
    rng = replicate.rng("valse")
    several = [
        replace(scene, first=replace(scene.first, count=2 + number % 3))
        for number, scene in enumerate(held_out_scenes(rng, {"many": 30}, replicate.share))
    ]
    counted = draw_album(
        replicate, "images/visual7w/v7w_{}.jpg", [*several, *held_out_scenes(rng, {"one": 10}, replicate.share)]
    )
    dialogues = draw_album(
        replicate,
        "images/visdial/VisualDialog_val2018/VisualDialog_val2018_{:012d}.jpg",
        held_out_scenes(rng, {"two": 20}, replicate.share),
    )
    scenes_of_coco = draw_album(
        replicate,
        "images/coco/train2014/COCO_train2014_{:012d}.jpg",
        held_out_scenes(rng, {"two": 20}, replicate.share),
    )

    def pairs(photos: Iterable[Photo], change: Change, wording: Wording | None = None) -> list[tuple[Photo, str, str]]:
        return [(photo, *caption_pair(photo, change, rng, wording)) for photo in photos]

    few = [photo for photo in counted if photo.scene.first.count <= 2]
    hard = [photo for photo in counted if photo.scene.first.count > 1]
    singular = [photo for photo in val2017 if photo.scene.relation in PLACES][: replicate.items(24)]
    plural = [photo for photo in val2017 if photo.scene.first.count > 1][: replicate.items(24)]
    _foils(replicate, "existence", "visual7w", (_existence(photo, rng) for photo in counted))
    _foils(replicate, "plurals", "coco2017", (_plural(photo) for photo in [*singular, *plural]))
    _foils(replicate, "counting-hard", "visual7w", pairs(hard, replace_number, PHOTO))
    _foils(replicate, "counting-small-quant", "visual7w", pairs(few, replace_number, PHOTO))
    _foils(replicate, "counting-adversarial", "visual7w", pairs(counted, replace_number, PLAIN))
    _foils(replicate, "relations", "coco_2017", pairs(photos_with_relation(val2017, RELATIONS), replace_relation))
    _foils(replicate, "action-replacement", "SWiG", pairs(swig, replace_relation, Wording(sentence=True)))
    _foils(replicate, "actant-swap", "SWiG", pairs(swig, swap_entities, Wording(sentence=True)))
    _foils(
        replicate,
        "coreference-standard",
        "VisDial_v1.0",
        (_coreference(photo, photo.scene.first, "it", rng) for photo in scenes_of_coco),
    )
    named = ((photo, rng.choice(photo.scene.entities)) for photo in dialogues)
    _foils(
        replicate,
        "coreference-hard",
        "VisDial_v1.0",
        (_coreference(photo, entity, f"the {entity.name}", rng) for photo, entity in named),
    )
    _foils(replicate, "foil-it", "FOIL dataset", pairs(val2014[: replicate.items(60)], replace_object))
