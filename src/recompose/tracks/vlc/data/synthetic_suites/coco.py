"""Suites on COCO's pictures: SugarCrepe, WhatsUp's questions, retrieval."""

from dataclasses import replace

from recompose.synthetic.scenes import RELATIONS
from recompose.synthetic.sentences import PLACES, Scene, caption, choose_wording
from recompose.tracks.vlc.data.synthetic_suites.counterfactuals import (
    Change,
    add_object,
    add_state,
    counterfactual,
    falsify,
    replace_object,
    replace_relation,
    replace_state,
    swap_names,
    swap_states,
)
from recompose.tracks.vlc.data.synthetic_suites.files import number_items, write_json, write_lines
from recompose.tracks.vlc.data.synthetic_suites.photos import (
    HELD_OUT,
    Photo,
    SuiteReplicate,
    held_out_scene,
    partial_statement,
)
from recompose.tracks.vlc.data.synthetic_suites.questions import (
    PHOTO,
    caption_pair,
    cycle_photos,
    photos_with_relation,
    random_opening,
)

SUGAR = 80  # items of a set of SugarCrepe


def draw_sugarcrepe(replicate: SuiteReplicate, album: list[Photo]) -> None:
    """Write SugarCrepe's seven files."""
    rng = replicate.rng("sugarcrepe")
    couples = [photo for photo in album if photo.scene.second]
    changes: dict[str, Change] = {
        "replace_obj": replace_object,
        "replace_att": replace_state,
        "replace_rel": replace_relation,
        "swap_obj": swap_names,
        "swap_att": swap_states,
        "add_obj": add_object,
        "add_att": add_state,
    }
    for name, change in changes.items():
        items = []
        for photo in cycle_photos(couples, replicate.items(SUGAR), rng):
            wording, statement = random_opening(rng), partial_statement(photo.scene, rng)
            if name == "add_obj":
                statement = Scene(statement.first)
            if name == "add_att":
                statement = replace(statement, first=replace(statement.first, states=(statement.first.colour,)))
            false = falsify(photo.scene, statement, change, rng)
            items.append(
                {
                    "filename": photo.name,
                    "caption": caption(statement, wording),
                    "negative_caption": caption(false, wording),
                }
            )
        write_json(replicate.root / f"sugarcrepe/{name}.json", number_items(items))


def draw_questions(replicate: SuiteReplicate, prefix: str, album: list[Photo]) -> None:
    """Write WhatsUp's questions about pictures that other suites share: the place of one entity, or the relation of
    two.
    """
    rng = replicate.rng(f"whatsup/{prefix}")
    for name, relations in {"one": tuple(PLACES), "two": tuple(RELATIONS)}.items():
        items = [
            [int(photo.name.removesuffix(".jpg")), *caption_pair(photo, replace_relation, rng, PHOTO)]
            for photo in photos_with_relation(album, relations)
        ]
        write_json(replicate.root / f"whatsup/{prefix}_qa_{name}_obj.json", items)


def draw_retrieval(replicate: SuiteReplicate, name: str, file: str, album: list[Photo], below: str) -> None:
    """Write a retrieval suite: each picture has a caption of its whole content and one of a part."""
    rng, items = replicate.rng(name), []
    for photo in album:
        full, part = photo.scene, partial_statement(photo.scene, rng)
        captions = [caption(statement, choose_wording(statement, HELD_OUT, rng)) for statement in (full, part)]
        items.append({"image": photo.path.removeprefix(f"{below}/"), "caption": captions})
    write_json(replicate.root / name / file, items)


def draw_counterfactuals(replicate: SuiteReplicate) -> None:
    """Draw COCO-Counterfactuals: pairs of pictures in which an object or an attribute differs."""
    rng, items = replicate.rng("coco_counterfactuals"), []
    folder = "images/coco_counterfactuals"
    for number in range(replicate.items(70)):
        base = held_out_scene(rng.choice(("one", "placed", "two", "act")), rng)
        couple = base, counterfactual(base, rng.choice((replace_object, replace_state)), rng)
        item: dict[str, object] = {"id": number}
        for side, scene in enumerate(couple):
            photo = replicate.photo(f"{folder}/{number:04d}_{side}.jpg", scene)
            item |= {f"image_{side}": photo.name.removesuffix(".jpg"), f"caption_{side}": caption(scene, PHOTO)}
        items.append(item)
    write_lines(replicate.root / "coco_counterfactuals/examples.jsonl", items)
