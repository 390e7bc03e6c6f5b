"""Suites on Visual Genome's pictures, or parts of them: ARO with its order tasks, CREPE, ComVG."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from recompose.synthetic.sentences import OPENINGS, Entity, Scene, Wording, caption, phrase
from recompose.tracks.vlc.data.formats import comvg, crepe
from recompose.tracks.vlc.data.synthetic_suites import changes, photos
from recompose.tracks.vlc.data.synthetic_suites.photos import Photo, SuiteReplicate

PAIRS = (("red", "blue"), ("green", "golden"), ("blue", "golden"))  # pairs of colours of ARO's questions, each frequent
SUBJECT = Wording(article="the", sentence=True)
DEFINITE = Wording(article="the")


def draw_genome(replicate: SuiteReplicate) -> list[Photo]:
    """Draw the substitute for Visual Genome: pairs of pictures of two entities that differ in the first, the second or
    the relation, and single pictures.
    """
    rng, scenes = replicate.rng("vg"), []
    for number in range(replicate.items(70)):
        scene = photos.held_out_scene("act" if number % 7 > 3 else "two", rng)
        base = photos.assign_colours(scene, rng, rng.sample(PAIRS[number % 3], 2))
        change = (changes.replace_subject, changes.replace_relation, changes.replace_target)[number // 3 % 3]
        scenes += [base, changes.counterfactual(base, change, rng)]
    single = photos.held_out_scenes(rng, {"one": 40, "placed": 30}, replicate.share)
    return replicate.album("images/vg/{}.jpg", [*scenes, *single])


def draw_aro(replicate: SuiteReplicate, album: list[Photo]) -> None:
    """Write ARO's relations (the positions or actions of two entities) and attributes (the colours of both)."""
    couples, rng = photos.couples_of(album), replicate.rng("aro")

    def item(photo: Photo, statement: Scene, change: changes.Change, wording: Wording) -> dict[str, Any]:
        false = changes.falsify(photo.scene, statement, change, rng)
        box = dict(zip(("bbox_x", "bbox_y", "bbox_w", "bbox_h"), photo.box, strict=True))
        captions = {"true_caption": caption(statement, wording), "false_caption": caption(false, wording)}
        return {"image_path": photo.name, **box, **captions}

    relations, bindings = [], []
    for photo in couples:
        bare = photos.map_entities(photo.scene, lambda entity: Entity(entity.name))
        relation = {"relation_name": photo.scene.relation}
        relations.append(item(photo, bare, changes.swap_entities, SUBJECT) | relation)
    for photo in couples:
        bound = replace(photos.keep_colours(photo.scene), relation="")
        attributes = {"attributes": sorted(entity.colour for entity in photo.scene.entities)}
        bindings.append(item(photo, bound, changes.swap_states, DEFINITE) | attributes)
    replicate.write_json("aro/visual_genome_relation.json", relations)
    replicate.write_json("aro/visual_genome_attribution.json", bindings)


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
        statement = photos.partial_statement(photo.scene, rng)
        wording = Wording(opening=rng.choice(OPENINGS))
        words = phrase(statement, wording).words()
        false = shuffle_words([word.text for word in words], [word.tag for word in words], rng)
        captions = [caption(statement, wording), *false]
        items.append({"image": photo.path.removeprefix(f"{below}/"), "caption_options": captions})
    replicate.write_json(f"aro/{name}.json", items)


def _any_of(*choices: changes.Change) -> changes.Change:
    """Return the change that is a random one of these."""
    return lambda scene, rng: rng.choice(choices)(scene, rng)


CREPE: Mapping[str, changes.Change] = {
    "atom": _any_of(changes.replace_object, changes.replace_state, changes.replace_relation),
    "swap": _any_of(changes.swap_entities, changes.swap_states, changes.swap_names),
    "negate": changes.deny_entity,
}


def draw_crepe(replicate: SuiteReplicate, album: list[Photo]) -> None:
    """Write CREPE's files. Rows are sorted by the length of their captions: the shortest have the fewest atoms."""
    rng = replicate.rng("crepe")
    for name, change in CREPE.items():
        rows = []
        for photo in photos.cycle_photos(photos.couples_of(album), replicate.items(90), rng):
            statement = photos.partial_statement(photo.scene, rng)
            false = {caption(changes.falsify(photo.scene, statement, change, rng)): None for _ in range(5)}
            rows.append((photo.stem, caption(statement), list(false), *photo.box))
        rows.sort(key=lambda row: (len(row[1].split()), row[1]))
        numbers = [crepe.COMPLEXITIES[place * len(crepe.COMPLEXITIES) // len(rows)] for place in range(len(rows))]
        numbered = [(*row[:2], number, *row[2:]) for row, number in zip(rows, numbers, strict=True)]
        replicate.write_rows(f"crepe/{crepe.file_of(name)}", crepe.COLUMNS, numbered)


def draw_comvg(replicate: SuiteReplicate, album: list[Photo]) -> None:
    """Write ComVG: each picture of a pair is the answer to its own caption."""
    rows: list[tuple[Any, ...]] = []
    couples = photos.couples_of(album)
    for first, second in zip(couples[::2], couples[1::2], strict=True):
        for true, false in ((first, second), (second, first)):
            value = _difference(true.scene, false.scene)
            rows.append((len(rows) + 1, caption(true.scene), true.stem, false.stem, value))
    replicate.write_rows("comvg/ComVG.csv", comvg.COLUMNS, rows)


def _difference(first: Scene, second: Scene) -> str:
    if first.relation != second.relation:
        return "verb"
    return "subject" if first.first != second.first else "object"
