"""Suites with pictures of their own: EqBen, ImageCoDe, SPEC, SVO-Probes, WhatsUp, Winoground, ColorSwap,
CLIP-Binding.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
from PIL import Image

from recompose.synthetic.scenes import RELATIONS
from recompose.synthetic.sentences import NONE, NUMBERS, PLACES, SIZES, Scene, Wording, caption, holds
from recompose.tracks.vlc.data.drawn.asking import PHOTO
from recompose.tracks.vlc.data.drawn.counterfactuals import (
    Change,
    apart,
    other_number,
    other_object,
    other_relation,
    other_state,
    other_subject,
    other_target,
    swapped_names,
    swapped_states,
    swapped_things,
)
from recompose.tracks.vlc.data.drawn.files import write_json, write_lines, write_rows
from recompose.tracks.vlc.data.drawn.world import Photo, World, coloured_only, held_out, of_each
from recompose.tracks.vlc.data.formats import (
    clip_binding,
    colorswap,
    eqben,
    imagecode,
    spec,
    svo_probes,
    whatsup,
    winoground,
)
from recompose.tracks.vlc.suites.aggregation import SPEC_SUBSETS


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


def draw_eqben(world: World) -> None:
    """Draw EqBen: couples of pictures that differ in one thing, another one in each set."""
    items = []
    for name, (kind, change) in EQBEN.items():
        rng = world.rng(f"eqben/{name}")
        bases = [held_out(kind, rng) for _ in range(world.items(12))]
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
                        "caption": caption(told.scene, PHOTO),
                        "private_info": info,
                    }
                )
    write_json(world.root / eqben.NAME / eqben.FILE, world.rng("eqben").sample(items, len(items)))


def _as_array(world: World, photo: Photo) -> Photo:
    """The picture as YouCook2's frames are published: an array in the order blue, green, red."""
    path = photo.path.removesuffix(".jpg") + ".npy"
    with Image.open(world.root / photo.path) as picture:
        pixels = np.asarray(picture.convert("RGB"))[..., ::-1]
    np.save(world.root / path, np.ascontiguousarray(pixels), allow_pickle=False)
    (world.root / photo.path).unlink()
    world.shown[path] = world.shown.pop(photo.path)
    return replace(photo, path=path)


def draw_imagecode(world: World) -> None:
    """Ten scenes in a folder, each a counterfactual of another, and none described by another's description."""
    document, folders = {}, world.items(8)
    for number in range(folders):
        rng = world.rng(f"imagecode/{number}")
        scenes = [held_out("act" if number % 2 else "two", rng)]
        while len(scenes) < imagecode.CANDIDATES:
            change = rng.choice((other_object, other_state, other_relation, swapped_things, swapped_states))
            other = change(rng.choice(scenes), rng)
            if not any(holds(other, scene) or holds(scene, other) for scene in scenes):
                scenes.append(other)
        folder = f"open-images-{number:04d}" if 8 * (number + 1) > 5 * folders else f"drawn-video-{number:04d}-shot0_0"
        photos = [
            world.photo(f"{imagecode.IMAGES}/{folder}/img{place}.jpg", scene)
            for place, scene in enumerate(rng.sample(scenes, len(scenes)))
        ]
        document[folder] = {str(place): caption(photo.scene, PHOTO) for place, photo in enumerate(photos)}
    write_json(world.root / imagecode.NAME / imagecode.FILE, document)


def _told_apart(subset: str, rng: Random) -> list[tuple[Scene, Scene]]:
    """Scenes that differ in what a subset of SPEC is about, and what is said of each."""
    if subset == "existence":
        base = held_out("two", rng)
        bare = coloured_only(base)
        absent = [
            Scene(thing, replace(other, count=NONE))
            for thing, other in zip(bare.things, bare.things[::-1], strict=True)
        ]
        alone = [Scene(base.first), Scene(base.second)] if base.second else []
        return list(zip(alone, absent, strict=True))
    kind = {"absolute_size": "one", "absolute_spatial": "placed", "count": "many"}.get(subset, "two")
    base = coloured_only(held_out(kind, rng))
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
    told = dict(zip(scene.things, sizes, strict=True))
    return of_each(scene, lambda thing: replace(thing, size=told[thing]))


def draw_spec(world: World) -> None:
    """Draw SPEC: of scenes that differ in one thing each is asked for by its caption, and each caption by its scene."""
    for subset in SPEC_SUBSETS:
        rng, asked, told = world.rng(f"spec/{subset}"), [], []
        for number in range(world.items(7)):
            scenes = _told_apart(subset, rng)
            photos = [
                world.photo(f"{spec.IMAGES}/{subset}/{number:03d}_{place}.jpg", shown)
                for place, (shown, _) in enumerate(scenes)
            ]
            names, texts = [photo.name for photo in photos], [caption(said, PHOTO) for _, said in scenes]
            asked += [{"query": name, "keys": texts, "label": place} for place, name in enumerate(names)]
            told += [{"query": text, "keys": names, "label": place} for place, text in enumerate(texts)]
        write_json(world.root / spec.NAME / subset / "image2text.json", asked)
        write_json(world.root / spec.NAME / subset / "text2image.json", told)


def draw_svo_probes(world: World) -> None:
    """Draw SVO-Probes: who does what to whom, with another of each; every picture is asked for against its base."""
    rng, rows, number = world.rng("svo_probes"), [], 0
    changes: dict[str, Change] = {"subj_neg": other_subject, "verb_neg": other_relation, "obj_neg": other_target}
    for _ in range(world.items(24)):
        base = held_out("act", rng)
        scenes = [base, *(apart(base, change, rng) for change in changes.values())]
        photos = [world.photo(f"{svo_probes.IMAGES}/{number + place}.jpg", one) for place, one in enumerate(scenes, 1)]
        numbers = [photo.name.removesuffix(".jpg") for photo in photos]
        number += len(photos)
        for place in range(1, len(photos)):
            marks = [place == column for column in range(1, 1 + len(changes))]
            for true, false in ((0, place), (place, 0)):
                sentence = caption(photos[true].scene, Wording(sentence=True))
                rows.append((sentence, numbers[true], numbers[false], *marks))
    write_rows(world.root / svo_probes.NAME / "svo_probes.csv", svo_probes.COLUMNS, rows)


def draw_controlled(world: World) -> None:
    """WhatsUp's own pictures: the same things in each of four relations, and one thing at each of four places."""
    sets = (("a", "two", tuple(RELATIONS)), ("b", "placed", tuple(PLACES)))
    for name, kind, relations in sets:
        file, images = whatsup.CONTROLLED[name]
        rng, items = world.rng(f"whatsup/{name}"), []
        for number in range(world.items(12)):
            base = coloured_only(held_out(kind, rng))
            scenes = {relation: replace(base, relation=relation) for relation in relations}
            for relation, scene in scenes.items():
                path = f"{images}/{number:03d}_{relation.replace(' ', '-')}.jpeg"
                world.photo(f"{whatsup.IMAGES}/{path}", scene)
                false = [other for other in relations if other != relation]
                captions = [caption(scenes[one], PHOTO) for one in (relation, *false)]
                items.append({"image_path": f"data/{path}", "caption_options": captions})
        write_json(world.root / whatsup.NAME / file, items)


def draw_winoground(world: World) -> None:
    """Draw Winoground: couples whose captions have the same words."""
    rng, items = world.rng("winoground"), []
    changes = (swapped_things, swapped_states, swapped_names)
    for number in range(world.items(48)):
        base = held_out("act" if number % 2 else "two", rng)
        base = base if number % 4 > 1 else coloured_only(base)
        couple = base, apart(base, changes[number % 3], rng)
        item: dict[str, Any] = {"id": number}
        for side, scene in enumerate(couple):
            name = f"ex_{number}_img_{side}"
            world.photo(f"{winoground.IMAGES}/{name}.png", scene)
            item |= {f"image_{side}": name, f"caption_{side}": caption(scene)}
        items.append(item)
    write_lines(world.root / winoground.NAME / "examples.jsonl", items)


def draw_colorswap(world: World) -> None:
    """Draw ColorSwap: couples with exchanged colours."""
    rng, items = world.rng("colorswap"), []
    for number in range(world.items(36)):
        base = coloured_only(held_out("two", rng))
        item: dict[str, Any] = {"id": number}
        for side, scene in enumerate((base, swapped_states(base, rng)), 1):
            name = f"images/img_{number}_{side}.png"
            world.photo(f"{colorswap.IMAGES}/{name}", scene)
            item |= {f"image_{side}": name, f"caption_{side}": caption(replace(scene, relation=""))}
        items.append(item)
    write_json(world.root / colorswap.NAME / "test.json", items)


def draw_clip_binding(world: World) -> None:
    """Each thing of a picture, against the other's colour or name, and one of neither."""
    rng, rows = world.rng("clip_binding"), []
    for number in range(world.items(30)):
        base = coloured_only(held_out("two", rng))
        photo = world.photo(f"{clip_binding.IMAGES}/{number:04d}.png", base)
        for thing, other in zip(base.things, base.things[::-1], strict=True):
            said = Scene(thing)
            false = [Scene(replace(thing, states=other.states)), Scene(replace(thing, name=other.name))]
            while len(false) < 4:
                new = rng.choice((other_state, other_object))(said, rng)
                if new not in false and not holds(new, base):
                    false.append(new)
            rows.append((photo.name, *(caption(one) for one in (said, *false))))
    write_rows(world.root / clip_binding.NAME / "two_object" / "gen.csv", ("file_name", *clip_binding.CAPTIONS), rows)
