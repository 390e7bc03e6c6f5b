"""Suites with their own pictures: EqBen, ImageCoDe, SPEC, SVO-Probes, WhatsUp, Winoground, ColorSwap, CLIP-Binding."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from random import Random

import numpy as np
from PIL import Image

from recompose.synthetic.scenes import RELATIONS
from recompose.synthetic.sentences import NONE, NUMBERS, PLACES, SIZES, Scene, Wording, caption, is_true_of
from recompose.tracks.vlc.data.formats import (
    clip_binding,
    eqben,
    imagecode,
    svo_probes,
    whatsup,
)
from recompose.tracks.vlc.data.formats.spec import SUBSETS as SPEC_SUBSETS
from recompose.tracks.vlc.data.synthetic_suites.counterfactuals import (
    Change,
    counterfactual,
    replace_number,
    replace_object,
    replace_relation,
    replace_state,
    replace_subject,
    replace_target,
    swap_entities,
    swap_names,
    swap_states,
)
from recompose.tracks.vlc.data.synthetic_suites.files import write_json, write_lines, write_rows
from recompose.tracks.vlc.data.synthetic_suites.photos import (
    Photo,
    SuiteReplicate,
    held_out_scene,
    keep_colours,
    map_entities,
)
from recompose.tracks.vlc.data.synthetic_suites.questions import PHOTO


def _couples(
    replicate: SuiteReplicate, pattern: str, scenes: Iterable[tuple[Scene, Scene]]
) -> list[tuple[Photo, Photo]]:
    """Draw pairs into files whose names hold the number of the pair and a side, 0 or 1."""
    return [
        (replicate.photo(pattern.format(number, 0), first), replicate.photo(pattern.format(number, 1), second))
        for number, (first, second) in enumerate(scenes)
    ]


EQBEN: Mapping[str, tuple[str, Change]] = {  # set -> kind of scenes, difference of the pictures of a group
    "youcook2": ("act", swap_names),
    "gebc": ("act", replace_relation),
    "ag": ("two", replace_relation),
    "kubric_loc": ("placed", replace_relation),
    "kubric_cnt": ("many", replace_number),
    "kubric_attr": ("one", replace_state),
    "sd": ("one", replace_object),
}


def draw_eqben(replicate: SuiteReplicate) -> None:
    """Draw EqBen: pairs of pictures that differ in one aspect, which depends on the set."""
    items = []
    for name, (kind, change) in EQBEN.items():
        rng = replicate.rng(f"eqben/{name}")
        bases = [held_out_scene(kind, rng) for _ in range(replicate.items(12))]
        scenes = [(base, counterfactual(base, change, rng)) for base in bases]
        couples = _couples(replicate, f"images/eqben/{name}/{{:03d}}_{{}}.jpg", scenes)
        if name == "youcook2":
            couples = [(_as_array(replicate, first), _as_array(replicate, second)) for first, second in couples]
        for number, couple in enumerate(couples):
            for part in eqben.PARTS:
                image, described = couple[int(part[3])], couple[int(part[1])]
                info = {"dataset": f"eqben{name}", "name": part, "sample_cnt": number}
                items.append(
                    {
                        "image": image.path.removeprefix("images/eqben/"),
                        "caption": caption(described.scene, PHOTO),
                        "private_info": info,
                    }
                )
    write_json(replicate.root / "eqben" / eqben.FILE, replicate.rng("eqben").sample(items, len(items)))


def _as_array(replicate: SuiteReplicate, photo: Photo) -> Photo:
    """Convert a picture to the form of YouCook2's frames: an array in the order blue, green, red."""
    path = photo.path.removesuffix(".jpg") + ".npy"
    with Image.open(replicate.root / photo.path) as picture:
        pixels = np.asarray(picture.convert("RGB"))[..., ::-1]
    np.save(replicate.root / path, np.ascontiguousarray(pixels), allow_pickle=False)
    (replicate.root / photo.path).unlink()
    replicate.scenes[path] = replicate.scenes.pop(photo.path)
    return replace(photo, path=path)


def draw_imagecode(replicate: SuiteReplicate) -> None:
    """Draw ImageCoDe: ten scenes in a folder, each a counterfactual of another, none true of another's description."""
    document, folders = {}, replicate.items(8)
    for number in range(folders):
        rng = replicate.rng(f"imagecode/{number}")
        scenes = [held_out_scene("act" if number % 2 else "two", rng)]
        while len(scenes) < imagecode.CANDIDATES:
            change = rng.choice((replace_object, replace_state, replace_relation, swap_entities, swap_states))
            changed = change(rng.choice(scenes), rng)
            if not any(is_true_of(changed, scene) or is_true_of(scene, changed) for scene in scenes):
                scenes.append(changed)
        folder = f"open-images-{number:04d}" if 8 * (number + 1) > 5 * folders else f"drawn-video-{number:04d}-shot0_0"
        photos = [
            replicate.photo(f"images/imagecode/{folder}/img{place}.jpg", scene)
            for place, scene in enumerate(rng.sample(scenes, len(scenes)))
        ]
        document[folder] = {str(place): caption(photo.scene, PHOTO) for place, photo in enumerate(photos)}
    write_json(replicate.root / "imagecode" / imagecode.FILE, document)


def _contrasting_scenes(subset: str, rng: Random) -> list[tuple[Scene, Scene]]:
    """Return scenes that differ in the aspect of a subset of SPEC, each with its statement."""
    if subset == "existence":
        base = held_out_scene("two", rng)
        bare = keep_colours(base)
        absent = [
            Scene(entity, replace(other_entity, count=NONE))
            for entity, other_entity in zip(bare.entities, bare.entities[::-1], strict=True)
        ]
        alone = [Scene(base.first), Scene(base.second)] if base.second else []
        return list(zip(alone, absent, strict=True))
    kind = {"absolute_size": "one", "absolute_spatial": "placed", "count": "many"}.get(subset, "two")
    base = keep_colours(held_out_scene(kind, rng))
    if subset == "absolute_size":
        scenes = [replace(base, first=replace(base.first, size=size)) for size in SIZES]
    elif subset == "relative_size":
        scenes = [_with_sizes(base, sizes) for sizes in (SIZES, SIZES[::-1])]
    elif subset == "count":
        scenes = [replace(base, first=replace(base.first, count=count)) for count in (1, *NUMBERS)]
    else:
        places = PLACES if subset == "absolute_spatial" else RELATIONS
        scenes = [replace(base, relation=relation) for relation in places]
    return [(scene, scene) for scene in scenes]


def _with_sizes(scene: Scene, sizes: Sequence[str]) -> Scene:
    size_of = dict(zip(scene.entities, sizes, strict=True))
    return map_entities(scene, lambda entity: replace(entity, size=size_of[entity]))


def draw_spec(replicate: SuiteReplicate) -> None:
    """Draw SPEC: scenes that differ in one aspect; each is selected by its caption, and each caption by its scene."""
    for subset in SPEC_SUBSETS:
        rng, image_queries, text_queries = replicate.rng(f"spec/{subset}"), [], []
        for number in range(replicate.items(7)):
            scenes = _contrasting_scenes(subset, rng)
            photos = [
                replicate.photo(f"images/spec/{subset}/{number:03d}_{place}.jpg", scene)
                for place, (scene, _) in enumerate(scenes)
            ]
            names, texts = [photo.name for photo in photos], [caption(statement, PHOTO) for _, statement in scenes]
            image_queries += [{"query": name, "keys": texts, "label": place} for place, name in enumerate(names)]
            text_queries += [{"query": text, "keys": names, "label": place} for place, text in enumerate(texts)]
        write_json(replicate.root / "spec" / subset / "image2text.json", image_queries)
        write_json(replicate.root / "spec" / subset / "text2image.json", text_queries)


def draw_svo_probes(replicate: SuiteReplicate) -> None:
    """Draw SVO-Probes: an agent, an action and a target, with each replaced; every picture is compared with its
    base.
    """
    rng, rows, number = replicate.rng("svo_probes"), [], 0
    changes: dict[str, Change] = {"subj_neg": replace_subject, "verb_neg": replace_relation, "obj_neg": replace_target}
    for _ in range(replicate.items(24)):
        base = held_out_scene("act", rng)
        scenes = [base, *(counterfactual(base, change, rng) for change in changes.values())]
        photos = [
            replicate.photo(f"images/svo_probes/{number + place}.jpg", scene) for place, scene in enumerate(scenes, 1)
        ]
        numbers = [photo.name.removesuffix(".jpg") for photo in photos]
        number += len(photos)
        for place in range(1, len(photos)):
            marks = [place == column for column in range(1, 1 + len(changes))]
            for true, false in ((0, place), (place, 0)):
                sentence = caption(photos[true].scene, Wording(sentence=True))
                rows.append((sentence, numbers[true], numbers[false], *marks))
    write_rows(replicate.root / "svo_probes/svo_probes.csv", svo_probes.COLUMNS, rows)


def draw_controlled(replicate: SuiteReplicate) -> None:
    """Draw WhatsUp's own pictures: the same entities in each of four relations, and one entity at each of four
    places.
    """
    sets = (("a", "two", tuple(RELATIONS)), ("b", "placed", tuple(PLACES)))
    for name, kind, relations in sets:
        file, images = whatsup.CONTROLLED[name]
        rng, items = replicate.rng(f"whatsup/{name}"), []
        for number in range(replicate.items(12)):
            base = keep_colours(held_out_scene(kind, rng))
            scenes = {relation: replace(base, relation=relation) for relation in relations}
            for relation, scene in scenes.items():
                path = f"{images}/{number:03d}_{relation.replace(' ', '-')}.jpeg"
                replicate.photo(f"images/whatsup/{path}", scene)
                false = [alternative for alternative in relations if alternative != relation]
                captions = [caption(scenes[option], PHOTO) for option in (relation, *false)]
                items.append({"image_path": f"data/{path}", "caption_options": captions})
        write_json(replicate.root / "whatsup" / file, items)


def draw_winoground(replicate: SuiteReplicate) -> None:
    """Draw Winoground: pairs whose captions have the same words."""
    rng, items = replicate.rng("winoground"), []
    changes = (swap_entities, swap_states, swap_names)
    for number in range(replicate.items(48)):
        base = held_out_scene("act" if number % 2 else "two", rng)
        base = base if number % 4 > 1 else keep_colours(base)
        couple = base, counterfactual(base, changes[number % 3], rng)
        item: dict[str, object] = {"id": number}
        for side, scene in enumerate(couple):
            name = f"ex_{number}_img_{side}"
            replicate.photo(f"images/winoground/{name}.png", scene)
            item |= {f"image_{side}": name, f"caption_{side}": caption(scene)}
        items.append(item)
    write_lines(replicate.root / "winoground/examples.jsonl", items)


def draw_colorswap(replicate: SuiteReplicate) -> None:
    """Draw ColorSwap: pairs with exchanged colours."""
    rng, items = replicate.rng("colorswap"), []
    for number in range(replicate.items(36)):
        base = keep_colours(held_out_scene("two", rng))
        item: dict[str, object] = {"id": number}
        for side, scene in enumerate((base, swap_states(base, rng)), 1):
            name = f"images/img_{number}_{side}.png"
            replicate.photo(f"images/colorswap/{name}", scene)
            item |= {f"image_{side}": name, f"caption_{side}": caption(replace(scene, relation=""))}
        items.append(item)
    write_json(replicate.root / "colorswap/test.json", items)


def draw_clip_binding(replicate: SuiteReplicate) -> None:
    """Draw CLIP-Binding: each entity of a picture, against the other's colour or name, and random false ones."""
    rng, rows = replicate.rng("clip_binding"), []
    for number in range(replicate.items(30)):
        base = keep_colours(held_out_scene("two", rng))
        photo = replicate.photo(f"images/clip_binding/{clip_binding.FOLDER}/{number:04d}.png", base)
        for entity, other_entity in zip(base.entities, base.entities[::-1], strict=True):
            statement = Scene(entity)
            false = [Scene(replace(entity, states=other_entity.states)), Scene(replace(entity, name=other_entity.name))]
            while len(false) < 4:
                candidate = rng.choice((replace_state, replace_object))(statement, rng)
                if candidate not in false and not is_true_of(candidate, base):
                    false.append(candidate)
            rows.append((photo.name, *(caption(option) for option in (statement, *false))))
    write_rows(replicate.root / "clip_binding/two_object/gen.csv", ("file_name", *clip_binding.CAPTIONS), rows)
