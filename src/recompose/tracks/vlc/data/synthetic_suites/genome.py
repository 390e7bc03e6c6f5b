"""Suites on Visual Genome's pictures, or parts of them: ARO with its order tasks, CREPE, ComVG."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from recompose.synthetic.sentences import OPENINGS, Entity, Scene, Wording, caption, phrase
from recompose.tracks.vlc.data.formats import comvg, crepe
from recompose.tracks.vlc.data.formats.crepe import COMPLEXITIES as CREPE_COMPLEXITIES
from recompose.tracks.vlc.data.synthetic_suites.counterfactuals import (
    Change,
    counterfactual,
    deny_entity,
    falsify,
    replace_object,
    replace_relation,
    replace_state,
    replace_subject,
    replace_target,
    swap_entities,
    swap_names,
    swap_states,
)
from recompose.tracks.vlc.data.synthetic_suites.files import write_json, write_rows
from recompose.tracks.vlc.data.synthetic_suites.photos import (
    Photo,
    SuiteReplicate,
    assign_colours,
    draw_album,
    held_out_scene,
    held_out_scenes,
    keep_colours,
    map_entities,
    partial_statement,
)
from recompose.tracks.vlc.data.synthetic_suites.questions import cycle_photos

PAIRS = (("red", "blue"), ("green", "golden"), ("blue", "golden"))  # pairs of colours of ARO's questions, each frequent
SUBJECT = Wording(article="the", sentence=True)
DEFINITE = Wording(article="the")


def draw_genome(replicate: SuiteReplicate) -> list[Photo]:
    """Draw the substitute for Visual Genome: pairs of pictures of two entities that differ in the first, the second or
    the relation, and single pictures.
    """
    rng, scenes = replicate.rng("vg"), []
    for number in range(replicate.items(70)):
        base = assign_colours(
            held_out_scene("act" if number % 7 > 3 else "two", rng), rng, rng.sample(PAIRS[number % 3], 2)
        )
        scenes += [
            base,
            counterfactual(base, (replace_subject, replace_relation, replace_target)[number // 3 % 3], rng),
        ]
    return draw_album(
        replicate, "images/vg/{}.jpg", [*scenes, *held_out_scenes(rng, {"one": 40, "placed": 30}, replicate.share)]
    )


def draw_aro(replicate: SuiteReplicate, album: list[Photo]) -> None:
    """Write ARO's relations (the positions or actions of two entities) and attributes (the colours of both)."""
    folder = replicate.root / "aro"
    couples, rng = [photo for photo in album if photo.scene.second], replicate.rng("aro")

    def item(photo: Photo, statement: Scene, change: Change, wording: Wording, **fields: Any) -> dict[str, object]:
        false = falsify(photo.scene, statement, change, rng)
        box = dict(zip(("bbox_x", "bbox_y", "bbox_w", "bbox_h"), photo.box, strict=True))
        captions = {"true_caption": caption(statement, wording), "false_caption": caption(false, wording)}
        return {"image_path": photo.name, **box, **captions, **fields}

    def bare(scene: Scene) -> Scene:
        return map_entities(scene, lambda entity: Entity(entity.name))

    def bound(scene: Scene) -> Scene:
        return replace(keep_colours(scene), relation="")

    relations = [
        item(photo, bare(photo.scene), swap_entities, SUBJECT, relation_name=photo.scene.relation) for photo in couples
    ]
    attributes = [sorted(entity.colour for entity in photo.scene.entities) for photo in couples]
    bindings = [
        item(photo, bound(photo.scene), swap_states, DEFINITE, attributes=pair)
        for photo, pair in zip(couples, attributes, strict=True)
    ]
    write_json(folder / "visual_genome_relation.json", relations)
    write_json(folder / "visual_genome_attribution.json", bindings)


def shuffle_words(words: Sequence[str], tags: Sequence[str], rng: Random) -> list[str]:
    """Return a caption's words in four other orders: nouns and adjectives exchanged, all others exchanged, words
    exchanged within each three, and threes exchanged. Where an order equals the caption, another random order replaces
    it.
    """
    content_places = [place for place, tag in enumerate(tags) if tag[:2] in ("NN", "JJ")]
    other_places = [place for place in range(len(words)) if place not in content_places]
    threes = [list(range(start, min(start + 3, len(words)))) for start in range(0, len(words), 3)]

    def exchange(places: Sequence[int]) -> list[int]:
        target = dict(zip(places, rng.sample(list(places), len(places)), strict=True))
        return [target.get(place, place) for place in range(len(words))]

    orders: list[Callable[[], list[int]]] = [
        lambda: exchange(content_places),
        lambda: exchange(other_places),
        lambda: [place for three in threes for place in rng.sample(three, len(three))],
        lambda: [place for three in rng.sample(threes, len(threes)) for place in three],
    ]
    texts = []
    for order in orders:
        orders_tried = [[words[place] for place in order()] for _ in range(10)]
        orders_tried += [rng.sample(list(words), len(words)) for _ in range(50)]
        texts.append(" ".join(next(text for text in orders_tried if text != list(words))))
    return texts


def draw_order(replicate: SuiteReplicate, name: str, album: list[Photo], below: str) -> None:
    """Write one of ARO's order tasks: a caption of each picture among shuffles of its own words."""
    rng, items = replicate.rng(name), []
    for photo in album:
        statement = partial_statement(photo.scene, rng)
        wording = Wording(opening=rng.choice(OPENINGS))
        words = phrase(statement, wording).words()
        false = shuffle_words([word.text for word in words], [word.tag for word in words], rng)
        items.append(
            {"image": photo.path.removeprefix(f"{below}/"), "caption_options": [caption(statement, wording), *false]}
        )
    write_json(replicate.root / f"aro/{name}.json", items)


def _swap(scene: Scene, rng: Random) -> Scene:
    return rng.choice((swap_entities, swap_states, swap_names))(scene, rng)


def _replace(scene: Scene, rng: Random) -> Scene:
    return rng.choice((replace_object, replace_state, replace_relation))(scene, rng)


def draw_crepe(replicate: SuiteReplicate, album: list[Photo]) -> None:
    """Write CREPE's files. Rows are sorted by the length of their captions: the shortest have the fewest atoms."""
    rng = replicate.rng("crepe")
    couples = [photo for photo in album if photo.scene.second]
    for name, change in {"atom": _replace, "swap": _swap, "negate": deny_entity}.items():
        rows = []
        for photo in cycle_photos(couples, replicate.items(90), rng):
            statement = partial_statement(photo.scene, rng)
            false = {caption(falsify(photo.scene, statement, change, rng)): None for _ in range(5)}
            rows.append((photo.name.removesuffix(".jpg"), caption(statement), list(false), *photo.box))
        rows.sort(key=lambda row: (len(row[1].split()), row[1]))
        numbers = [CREPE_COMPLEXITIES[place * len(CREPE_COMPLEXITIES) // len(rows)] for place in range(len(rows))]
        numbered = [(*row[:2], number, *row[2:]) for row, number in zip(rows, numbers, strict=True)]
        write_rows(replicate.root / "crepe" / crepe.file_of(name), crepe.COLUMNS, numbered)


def draw_comvg(replicate: SuiteReplicate, album: list[Photo]) -> None:
    """Write ComVG: each picture of a pair is the answer to its own caption."""
    rows: list[tuple[Any, ...]] = []
    couples = [photo for photo in album if photo.scene.second]
    for first, second in zip(couples[::2], couples[1::2], strict=True):
        for true, false in ((first, second), (second, first)):
            value = _difference(true.scene, false.scene)
            numbers = [photo.name.removesuffix(".jpg") for photo in (true, false)]
            rows.append((len(rows) + 1, caption(true.scene), *numbers, value))
    write_rows(replicate.root / "comvg/ComVG.csv", comvg.COLUMNS, rows)


def _difference(first: Scene, second: Scene) -> str:
    if first.relation != second.relation:
        return "verb"
    return "subject" if first.first != second.first else "object"
