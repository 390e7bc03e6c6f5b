"""Suites with their own pictures: EqBen, ImageCoDe, SPEC, SVO-Probes, WhatsUp, Winoground, ColorSwap, CLIP-Binding."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random

import numpy as np
from PIL import Image

from recompose.synthetic.scenes import RELATIONS
from recompose.synthetic.sentences import NONE, NUMBERS, PLACES, SIZES, Scene, Wording, caption, is_true_of
from recompose.tracks.vlc.data.formats import clip_binding, eqben, imagecode, spec, svo_probes, whatsup
from recompose.tracks.vlc.data.synthetic_suites import changes
from recompose.tracks.vlc.data.synthetic_suites.photos import (
    PHOTO,
    Photo,
    SuiteReplicate,
    held_out_scene,
    keep_colours,
    map_entities,
)

EQBEN: Mapping[str, tuple[str, changes.Change]] = {  # set -> kind of scenes, difference of the pictures of a group
    "youcook2": ("act", changes.swap_names),
    "gebc": ("act", changes.replace_relation),
    "ag": ("two", changes.replace_relation),
    "kubric_loc": ("placed", changes.replace_relation),
    "kubric_cnt": ("many", changes.replace_number),
    "kubric_attr": ("one", changes.replace_state),
    "sd": ("one", changes.replace_object),
}


def draw_eqben(replicate: SuiteReplicate) -> None:
    """Draw EqBen: pairs of pictures that differ in one aspect, which depends on the set."""
    items = []
    for name, (kind, change) in EQBEN.items():
        rng = replicate.rng(f"eqben/{name}")
        bases = [held_out_scene(kind, rng) for _ in range(replicate.items(12))]
        for number, couple in enumerate([(base, changes.counterfactual(base, change, rng)) for base in bases]):
            drawn = [
                replicate.photo(f"images/eqben/{name}/{number:03d}_{side}.jpg", scene)
                for side, scene in enumerate(couple)
            ]
            if name == "youcook2":
                drawn = [_as_array(replicate, photo) for photo in drawn]
            for part in eqben.PARTS:
                image, described = drawn[int(part[3])], drawn[int(part[1])]
                info = {"dataset": f"eqben{name}", "name": part, "sample_cnt": number}
                path, text = image.path.removeprefix("images/eqben/"), caption(described.scene, PHOTO)
                items.append({"image": path, "caption": text, "private_info": info})
    replicate.write_json(f"eqben/{eqben.FILE}", replicate.rng("eqben").sample(items, len(items)))


def _as_array(replicate: SuiteReplicate, photo: Photo) -> Photo:
    """Convert a picture to the form of YouCook2's frames: an array in the order blue, green, red."""
    path = photo.path.removesuffix(".jpg") + ".npy"
    with Image.open(replicate.root / photo.path) as picture:
        pixels = np.asarray(picture.convert("RGB"))[..., ::-1]
    np.save(replicate.root / path, np.ascontiguousarray(pixels), allow_pickle=False)
    (replicate.root / photo.path).unlink()
    replicate.scenes[path] = replicate.scenes.pop(photo.path)
    return replace(photo, path=path)


IMAGECODE: Sequence[changes.Change] = (
    *(changes.replace_object, changes.replace_state, changes.replace_relation),
    *(changes.swap_entities, changes.swap_states),
)


def draw_imagecode(replicate: SuiteReplicate) -> None:
    """Draw ImageCoDe: ten scenes in a folder, each a counterfactual of another, none true of another's description."""
    document, folders = {}, replicate.items(8)
    for number in range(folders):
        rng = replicate.rng(f"imagecode/{number}")
        scenes = [held_out_scene("act" if number % 2 else "two", rng)]
        while len(scenes) < imagecode.CANDIDATES:
            changed = rng.choice(IMAGECODE)(rng.choice(scenes), rng)
            if not any(is_true_of(changed, scene) or is_true_of(scene, changed) for scene in scenes):
                scenes.append(changed)
        folder = f"open-images-{number:04d}" if 8 * (number + 1) > 5 * folders else f"drawn-video-{number:04d}-shot0_0"
        photos = [
            replicate.photo(f"images/imagecode/{folder}/img{place}.jpg", scene)
            for place, scene in enumerate(rng.sample(scenes, len(scenes)))
        ]
        document[folder] = {str(place): caption(photo.scene, PHOTO) for place, photo in enumerate(photos)}
    replicate.write_json(f"imagecode/{imagecode.FILE}", document)


def _contrasting_scenes(subset: str, rng: Random) -> list[tuple[Scene, Scene]]:
    """Return scenes that differ in the aspect of a subset of SPEC, each with its statement."""
    kind = {"absolute_size": "one", "absolute_spatial": "placed", "count": "many"}.get(subset, "two")
    whole = held_out_scene(kind, rng)
    base = keep_colours(whole)
    if subset == "existence":
        couples = zip(whole.entities, base.entities, reversed(base.entities), strict=True)
        return [(Scene(alone), Scene(entity, replace(other, count=NONE))) for alone, entity, other in couples]
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
    for subset in spec.SUBSETS:
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
        replicate.write_json(f"spec/{subset}/image2text.json", image_queries)
        replicate.write_json(f"spec/{subset}/text2image.json", text_queries)


SVO: Mapping[str, changes.Change] = {
    "subj_neg": changes.replace_subject,
    "verb_neg": changes.replace_relation,
    "obj_neg": changes.replace_target,
}


def draw_svo_probes(replicate: SuiteReplicate) -> None:
    """Draw SVO-Probes: an agent, an action and a target, with each replaced; every picture is compared with its
    base.
    """
    rng, rows = replicate.rng("svo_probes"), []
    for number in range(replicate.items(24)):
        base = held_out_scene("act", rng)
        scenes = [base, *(changes.counterfactual(base, change, rng) for change in SVO.values())]
        photos = [
            replicate.photo(f"images/svo_probes/{len(scenes) * number + place}.jpg", scene)
            for place, scene in enumerate(scenes, 1)
        ]
        for place, name in enumerate(SVO, 1):
            marks = [name == column for column in SVO]
            for true, false in ((photos[0], photos[place]), (photos[place], photos[0])):
                rows.append((caption(true.scene, Wording(sentence=True)), true.stem, false.stem, *marks))
    replicate.write_rows("svo_probes/svo_probes.csv", svo_probes.COLUMNS, rows)


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
        replicate.write_json(f"whatsup/{file}", items)


def draw_winoground(replicate: SuiteReplicate) -> None:
    """Draw Winoground: pairs whose captions have the same words."""
    rng, items = replicate.rng("winoground"), []
    swaps = (changes.swap_entities, changes.swap_states, changes.swap_names)
    for number in range(replicate.items(48)):
        base = held_out_scene("act" if number % 2 else "two", rng)
        base = base if number % 4 > 1 else keep_colours(base)
        couple = base, changes.counterfactual(base, swaps[number % 3], rng)
        images, names = "images/winoground/{}.png", "ex_{}_img_{}"
        items.append(replicate.draw_pair(number, images, names, couple, map(caption, couple)))
    replicate.write_lines("winoground/examples.jsonl", items)


def draw_colorswap(replicate: SuiteReplicate) -> None:
    """Draw ColorSwap: pairs with exchanged colours."""
    rng, items = replicate.rng("colorswap"), []
    for number in range(replicate.items(36)):
        base = keep_colours(held_out_scene("two", rng))
        couple = base, changes.swap_states(base, rng)
        captions = [caption(replace(scene, relation="")) for scene in couple]
        images, names = "images/colorswap/{}", "images/img_{}_{}.png"
        items.append(replicate.draw_pair(number, images, names, couple, captions, first=1))
    replicate.write_json("colorswap/test.json", items)


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
                candidate = rng.choice((changes.replace_state, changes.replace_object))(statement, rng)
                if candidate not in false and not is_true_of(candidate, base):
                    false.append(candidate)
            rows.append((photo.name, *(caption(option) for option in (statement, *false))))
    replicate.write_rows("clip_binding/two_object/gen.csv", ("file_name", *clip_binding.CAPTIONS), rows)


SUITES: Sequence[Callable[[SuiteReplicate], None]] = (
    *(draw_controlled, draw_eqben, draw_imagecode, draw_spec),
    *(draw_svo_probes, draw_winoground, draw_colorswap, draw_clip_binding),
)
