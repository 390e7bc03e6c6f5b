"""VALSE: captions and their foils, of seven phenomena."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from random import Random
from typing import TypeAlias

from recompose.synthetic.objects import COLOURS
from recompose.synthetic.scenes import RELATIONS
from recompose.synthetic.sentences import PLACES, PLAIN, SOME, Entity, Scene, Wording, caption
from recompose.tracks.vlc.data.synthetic_suites import changes, photos
from recompose.tracks.vlc.data.synthetic_suites.photos import PHOTO, Photo, SuiteReplicate

Foil: TypeAlias = tuple[Photo, str, str]  # a picture with its true and its false caption


def _existence(photo: Photo, rng: Random) -> Foil:
    """Return a present object with its denial, or an absent object with its denial."""
    first = photo.scene.first
    present = Scene(Entity(first.name, count=1 if first.count == 1 else SOME))
    missing = Scene(replace(changes.replace_subject(photo.scene, rng).first, states=(), size="", count=1))
    true, false = (
        (present, changes.deny_entity(present, rng))
        if rng.randrange(2)
        else (changes.deny_entity(missing, rng), missing)
    )
    return photo, caption(true), caption(false)


def _plural(photo: Photo) -> Foil:
    first = photo.scene.first
    single, several = (Scene(replace(first, states=(first.colour,), size="", count=count)) for count in (1, SOME))
    true, false = (single, several) if first.count == 1 else (several, single)
    return photo, caption(true, PHOTO), caption(false, PHOTO)


def _coreference(photo: Photo, entity: Entity, name: str, rng: Random) -> Foil:
    """Return a caption with a question about a colour and its answer, right and wrong. ``name`` refers to the entity:
    "it", the first one of the caption, or its name.
    """
    text = caption(photos.map_entities(photo.scene, lambda part: Entity(part.name)), PHOTO)
    others = [colour for colour in COLOURS if colour != entity.colour]
    colour = entity.colour if rng.randrange(2) else rng.choice(others)
    answers = ("yes", "no") if colour == entity.colour else ("no", "yes")
    true, false = (f"{text}. is {name} {colour}? {answer}." for answer in answers)
    return photo, true, false


def draw_valse(replicate: SuiteReplicate, val2017: list[Photo], val2014: list[Photo], swig: list[Photo]) -> None:
    """Write VALSE's files, on pictures of other suites and some of its own."""
    rng = replicate.rng("valse")

    def scenes(kind: str, count: int) -> list[Scene]:
        return photos.held_out_scenes(rng, {kind: count}, replicate.share)

    several = [
        replace(scene, first=replace(scene.first, count=2 + number % 3))
        for number, scene in enumerate(scenes("many", 30))
    ]
    counted = replicate.album("images/visual7w/v7w_{}.jpg", [*several, *scenes("one", 10)])
    dialogues = replicate.album(
        "images/visdial/VisualDialog_val2018/VisualDialog_val2018_{:012d}.jpg", scenes("two", 20)
    )
    of_coco = replicate.album("images/coco/train2014/COCO_train2014_{:012d}.jpg", scenes("two", 20))

    def write(name: str, data_set: str, foils: Iterable[Foil]) -> None:
        entries = {}
        for number, (photo, true, false) in enumerate(foils):
            item = {"dataset": data_set, "image_file": photo.name, "caption": true, "foil": false}
            entries[f"{name}_{number}"] = item | {"mturk": {"foil": 0, "caption": 3, "other": 0}}
        replicate.write_json(f"valse/{name}.json", entries)

    def pairs(album: Iterable[Photo], change: changes.Change, wording: Wording | None = None) -> Iterator[Foil]:
        return ((photo, *photos.caption_pair(photo, change, rng, wording)) for photo in album)

    few = [photo for photo in counted if photo.scene.first.count <= 2]
    hard = [photo for photo in counted if photo.scene.first.count > 1]
    singular = [photo for photo in val2017 if photo.scene.relation in PLACES][: replicate.items(24)]
    plural = [photo for photo in val2017 if photo.scene.first.count > 1][: replicate.items(24)]
    related, sentence = photos.with_relation(val2017, RELATIONS), Wording(sentence=True)
    named = ((photo, rng.choice(photo.scene.entities)) for photo in dialogues)
    write("existence", "visual7w", (_existence(photo, rng) for photo in counted))
    write("plurals", "coco2017", (_plural(photo) for photo in [*singular, *plural]))
    write("counting-hard", "visual7w", pairs(hard, changes.replace_number, PHOTO))
    write("counting-small-quant", "visual7w", pairs(few, changes.replace_number, PHOTO))
    write("counting-adversarial", "visual7w", pairs(counted, changes.replace_number, PLAIN))
    write("relations", "coco_2017", pairs(related, changes.replace_relation))
    write("action-replacement", "SWiG", pairs(swig, changes.replace_relation, sentence))
    write("actant-swap", "SWiG", pairs(swig, changes.swap_entities, sentence))
    it = (_coreference(photo, photo.scene.first, "it", rng) for photo in of_coco)
    write("coreference-standard", "VisDial_v1.0", it)
    names = (_coreference(photo, entity, f"the {entity.name}", rng) for photo, entity in named)
    write("coreference-hard", "VisDial_v1.0", names)
    write("foil-it", "FOIL dataset", pairs(val2014[: replicate.items(60)], changes.replace_object))
