"""Suites on COCO's pictures: SugarCrepe, WhatsUp's questions, retrieval."""

from dataclasses import replace
from typing import Any

from recompose.synthetic.scenes import RELATIONS
from recompose.synthetic.sentences import PLACES, Scene, caption, choose_wording
from recompose.tracks.vlc.data.formats import coco_counterfactuals, sugarcrepe, whatsup
from recompose.tracks.vlc.data.synthetic_suites.counterfactuals import (
    Change,
    added_object,
    added_state,
    apart,
    false_of,
    other_object,
    other_relation,
    other_state,
    swapped_names,
    swapped_states,
)
from recompose.tracks.vlc.data.synthetic_suites.files import numbered, write_json, write_lines
from recompose.tracks.vlc.data.synthetic_suites.photos import HELD_OUT, Photo, World, held_out, mentioned
from recompose.tracks.vlc.data.synthetic_suites.questions import PHOTO, cycled, opened, related, true_and_false

SUGAR = 80  # items of a set of SugarCrepe


def draw_sugarcrepe(world: World, album: list[Photo]) -> None:
    """Write SugarCrepe's seven files."""
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
        for photo in cycled(couples, world.items(SUGAR), rng):
            wording, said = opened(rng), mentioned(photo.scene, rng)
            if name == "add_obj":
                said = Scene(said.first)
            if name == "add_att":
                said = replace(said, first=replace(said.first, states=(said.first.colour,)))
            false = false_of(photo.scene, said, change, rng)
            items.append(
                {
                    "filename": photo.name,
                    "caption": caption(said, wording),
                    "negative_caption": caption(false, wording),
                }
            )
        write_json(world.root / sugarcrepe.NAME / f"{name}.json", numbered(items))


def draw_questions(world: World, prefix: str, album: list[Photo]) -> None:
    """WhatsUp's questions of pictures that other suites have, too: where one thing is, or two."""
    rng = world.rng(f"whatsup/{prefix}")
    for name, relations in {"one": tuple(PLACES), "two": tuple(RELATIONS)}.items():
        items = [
            [int(photo.name.removesuffix(".jpg")), *true_and_false(photo, other_relation, rng, PHOTO)]
            for photo in related(album, relations)
        ]
        write_json(world.root / whatsup.NAME / f"{prefix}_qa_{name}_obj.json", items)


def draw_retrieval(world: World, name: str, file: str, album: list[Photo], below: str) -> None:
    """Each picture with two captions: of all that it shows, and of some of it."""
    rng, items = world.rng(name), []
    for photo in album:
        full, part = photo.scene, mentioned(photo.scene, rng)
        captions = [caption(said, choose_wording(said, HELD_OUT, rng)) for said in (full, part)]
        items.append({"image": photo.path.removeprefix(f"{below}/"), "caption": captions})
    write_json(world.root / name / file, items)


def draw_counterfactuals(world: World) -> None:
    """Draw COCO-Counterfactuals: pairs of pictures in which an object or an attribute differs."""
    rng, items = world.rng(coco_counterfactuals.NAME), []
    folder = f"images/{coco_counterfactuals.NAME}"
    for number in range(world.items(70)):
        base = held_out(rng.choice(("one", "placed", "two", "act")), rng)
        couple = base, apart(base, rng.choice((other_object, other_state)), rng)
        item: dict[str, Any] = {"id": number}
        for side, scene in enumerate(couple):
            photo = world.photo(f"{folder}/{number:04d}_{side}.jpg", scene)
            item |= {f"image_{side}": photo.name.removesuffix(".jpg"), f"caption_{side}": caption(scene, PHOTO)}
        items.append(item)
    write_lines(world.root / coco_counterfactuals.NAME / "examples.jsonl", items)
