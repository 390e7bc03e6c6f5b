"""Suites on Visual Genome's pictures, or parts of them: ARO with its tasks of order, CREPE, ComVG."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from recompose.synthetic.sentences import OPENINGS, Entity, Scene, Wording, caption, phrase
from recompose.tracks.vlc.data.formats import aro, comvg, crepe
from recompose.tracks.vlc.data.synthetic_suites.counterfactuals import (
    Change,
    apart,
    denied,
    false_of,
    other_object,
    other_relation,
    other_state,
    other_subject,
    other_target,
    swapped_names,
    swapped_states,
    swapped_things,
)
from recompose.tracks.vlc.data.synthetic_suites.files import write_json, write_rows
from recompose.tracks.vlc.data.synthetic_suites.photos import (
    Photo,
    World,
    coloured,
    coloured_only,
    draw_album,
    held_out,
    mentioned,
    of_each,
    of_kinds,
)
from recompose.tracks.vlc.data.synthetic_suites.questions import cycled

PAIRS = (("red", "blue"), ("green", "golden"), ("blue", "golden"))  # of colours that ARO asks about, often each
SUBJECT = Wording(article="the", sentence=True)
DEFINITE = Wording(article="the")


def draw_genome(world: World) -> list[Photo]:
    """Draw what stands for Visual Genome: pairs of pictures of two things that differ in the first, the second or their
    relation, and others.
    """
    rng, scenes = world.rng("vg"), []
    for number in range(world.items(70)):
        base = coloured(held_out("act" if number % 7 > 3 else "two", rng), rng, rng.sample(PAIRS[number % 3], 2))
        scenes += [base, apart(base, (other_subject, other_relation, other_target)[number // 3 % 3], rng)]
    return draw_album(world, "images/vg/{}.jpg", [*scenes, *of_kinds(rng, {"one": 40, "placed": 30}, world.share)])


def draw_aro(world: World, album: list[Photo]) -> None:
    """Write ARO's relations (who stands where, or does what to whom) and attributes (whose colour is whose)."""
    folder = world.root / aro.NAME
    couples, rng = [photo for photo in album if photo.scene.second], world.rng("aro")

    def item(photo: Photo, said: Scene, change: Change, wording: Wording, **named: Any) -> dict[str, Any]:
        false = false_of(photo.scene, said, change, rng)
        box = dict(zip(("bbox_x", "bbox_y", "bbox_w", "bbox_h"), photo.box, strict=True))
        captions = {"true_caption": caption(said, wording), "false_caption": caption(false, wording)}
        return {"image_path": photo.name, **box, **captions, **named}

    def bare(scene: Scene) -> Scene:
        return of_each(scene, lambda thing: Entity(thing.name))

    def bound(scene: Scene) -> Scene:
        return replace(coloured_only(scene), relation="")

    relations = [
        item(one, bare(one.scene), swapped_things, SUBJECT, relation_name=one.scene.relation) for one in couples
    ]
    attributes = [sorted(thing.colour for thing in photo.scene.entities) for photo in couples]
    bindings = [
        item(photo, bound(photo.scene), swapped_states, DEFINITE, attributes=pair)
        for photo, pair in zip(couples, attributes, strict=True)
    ]
    write_json(folder / "visual_genome_relation.json", relations)
    write_json(folder / "visual_genome_attribution.json", bindings)


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


def draw_order(world: World, name: str, album: list[Photo], below: str) -> None:
    """Write one of ARO's tasks of order: a caption of each picture among its own words in other orders."""
    rng, items = world.rng(name), []
    for photo in album:
        said = mentioned(photo.scene, rng)
        wording = Wording(opening=rng.choice(OPENINGS))
        words = phrase(said, wording).words()
        false = shuffled([word.text for word in words], [word.tag for word in words], rng)
        items.append(
            {"image": photo.path.removeprefix(f"{below}/"), "caption_options": [caption(said, wording), *false]}
        )
    write_json(world.root / aro.NAME / f"{name}.json", items)


def _exchanged(scene: Scene, rng: Random) -> Scene:
    return rng.choice((swapped_things, swapped_states, swapped_names))(scene, rng)


def _replaced(scene: Scene, rng: Random) -> Scene:
    return rng.choice((other_object, other_state, other_relation))(scene, rng)


def draw_crepe(world: World, album: list[Photo]) -> None:
    """Rows stand in the files by their captions' length: the shortest ninth is of the lowest complexity."""
    rng = world.rng("crepe")
    couples = [photo for photo in album if photo.scene.second]
    for name, change in {"atom": _replaced, "swap": _exchanged, "negate": denied}.items():
        rows = []
        for photo in cycled(couples, world.items(90), rng):
            said = mentioned(photo.scene, rng)
            false = {caption(false_of(photo.scene, said, change, rng)): None for _ in range(5)}
            rows.append((photo.name.removesuffix(".jpg"), caption(said), list(false), *photo.box))
        rows.sort(key=lambda row: (len(row[1].split()), row[1]))
        size = len(rows) // len(crepe.COMPLEXITIES)
        for place, complexity in enumerate(crepe.COMPLEXITIES):
            file = world.root / crepe.NAME / "prod_hard_negatives" / name
            file /= f"prod_vg_hard_negs_{name}_complexity_{complexity}.csv"
            write_rows(file, crepe.COLUMNS, rows[place * size : (place + 1) * size])


def draw_comvg(world: World, album: list[Photo]) -> None:
    """The pictures of a pair, each asked for by its caption."""
    rows: list[tuple[Any, ...]] = []
    couples = [photo for photo in album if photo.scene.second]
    for one, other in zip(couples[::2], couples[1::2], strict=True):
        for true, false in ((one, other), (other, one)):
            value = _difference(true.scene, false.scene)
            numbers = [photo.name.removesuffix(".jpg") for photo in (true, false)]
            rows.append((len(rows) + 1, caption(true.scene), *numbers, value))
    write_rows(world.root / comvg.NAME / "ComVG.csv", (*comvg.COLUMNS, "neg_value"), rows)


def _difference(one: Scene, other: Scene) -> str:
    if one.relation != other.relation:
        return "predicate"
    return "subject" if one.first != other.first else "object"
