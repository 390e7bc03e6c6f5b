"""Suites on COCO's pictures: SugarCrepe, WhatsUp's questions, retrieval."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from recompose.synthetic.scenes import RELATIONS
from recompose.synthetic.sentences import PLACES, Scene, caption, choose_wording
from recompose.tracks.vlc.data.synthetic_suites import changes, photos
from recompose.tracks.vlc.data.synthetic_suites.photos import PHOTO, Photo, SuiteReplicate, caption_pair

SUGAR = 80  # items of a set of SugarCrepe
SUGARCREPE: Mapping[str, changes.Change] = {
    "replace_obj": changes.replace_object,
    "replace_att": changes.replace_state,
    "replace_rel": changes.replace_relation,
    "swap_obj": changes.swap_names,
    "swap_att": changes.swap_states,
    "add_obj": changes.add_object,
    "add_att": changes.add_state,
}
ABRIDGED: Mapping[str, Callable[[Scene], Scene]] = {  # so that something can be added
    "add_obj": lambda statement: Scene(statement.first),
    "add_att": lambda statement: replace(statement, first=replace(statement.first, states=(statement.first.colour,))),
}


def draw_sugarcrepe(replicate: SuiteReplicate, album: list[Photo]) -> None:
    """Write SugarCrepe's seven files."""
    rng, fields = replicate.rng("sugarcrepe"), ("filename", "caption", "negative_caption")
    for name, change in SUGARCREPE.items():
        abridge = ABRIDGED.get(name, lambda statement: statement)
        chosen = photos.cycle_photos(photos.couples_of(album), replicate.items(SUGAR), rng)
        values = [(photo.name, *caption_pair(photo, change, rng, abridge=abridge)) for photo in chosen]
        items = {str(number): dict(zip(fields, item, strict=True)) for number, item in enumerate(values)}
        replicate.write_json(f"sugarcrepe/{name}.json", items)


def draw_questions(replicate: SuiteReplicate, prefix: str, album: list[Photo]) -> None:
    """Write WhatsUp's questions about pictures that other suites share: the place of one entity, or the relation of
    two.
    """
    rng = replicate.rng(f"whatsup/{prefix}")
    for name, relations in {"one": tuple(PLACES), "two": tuple(RELATIONS)}.items():
        items = [
            [int(photo.stem), *caption_pair(photo, changes.replace_relation, rng, PHOTO)]
            for photo in photos.with_relation(album, relations)
        ]
        replicate.write_json(f"whatsup/{prefix}_qa_{name}_obj.json", items)


def draw_retrieval(replicate: SuiteReplicate, name: str, file: str, album: list[Photo], below: str) -> None:
    """Write a retrieval suite: each picture has a caption of its whole content and one of a part."""
    rng, items = replicate.rng(name), []
    for photo in album:
        statements = photo.scene, photos.partial_statement(photo.scene, rng)
        captions = [caption(statement, choose_wording(statement, photos.HELD_OUT, rng)) for statement in statements]
        items.append({"image": photo.path.removeprefix(f"{below}/"), "caption": captions})
    replicate.write_json(f"{name}/{file}", items)


def draw_counterfactuals(replicate: SuiteReplicate) -> None:
    """Draw COCO-Counterfactuals: pairs of pictures in which an object or an attribute differs."""
    rng, items, images = replicate.rng("coco_counterfactuals"), [], "images/coco_counterfactuals/{}.jpg"
    for number in range(replicate.items(70)):
        base = photos.held_out_scene(rng.choice(("one", "placed", "two", "act")), rng)
        change = rng.choice((changes.replace_object, changes.replace_state))
        couple = base, changes.counterfactual(base, change, rng)
        captions = [caption(scene, PHOTO) for scene in couple]
        items.append(replicate.draw_pair(number, images, "{:04d}_{}", couple, captions))
    replicate.write_lines("coco_counterfactuals/examples.jsonl", items)
