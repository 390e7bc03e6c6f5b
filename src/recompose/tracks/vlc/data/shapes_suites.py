"""shapes-suites: drawn suites of all kinds, in the files and folders that the published ones come in.

Each world has its own pictures, of scenes that no corpus was drawn with, and pictures are shared between suites where
published suites share them: Visual Genome's, COCO's, SWiG's, ... Each suite asks what the published one of its name
asks: to bind attributes, to tell who is where and does what, to count, to deny, to mind the order of words.
"""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from PIL import Image

from recompose.drawing.captions import (
    ACTIONS,
    NAMES,
    NONE,
    NUMBERS,
    OPENINGS,
    PLACES,
    PLAIN,
    QUALITIES,
    SIZES,
    SOME,
    Scene,
    Spot,
    Thing,
    Wording,
    caption,
    choose_wording,
    holds,
    phrase,
)
from recompose.drawing.looks import CATALOGUE, SCENES, Look
from recompose.drawing.objects import CANVAS, COLOURS
from recompose.drawing.scenes import RELATIONS
from recompose.tracks.vlc.aggregation import SPEC_SUBSETS, VL_CHECKLIST
from recompose.tracks.vlc.data.formats import (
    aro,
    clip_binding,
    coco,
    coco_counterfactuals,
    colorswap,
    comvg,
    crepe,
    elevater,
    eqben,
    flickr30k,
    imagecode,
    spec,
    sugarcrepe,
    svo_probes,
    valse,
    vl_checklist,
    whatsup,
    winoground,
)
from recompose.tracks.vlc.data.formats.reading import read_items
from recompose.tracks.vlc.data.shapes_captions import CRAWL, WEB
from recompose.tracks.vlc.data.shapes_world import (
    HELD_OUT,
    Change,
    Photo,
    World,
    added_object,
    added_state,
    apart,
    coloured,
    false_of,
    held_out,
    mentioned,
    other_number,
    other_object,
    other_relation,
    other_size,
    other_state,
    other_subject,
    other_target,
    swapped_names,
    swapped_states,
    swapped_things,
)
from recompose.tracks.vlc.data.suite import Classes, Collector, Suite

FORMATS = (
    *(aro, crepe, eqben, imagecode, spec, sugarcrepe, svo_probes, valse, vl_checklist, whatsup, winoground),
    *(comvg, colorswap, clip_binding, coco, flickr30k, coco_counterfactuals),
)
PAIRS = (("red", "blue"), ("green", "golden"), ("blue", "golden"))  # of colours that ARO asks about, often each
SUGAR = 80  # items of a set of SugarCrepe
CHECKED = 12  # items of a set of VL-Checklist
SHOWN = 48  # pictures of a set for zero-shot classification
SUBJECT = Wording(article="the", sentence=True)
DEFINITE = Wording(article="the")
PHOTO = Wording(opening="photo")


# ---- writing files


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _write_json(path: Path, document: Any) -> None:
    _write(path, json.dumps(document, indent=1) + "\n")


def _write_lines(path: Path, items: Iterable[Any]) -> None:
    _write(path, "".join(json.dumps(item) + "\n" for item in items))


def _write_rows(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    table = io.StringIO(newline="")
    writer = csv.writer(table, lineterminator="\n")
    writer.writerows([columns, *rows])
    _write(path, table.getvalue())


def _numbered(items: Iterable[Any]) -> dict[str, Any]:
    return {str(number): item for number, item in enumerate(items)}


# ---- what is said of pictures


def _opened(rng: Random) -> Wording:
    """A wording that is the same for a true and a false caption."""
    return Wording(opening=rng.choice(("", *OPENINGS)))


def _related(photos: Iterable[Photo], relations: Iterable[str]) -> list[Photo]:
    """The pictures of two things in such a relation, or of one at such a place."""
    wanted = set(relations)
    return [photo for photo in photos if photo.scene.relation in wanted]


def _single(photos: Iterable[Photo]) -> list[Photo]:
    return [photo for photo in photos if photo.scene.second is None and photo.scene.first.count == 1]


def _cycled(photos: Sequence[Photo], items: int, rng: Random) -> list[Photo]:
    """So many pictures in random order, each as often as any other, or once more."""
    order = rng.sample(list(photos), len(photos))
    return [order[number % len(order)] for number in range(items)]


def _pair(world: World, photo: Photo, change: Change, rng: Random, wording: Wording | None = None) -> tuple[str, str]:
    """A true and a false caption of a picture."""
    wording, said = wording or _opened(rng), mentioned(photo.scene, rng)
    return world.text(said, wording), world.text(false_of(photo.scene, said, change, rng), wording)


def _album(world: World, pattern: str, scenes: Iterable[Scene], look: Look | None = None) -> list[Photo]:
    """Draw scenes into files whose names count them, from 1."""
    return [
        world.photo(pattern.format(number), scene) if look is None else world.photo(pattern.format(number), scene, look)
        for number, scene in enumerate(scenes, 1)
    ]


def _of_kinds(rng: Random, kinds: Mapping[str, int]) -> list[Scene]:
    return [held_out(kind, rng) for kind, count in kinds.items() for _ in range(count)]


# ---- suites on Visual Genome's pictures


def _visual_genome(world: World) -> list[Photo]:
    """Pairs of pictures of two things, which differ in the first, the second or their relation, and others."""
    rng, scenes = world.rng("vg"), []
    for number in range(70):
        base = coloured(held_out("act" if number % 7 > 3 else "two", rng), rng, rng.sample(PAIRS[number % 3], 2))
        scenes += [base, apart(base, (other_subject, other_relation, other_target)[number // 3 % 3], rng)]
    return _album(world, "images/vg/{}.jpg", [*scenes, *_of_kinds(rng, {"one": 40, "placed": 34})])


def _draw_aro(world: World, album: list[Photo]) -> None:
    folder = world.root / aro.NAME
    couples, rng = [photo for photo in album if photo.scene.second], world.rng("aro")

    def item(photo: Photo, said: Scene, change: Change, wording: Wording, **named: Any) -> dict[str, Any]:
        false = false_of(photo.scene, said, change, rng)
        box = dict(zip(("bbox_x", "bbox_y", "bbox_w", "bbox_h"), photo.box, strict=True))
        captions = {"true_caption": world.text(said, wording), "false_caption": world.text(false, wording)}
        return {"image_path": photo.name, **box, **captions, **named}

    def bare(scene: Scene) -> Scene:
        return Scene(*(Thing(thing.name) for thing in scene.things), relation=scene.relation)

    def bound(scene: Scene) -> Scene:
        return Scene(*(Thing(thing.name, (thing.colour,)) for thing in scene.things))

    relations = [
        item(one, bare(one.scene), swapped_things, SUBJECT, relation_name=one.scene.relation) for one in couples
    ]
    attributes = [sorted(thing.colour for thing in photo.scene.things) for photo in couples]
    bindings = [
        item(photo, bound(photo.scene), swapped_states, DEFINITE, attributes=pair)
        for photo, pair in zip(couples, attributes, strict=True)
    ]
    _write_json(folder / "visual_genome_relation.json", relations)
    _write_json(folder / "visual_genome_attribution.json", bindings)


def shuffled(words: Sequence[str], tags: Sequence[str], rng: Random) -> list[str]:
    """A caption's words in four other orders: nouns and adjectives exchanged, all others exchanged, words exchanged
    within each three, and threes exchanged; another random order where one of them leaves the caption as it is.
    """
    named = [place for place, tag in enumerate(tags) if tag[:2] in ("NN", "JJ")]
    others = [place for place in range(len(words)) if place not in named]
    threes = [list(range(start, min(start + 3, len(words)))) for start in range(0, len(words), 3)]

    def exchanged(places: Sequence[int]) -> dict[int, int]:
        return dict(zip(places, rng.sample(list(places), len(places)), strict=True))

    orders: list[Callable[[], list[int]]] = [
        lambda: [exchanged_at.get(place, place) for exchanged_at in [exchanged(named)] for place in range(len(words))],
        lambda: [exchanged_at.get(place, place) for exchanged_at in [exchanged(others)] for place in range(len(words))],
        lambda: [place for three in threes for place in rng.sample(three, len(three))],
        lambda: [place for three in rng.sample(threes, len(threes)) for place in three],
    ]
    texts = []
    for order in orders:
        made = [[words[place] for place in order()] for _ in range(10)]
        made += [rng.sample(list(words), len(words)) for _ in range(50)]
        texts.append(" ".join(next(text for text in made if text != list(words))))
    return texts


def _draw_order(world: World, name: str, album: list[Photo], below: str) -> None:
    rng, items = world.rng(name), []
    for photo in album:
        said = mentioned(photo.scene, rng)
        wording = Wording(opening=rng.choice(OPENINGS))
        words = phrase(said, wording).words()
        false = shuffled([word.text for word in words], [word.tag for word in words], rng)
        items.append(
            {"image": photo.path.removeprefix(f"{below}/"), "caption_options": [world.text(said, wording), *false]}
        )
    _write_json(world.root / aro.NAME / f"{name}.json", items)


def _denied(scene: Scene, rng: Random) -> Scene:
    """One of the things is said to be missing."""
    things = list(scene.things)
    which = rng.randrange(len(things))
    denied = replace(things.pop(which), count=NONE)
    return Scene(things[0], denied) if things else Scene(denied)


def _exchanged(scene: Scene, rng: Random) -> Scene:
    return rng.choice((swapped_things, swapped_states, swapped_names))(scene, rng)


def _replaced(scene: Scene, rng: Random) -> Scene:
    return rng.choice((other_object, other_state, other_relation))(scene, rng)


def _draw_crepe(world: World, album: list[Photo]) -> None:
    """Rows stand in the files by their captions' length: the shortest ninth is of the lowest complexity."""
    rng = world.rng("crepe")
    couples = [photo for photo in album if photo.scene.second]
    for name, change in {"atom": _replaced, "swap": _exchanged, "negate": _denied}.items():
        rows = []
        for photo in _cycled(couples, 90, rng):
            said = mentioned(photo.scene, rng)
            false = {world.text(false_of(photo.scene, said, change, rng)): None for _ in range(5)}
            rows.append((photo.name.removesuffix(".jpg"), world.text(said), list(false), *photo.box))
        rows.sort(key=lambda row: (len(row[1].split()), row[1]))
        size = len(rows) // len(crepe.COMPLEXITIES)
        for place, complexity in enumerate(crepe.COMPLEXITIES):
            file = world.root / crepe.NAME / "prod_hard_negatives" / name
            file /= f"prod_vg_hard_negs_{name}_complexity_{complexity}.csv"
            _write_rows(file, crepe.COLUMNS, rows[place * size : (place + 1) * size])


def _draw_comvg(world: World, album: list[Photo]) -> None:
    """The pictures of a pair, each asked for by its caption."""
    rows = []
    couples = [photo for photo in album if photo.scene.second]
    for one, other in zip(couples[::2], couples[1::2], strict=True):
        for true, false in ((one, other), (other, one)):
            value = _difference(true.scene, false.scene)
            numbers = [photo.name.removesuffix(".jpg") for photo in (true, false)]
            rows.append((len(rows) + 1, world.text(true.scene), *numbers, value))
    _write_rows(world.root / comvg.NAME / "ComVG.csv", (*comvg.COLUMNS, "neg_value"), rows)


def _difference(one: Scene, other: Scene) -> str:
    if one.relation != other.relation:
        return "predicate"
    return "subject" if one.first != other.first else "object"


# ---- suites on COCO's pictures


def _draw_sugarcrepe(world: World, album: list[Photo]) -> None:
    rng = world.rng("sugarcrepe")
    couples = [photo for photo in album if photo.scene.second]
    changes: dict[str, Change] = {
        "replace_obj": other_object,
        "replace_att": other_state,
        "replace_rel": other_relation,
        "swap_obj": swapped_names,
        "swap_att": swapped_states,
        "add_obj": added_object,
        "add_att": added_state,
    }
    for name, change in changes.items():
        items = []
        for photo in _cycled(couples, SUGAR, rng):
            wording, said = _opened(rng), mentioned(photo.scene, rng)
            if name == "add_obj":
                said = Scene(said.first)
            if name == "add_att":
                said = replace(said, first=replace(said.first, states=(said.first.colour,)))
            false = false_of(photo.scene, said, change, rng)
            items.append(
                {
                    "filename": photo.name,
                    "caption": world.text(said, wording),
                    "negative_caption": world.text(false, wording),
                }
            )
        _write_json(world.root / sugarcrepe.NAME / f"{name}.json", _numbered(items))


def _draw_questions(world: World, prefix: str, album: list[Photo]) -> None:
    """WhatsUp's questions of pictures that other suites have, too: where one thing is, or two."""
    rng = world.rng(f"whatsup/{prefix}")
    for name, relations in {"one": PLACES, "two": RELATIONS}.items():
        items = [
            [int(photo.name.removesuffix(".jpg")), *_pair(world, photo, other_relation, rng, PHOTO)]
            for photo in _related(album, relations)
        ]
        _write_json(world.root / whatsup.NAME / f"{prefix}_qa_{name}_obj.json", items)


def _retrieved(world: World, name: str, file: str, album: list[Photo], below: str) -> None:
    """Each picture with two captions: of all that it shows, and of some of it."""
    rng, items = world.rng(name), []
    for photo in album:
        full, part = photo.scene, mentioned(photo.scene, rng)
        captions = [world.text(said, choose_wording(said, HELD_OUT, rng)) for said in (full, part)]
        items.append({"image": photo.path.removeprefix(f"{below}/"), "caption": captions})
    _write_json(world.root / name / file, items)


def _draw_counterfactuals(world: World) -> None:
    rng, items = world.rng(coco_counterfactuals.NAME), []
    folder = f"images/{coco_counterfactuals.NAME}"
    for number in range(70):
        base = held_out(rng.choice(("one", "placed", "two", "act")), rng)
        couple = base, apart(base, rng.choice((other_object, other_state)), rng)
        item: dict[str, Any] = {"id": number}
        for side, scene in enumerate(couple):
            photo = world.photo(f"{folder}/{number:04d}_{side}.jpg", scene)
            item |= {f"image_{side}": photo.name.removesuffix(".jpg"), f"caption_{side}": world.text(scene, PHOTO)}
        items.append(item)
    _write_lines(world.root / coco_counterfactuals.NAME / "examples.jsonl", items)


# ---- VALSE


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
    _write_json(world.root / valse.NAME / f"{name}.json", entries)


def _existing(world: World, photo: Photo, rng: Random) -> tuple[Photo, str, str]:
    """A thing that is there, and is denied, or one that is not, and is told."""
    first = photo.scene.first
    there = Scene(Thing(first.name, count=1 if first.count == 1 else SOME))
    missing = Scene(replace(other_subject(photo.scene, rng).first, states=(), size="", count=1))
    true, false = (there, _denied(there, rng)) if rng.randrange(2) else (_denied(missing, rng), missing)
    return photo, world.text(true), world.text(false)


def _plural(world: World, photo: Photo) -> tuple[Photo, str, str]:
    first = photo.scene.first
    one, some = (Scene(replace(first, states=(first.colour,), size="", count=count)) for count in (1, SOME))
    true, false = (one, some) if first.count == 1 else (some, one)
    return photo, world.text(true, PHOTO), world.text(false, PHOTO)


def _answered(photo: Photo, asked: Thing, name: str, rng: Random, world: World) -> tuple[Photo, str, str]:
    """A caption, a question about a colour, and its answer. What is asked about is "it", the caption's first thing, or
    is named.
    """
    told = caption(Scene(*(Thing(thing.name) for thing in photo.scene.things), relation=photo.scene.relation), PHOTO)
    colour = asked.colour if rng.randrange(2) else rng.choice([one for one in COLOURS if one != asked.colour])
    answers = ("yes", "no") if colour == asked.colour else ("no", "yes")
    true, false = (f"{told}. is {name} {colour}? {answer}." for answer in answers)
    return photo, true, false


def _draw_valse(world: World, val2017: list[Photo], val2014: list[Photo], swig: list[Photo]) -> None:
    rng = world.rng("valse")
    several = [
        replace(scene, first=replace(scene.first, count=2 + number % 3))
        for number, scene in enumerate(_of_kinds(rng, {"many": 30}))
    ]
    counted = _album(world, "images/visual7w/v7w_{}.jpg", [*several, *_of_kinds(rng, {"one": 10})])
    asked = _album(
        world, "images/visdial/VisualDialog_val2018/VisualDialog_val2018_{:012d}.jpg", _of_kinds(rng, {"two": 20})
    )
    others = _album(world, "images/coco/train2014/COCO_train2014_{:012d}.jpg", _of_kinds(rng, {"two": 20}))

    def pairs(photos: Iterable[Photo], change: Change, wording: Wording | None = None) -> list[tuple[Photo, str, str]]:
        return [(photo, *_pair(world, photo, change, rng, wording)) for photo in photos]

    few = [photo for photo in counted if photo.scene.first.count <= 2]
    hard = [photo for photo in counted if photo.scene.first.count > 1]
    singular = [photo for photo in val2017 if photo.scene.relation in PLACES][:24]
    plural = [photo for photo in val2017 if photo.scene.first.count > 1][:24]
    _foils(world, "existence", "visual7w", (_existing(world, photo, rng) for photo in counted))
    _foils(world, "plurals", "coco2017", (_plural(world, photo) for photo in [*singular, *plural]))
    _foils(world, "counting-hard", "visual7w", pairs(hard, other_number, PHOTO))
    _foils(world, "counting-small-quant", "visual7w", pairs(few, other_number, PHOTO))
    _foils(world, "counting-adversarial", "visual7w", pairs(counted, other_number, PLAIN))
    _foils(world, "relations", "coco_2017", pairs(_related(val2017, RELATIONS), other_relation))
    _foils(world, "action-replacement", "SWiG", pairs(swig, other_relation, Wording(sentence=True)))
    _foils(world, "actant-swap", "SWiG", pairs(swig, swapped_things, Wording(sentence=True)))
    _foils(
        world,
        "coreference-standard",
        "VisDial_v1.0",
        (_answered(photo, photo.scene.first, "it", rng, world) for photo in others),
    )
    named = ((photo, rng.choice(photo.scene.things)) for photo in asked)
    _foils(
        world,
        "coreference-hard",
        "VisDial_v1.0",
        (_answered(photo, thing, f"the {thing.name}", rng, world) for photo, thing in named),
    )
    _foils(world, "foil-it", "FOIL dataset", pairs(val2014[:60], other_object))


# ---- VL-Checklist


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
        return [(photo, _coloured_only(photo.scene)) for photo in _related(photos, relations)], other_relation
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


def _coloured_only(scene: Scene) -> Scene:
    return Scene(*(Thing(thing.name, (thing.colour,)) for thing in scene.things), relation=scene.relation)


def _draw_checklist(world: World, albums: Mapping[str, Sequence[Photo]]) -> None:
    """Albums by the folders of their pictures."""
    folder = world.root / vl_checklist.NAME / "data"
    for name in VL_CHECKLIST.leaves:
        leaf = name.removeprefix(f"{vl_checklist.NAME}/")
        corpus = leaf.partition("/")[2].split("_")[0] or "vg"
        below = vl_checklist.IMAGES[corpus]
        rng = world.rng(f"checklist/{leaf}")
        candidates, change = _checked(leaf, albums[below])
        order = rng.sample(candidates, len(candidates))
        items = []
        for number in range(CHECKED):
            photo, said = order[number % len(order)]
            false = world.text(false_of(photo.scene, said, change, rng), PHOTO)
            items.append([photo.path.removeprefix(f"{below}/"), {"POS": [world.text(said, PHOTO)], "NEG": [false]}])
        _write_json(folder / vl_checklist.file_of(leaf), items)


# ---- suites with pictures of their own


def _couples(world: World, pattern: str, scenes: Iterable[tuple[Scene, Scene]]) -> list[tuple[Photo, Photo]]:
    """Draw pairs into files whose names hold a pair's number and a side, 0 or 1."""
    return [
        (world.photo(pattern.format(number, 0), one), world.photo(pattern.format(number, 1), other))
        for number, (one, other) in enumerate(scenes)
    ]


EQBEN: Mapping[str, tuple[str, Change]] = {  # set -> kind of scenes, in what the pictures of a group differ
    "youcook2": ("act", swapped_names),
    "gebc": ("act", other_relation),
    "ag": ("two", other_relation),
    "kubric_loc": ("placed", other_relation),
    "kubric_cnt": ("many", other_number),
    "kubric_attr": ("one", other_state),
    "sd": ("one", other_object),
}


def _draw_eqben(world: World) -> None:
    items = []
    for name, (kind, change) in EQBEN.items():
        rng = world.rng(f"eqben/{name}")
        bases = [held_out(kind, rng) for _ in range(12)]
        scenes = [(base, apart(base, change, rng)) for base in bases]
        couples = _couples(world, f"{eqben.IMAGES}/{name}/{{:03d}}_{{}}.jpg", scenes)
        if name == "youcook2":
            couples = [(_as_array(world, one), _as_array(world, other)) for one, other in couples]
        for number, couple in enumerate(couples):
            for part in eqben.PARTS:
                image, told = couple[int(part[3])], couple[int(part[1])]
                info = {"dataset": f"eqben{name}", "name": part, "sample_cnt": number}
                items.append(
                    {
                        "image": image.path.removeprefix(f"{eqben.IMAGES}/"),
                        "caption": world.text(told.scene, PHOTO),
                        "private_info": info,
                    }
                )
    _write_json(world.root / eqben.NAME / eqben.FILE, world.rng("eqben").sample(items, len(items)))


def _as_array(world: World, photo: Photo) -> Photo:
    """The picture as YouCook2's frames are published: an array in the order blue, green, red."""
    path = photo.path.removesuffix(".jpg") + ".npy"
    with Image.open(world.root / photo.path) as picture:
        pixels = np.asarray(picture.convert("RGB"))[..., ::-1]
    np.save(world.root / path, np.ascontiguousarray(pixels), allow_pickle=False)
    (world.root / photo.path).unlink()
    world.shown[path] = world.shown.pop(photo.path)
    return replace(photo, path=path)


def _draw_imagecode(world: World) -> None:
    """Ten scenes in a folder, each a counterfactual of another, and none described by another's description."""
    document = {}
    for number in range(8):
        rng = world.rng(f"imagecode/{number}")
        scenes = [held_out("act" if number % 2 else "two", rng)]
        while len(scenes) < imagecode.CANDIDATES:
            change = rng.choice((other_object, other_state, other_relation, swapped_things, swapped_states))
            other = change(rng.choice(scenes), rng)
            if not any(holds(other, scene) or holds(scene, other) for scene in scenes):
                scenes.append(other)
        folder = f"open-images-{number:04d}" if number % 8 > 4 else f"drawn-video-{number:04d}-shot0_0"
        photos = [
            world.photo(f"{imagecode.IMAGES}/{folder}/img{place}.jpg", scene)
            for place, scene in enumerate(rng.sample(scenes, len(scenes)))
        ]
        document[folder] = {str(place): world.text(photo.scene, PHOTO) for place, photo in enumerate(photos)}
    _write_json(world.root / imagecode.NAME / imagecode.FILE, document)


def _told_apart(subset: str, rng: Random) -> list[tuple[Scene, Scene]]:
    """Scenes that differ in what a subset of SPEC is about, and what is said of each."""
    if subset == "existence":
        base = held_out("two", rng)
        bare = _coloured_only(base)
        absent = [
            Scene(thing, replace(other, count=NONE))
            for thing, other in zip(bare.things, bare.things[::-1], strict=True)
        ]
        alone = [Scene(base.first), Scene(base.second)] if base.second else []
        return list(zip(alone, absent, strict=True))
    kind = {"absolute_size": "one", "absolute_spatial": "placed", "count": "many"}.get(subset, "two")
    base = _coloured_only(held_out(kind, rng))
    if subset == "absolute_size":
        shown = [replace(base, first=replace(base.first, size=size)) for size in SIZES]
    elif subset == "relative_size":
        shown = [_sized(base, sizes) for sizes in (SIZES, SIZES[::-1])]
    elif subset == "count":
        shown = [replace(base, first=replace(base.first, count=count)) for count in (1, *NUMBERS)]
    else:
        places = PLACES if subset == "absolute_spatial" else RELATIONS
        shown = [replace(base, relation=relation) for relation in places]
    return [(scene, scene) for scene in shown]


def _sized(scene: Scene, sizes: Sequence[str]) -> Scene:
    things = (replace(thing, size=size) for thing, size in zip(scene.things, sizes, strict=True))
    return Scene(*things, relation=scene.relation)


def _draw_spec(world: World) -> None:
    for subset in SPEC_SUBSETS:
        rng, asked, told = world.rng(f"spec/{subset}"), [], []
        for number in range(7):
            scenes = _told_apart(subset, rng)
            photos = [
                world.photo(f"{spec.IMAGES}/{subset}/{number:03d}_{place}.jpg", shown)
                for place, (shown, _) in enumerate(scenes)
            ]
            names, texts = [photo.name for photo in photos], [world.text(said, PHOTO) for _, said in scenes]
            asked += [{"query": name, "keys": texts, "label": place} for place, name in enumerate(names)]
            told += [{"query": text, "keys": names, "label": place} for place, text in enumerate(texts)]
        _write_json(world.root / spec.NAME / subset / "image2text.json", asked)
        _write_json(world.root / spec.NAME / subset / "text2image.json", told)


def _draw_svo(world: World) -> None:
    rng, rows, number = world.rng("svo_probes"), [], 0
    changes: dict[str, Change] = {"subj_neg": other_subject, "verb_neg": other_relation, "obj_neg": other_target}
    for _ in range(24):
        base = held_out("act", rng)
        scenes = [base, *(apart(base, change, rng) for change in changes.values())]
        photos = [world.photo(f"{svo_probes.IMAGES}/{number + place}.jpg", one) for place, one in enumerate(scenes, 1)]
        numbers = [photo.name.removesuffix(".jpg") for photo in photos]
        number += len(photos)
        for place in range(1, len(photos)):
            marks = [place == column for column in range(1, 1 + len(changes))]
            for true, false in ((0, place), (place, 0)):
                sentence = world.text(photos[true].scene, Wording(sentence=True))
                rows.append((sentence, numbers[true], numbers[false], *marks))
    _write_rows(world.root / svo_probes.NAME / "svo_probes.csv", svo_probes.COLUMNS, rows)


def _draw_controlled(world: World) -> None:
    """WhatsUp's own pictures: the same things in each of four relations, and one thing at each of four places."""
    sets = (("a", "two", tuple(RELATIONS)), ("b", "placed", tuple(PLACES)))
    for name, kind, relations in sets:
        file, images = whatsup.CONTROLLED[name]
        rng, items = world.rng(f"whatsup/{name}"), []
        for number in range(12):
            base = _coloured_only(held_out(kind, rng))
            scenes = {relation: replace(base, relation=relation) for relation in relations}
            for relation, scene in scenes.items():
                path = f"{images}/{number:03d}_{relation.replace(' ', '-')}.jpeg"
                world.photo(f"{whatsup.IMAGES}/{path}", scene)
                false = [other for other in relations if other != relation]
                captions = [world.text(scenes[one], PHOTO) for one in (relation, *false)]
                items.append({"image_path": f"data/{path}", "caption_options": captions})
        _write_json(world.root / whatsup.NAME / file, items)


def _draw_winoground(world: World) -> None:
    rng, items = world.rng("winoground"), []
    changes = (swapped_things, swapped_states, swapped_names)
    for number in range(48):
        base = held_out("act" if number % 2 else "two", rng)
        base = base if number % 4 > 1 else _coloured_only(base)
        couple = base, apart(base, changes[number % 3], rng)
        item: dict[str, Any] = {"id": number}
        for side, scene in enumerate(couple):
            name = f"ex_{number}_img_{side}"
            world.photo(f"{winoground.IMAGES}/{name}.png", scene)
            item |= {f"image_{side}": name, f"caption_{side}": world.text(scene)}
        items.append(item)
    _write_lines(world.root / winoground.NAME / "examples.jsonl", items)


def _draw_colorswap(world: World) -> None:
    rng, items = world.rng("colorswap"), []
    for number in range(36):
        base = _coloured_only(held_out("two", rng))
        item: dict[str, Any] = {"id": number}
        for side, scene in enumerate((base, swapped_states(base, rng)), 1):
            name = f"images/img_{number}_{side}.png"
            world.photo(f"{colorswap.IMAGES}/{name}", scene)
            item |= {f"image_{side}": name, f"caption_{side}": world.text(replace(scene, relation=""))}
        items.append(item)
    _write_json(world.root / colorswap.NAME / "test.json", items)


def _draw_binding(world: World) -> None:
    """Each thing of a picture, against the other's colour or name, and one of neither."""
    rng, rows = world.rng("clip_binding"), []
    for number in range(30):
        base = _coloured_only(held_out("two", rng))
        photo = world.photo(f"{clip_binding.IMAGES}/{number:04d}.png", base)
        for thing, other in zip(base.things, base.things[::-1], strict=True):
            said = Scene(thing)
            false = [Scene(replace(thing, states=other.states)), Scene(replace(thing, name=other.name))]
            while len(false) < 4:
                new = rng.choice((other_state, other_object))(said, rng)
                if new not in false and not holds(new, base):
                    false.append(new)
            rows.append((photo.name, *(world.text(one) for one in (said, *false))))
    _write_rows(world.root / clip_binding.NAME / "two_object" / "gen.csv", ("file_name", *clip_binding.CAPTIONS), rows)


# ---- zero-shot classification


def _sets() -> dict[str, tuple[Look, Sequence[str], Callable[[str, Random], Scene]]]:
    """Set -> how it looks, its classes, and a scene of a class."""

    def object_of(name: str, rng: Random) -> Scene:
        return coloured(Scene(Thing(name)), rng)

    def state_of(state: str, rng: Random) -> Scene:
        scene = Scene(Thing(rng.choice(NAMES), (state,)))
        return scene if state in COLOURS else coloured(scene, rng)

    def number_of(number: str, rng: Random) -> Scene:
        count = {word: count for count, word in NUMBERS.items()}.get(number.split()[0], 1)
        return coloured(Scene(Thing("heart", count=count)), rng)

    return {
        "shapes": (SCENES, NAMES, object_of),
        "shapes-elsewhere": (CATALOGUE, NAMES, object_of),
        "colours": (WEB, tuple(QUALITIES["colour"]), state_of),
        "textures": (SCENES, tuple(QUALITIES["texture"]), state_of),
        "finishes": (CRAWL, tuple(QUALITIES["finish"]), state_of),
        "conditions": (WEB, tuple(QUALITIES["condition"]), state_of),
        "counts": (CRAWL, ("a heart", *(f"{word} hearts" for word in NUMBERS.values())), number_of),
    }


def _templates(name: str) -> list[str]:
    if name == "counts":
        return [f"a {opening} of {{}}" for opening in OPENINGS]
    if name.startswith("shapes"):
        return [f"a {opening} of a {{}}" for opening in OPENINGS]
    return [f"a photo of a {{}} {shape}" for shape in NAMES]


def _draw_classification(world: World) -> None:
    registry, folder = [], world.root / elevater.NAME
    prompts: dict[str, dict[str, Any]] = {"class_map": {}, "template_map": {}}
    for name, (look, classes, scene_of) in _sets().items():
        below, rng, lines = f"classification/{name}", world.rng(f"elevater/{name}"), []
        for number in range(SHOWN):
            label = number % len(classes)
            world.photo(f"{elevater.IMAGES}/{below}/test/{number:05d}.png", scene_of(classes[label], rng), look)
            lines.append(f"test.zip@{number:05d}.png {label}\n")
        _write(folder / below / "test.txt", "".join(lines))
        prompts["class_map"][name], prompts["template_map"][name] = list(classes), _templates(name)
        registry.append(
            {
                "name": name,
                "type": "classification_multiclass",
                "root_folder": below,
                "num_classes": len(classes),
                "test": {"index_path": "test.txt", "files_for_local_usage": ["test.zip"], "num_images": SHOWN},
            }
        )
    _write_json(folder / elevater.PROMPTS, prompts)
    _write_json(folder / elevater.REGISTRY, registry)


# ---- all of them


def draw_world(world: World) -> None:
    """Draw all pictures of a world, and write the files of all suites."""
    rng = world.rng("albums")
    genome = _visual_genome(world)
    val2017 = _album(
        world, "images/coco/val2017/{:012d}.jpg", _of_kinds(rng, {"two": 80, "act": 50, "many": 25, "placed": 25})
    )
    mixed = {"one": 20, "many": 20, "placed": 15, "two": 70, "act": 35}
    val2014 = _album(world, "images/coco/val2014/COCO_val2014_{:012d}.jpg", _shuffled(_of_kinds(rng, mixed), rng))
    flickr = _album(
        world, "images/flickr30k/flickr30k-images/{:010d}.jpg", _shuffled(_of_kinds(rng, mixed), rng)[:140], WEB
    )
    swig = _album(world, "images/swig/{}.jpg", _of_kinds(rng, {"act": 40}))
    hake = _album(world, "images/hake/vcoco/{:06d}.jpg", _of_kinds(rng, {"act": 12, "two": 8}))
    _draw_aro(world, genome)
    _draw_order(world, "coco_order", val2014, aro.ORDERS["coco_order"])
    _draw_order(world, "flickr30k_order", flickr, aro.ORDERS["flickr30k_order"])
    _draw_crepe(world, genome)
    _draw_comvg(world, genome)
    _draw_questions(world, "vg", genome)
    _draw_questions(world, "coco", val2017)
    _draw_controlled(world)
    _draw_sugarcrepe(world, val2017)
    _draw_valse(world, val2017, val2014, swig)
    _draw_checklist(world, {"images/vg": genome, "images/swig": swig, "images/hake": hake})
    _draw_eqben(world)
    _draw_imagecode(world)
    _draw_spec(world)
    _draw_svo(world)
    _draw_winoground(world)
    _draw_colorswap(world)
    _draw_binding(world)
    _retrieved(world, "coco", "coco_karpathy_test.json", val2014, "images/coco")
    _retrieved(world, "flickr30k", "flickr30k_test.json", flickr, "images/flickr30k")
    _draw_counterfactuals(world)
    _draw_classification(world)


def _shuffled(scenes: Sequence[Scene], rng: Random) -> list[Scene]:
    return rng.sample(list(scenes), len(scenes))


def draw(root: Path, *, seed: int) -> None:
    """Draw all suites into ``root``. The same seed gives the same bytes; another one is another world."""
    draw_world(World(root, seed))


def read(root: Path) -> Iterator[Suite]:
    """Read and check the suites.

    Raises:
        DataError: a file is absent, or not as it was drawn.
    """
    for form in FORMATS:
        yield form.read(root)
    yield _read_classification(root)


def _read_classification(root: Path) -> Suite:
    """All drawn sets, under their own names: ELEVATER's are those that its toolkit knows."""
    folder, collector, tasks = root / elevater.NAME, Collector(), {}
    prompts = elevater.tables(folder)
    for entry in read_items(folder / elevater.REGISTRY, elevater.LAYOUT):
        name, images = entry.text("name"), f"{elevater.IMAGES}/{entry.text('root_folder')}"
        classes = elevater.prompts_of(prompts, name)
        shown = elevater.from_lines(elevater.index_of(entry, folder), images, len(classes.names))
        tasks[f"{elevater.NAME}/{name}"] = Classes(
            np.array([collector.image(image.path) for image in shown], dtype=np.int64),
            np.array([image.labels[0] for image in shown], dtype=np.int64),
            tuple(tuple(collector.text(prompt) for prompt in of_class) for of_class in classes.prompts),
            classes.names,
        )
    return collector.suite(elevater.NAME, tasks)
