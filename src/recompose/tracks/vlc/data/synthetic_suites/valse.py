"""VALSE: captions and their foils, of seven phenomena."""

from collections.abc import Iterable
from dataclasses import replace
from random import Random

from recompose.synthetic.objects import COLOURS
from recompose.synthetic.scenes import RELATIONS
from recompose.synthetic.sentences import PLACES, PLAIN, SOME, Entity, Scene, Wording, caption
from recompose.tracks.vlc.data.formats import valse
from recompose.tracks.vlc.data.synthetic_suites.counterfactuals import (
    Change,
    denied,
    other_number,
    other_object,
    other_relation,
    other_subject,
    swapped_things,
)
from recompose.tracks.vlc.data.synthetic_suites.files import write_json
from recompose.tracks.vlc.data.synthetic_suites.photos import Photo, World, draw_album, of_each, of_kinds
from recompose.tracks.vlc.data.synthetic_suites.questions import PHOTO, related, true_and_false


def _foils(world: World, name: str, data_set: str, items: Iterable[tuple[Photo, str, str]]) -> None:
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
    write_json(world.root / valse.NAME / f"{name}.json", entries)


def _existing(photo: Photo, rng: Random) -> tuple[Photo, str, str]:
    """A thing that is there, and is denied, or one that is not, and is told."""
    first = photo.scene.first
    there = Scene(Entity(first.name, count=1 if first.count == 1 else SOME))
    missing = Scene(replace(other_subject(photo.scene, rng).first, states=(), size="", count=1))
    true, false = (there, denied(there, rng)) if rng.randrange(2) else (denied(missing, rng), missing)
    return photo, caption(true), caption(false)


def _plural(photo: Photo) -> tuple[Photo, str, str]:
    first = photo.scene.first
    one, some = (Scene(replace(first, states=(first.colour,), size="", count=count)) for count in (1, SOME))
    true, false = (one, some) if first.count == 1 else (some, one)
    return photo, caption(true, PHOTO), caption(false, PHOTO)


def _answered(photo: Photo, asked: Entity, name: str, rng: Random) -> tuple[Photo, str, str]:
    """A caption, a question about a colour, and its answer. What is asked about is "it", the caption's first thing, or
    is named.
    """
    told = caption(of_each(photo.scene, lambda thing: Entity(thing.name)), PHOTO)
    colour = asked.colour if rng.randrange(2) else rng.choice([one for one in COLOURS if one != asked.colour])
    answers = ("yes", "no") if colour == asked.colour else ("no", "yes")
    true, false = (f"{told}. is {name} {colour}? {answer}." for answer in answers)
    return photo, true, false


def draw_valse(world: World, val2017: list[Photo], val2014: list[Photo], swig: list[Photo]) -> None:
    """Write VALSE's files, about pictures of other suites and some of its own."""
    rng = world.rng("valse")
    several = [
        replace(scene, first=replace(scene.first, count=2 + number % 3))
        for number, scene in enumerate(of_kinds(rng, {"many": 30}, world.share))
    ]
    counted = draw_album(world, "images/visual7w/v7w_{}.jpg", [*several, *of_kinds(rng, {"one": 10}, world.share)])
    asked = draw_album(
        world,
        "images/visdial/VisualDialog_val2018/VisualDialog_val2018_{:012d}.jpg",
        of_kinds(rng, {"two": 20}, world.share),
    )
    others = draw_album(
        world, "images/coco/train2014/COCO_train2014_{:012d}.jpg", of_kinds(rng, {"two": 20}, world.share)
    )

    def pairs(photos: Iterable[Photo], change: Change, wording: Wording | None = None) -> list[tuple[Photo, str, str]]:
        return [(photo, *true_and_false(photo, change, rng, wording)) for photo in photos]

    few = [photo for photo in counted if photo.scene.first.count <= 2]
    hard = [photo for photo in counted if photo.scene.first.count > 1]
    singular = [photo for photo in val2017 if photo.scene.relation in PLACES][: world.items(24)]
    plural = [photo for photo in val2017 if photo.scene.first.count > 1][: world.items(24)]
    _foils(world, "existence", "visual7w", (_existing(photo, rng) for photo in counted))
    _foils(world, "plurals", "coco2017", (_plural(photo) for photo in [*singular, *plural]))
    _foils(world, "counting-hard", "visual7w", pairs(hard, other_number, PHOTO))
    _foils(world, "counting-small-quant", "visual7w", pairs(few, other_number, PHOTO))
    _foils(world, "counting-adversarial", "visual7w", pairs(counted, other_number, PLAIN))
    _foils(world, "relations", "coco_2017", pairs(related(val2017, RELATIONS), other_relation))
    _foils(world, "action-replacement", "SWiG", pairs(swig, other_relation, Wording(sentence=True)))
    _foils(world, "actant-swap", "SWiG", pairs(swig, swapped_things, Wording(sentence=True)))
    _foils(
        world,
        "coreference-standard",
        "VisDial_v1.0",
        (_answered(photo, photo.scene.first, "it", rng) for photo in others),
    )
    named = ((photo, rng.choice(photo.scene.entities)) for photo in asked)
    _foils(
        world,
        "coreference-hard",
        "VisDial_v1.0",
        (_answered(photo, thing, f"the {thing.name}", rng) for photo, thing in named),
    )
    _foils(world, "foil-it", "FOIL dataset", pairs(val2014[: world.items(60)], other_object))
