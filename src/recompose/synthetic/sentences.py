"""Captioned scenes that compose: one kind of thing, or two in a relation, with attributes, sizes, numbers and places.

A ``Scene`` is a small scene graph. As what a picture shows it is drawn; as what a caption says, of all or of a part of
it, it is worded. So whether a caption is true of a picture follows from the two (``holds``), and so does what a parser
would have to find out about the caption: words, their kinds, lemmas and heads.

Attributes, objects and relations follow long tails, as in web captions.
"""

import io
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from PIL import Image

from recompose.synthetic.looks import SCENES, Look
from recompose.synthetic.objects import COLOURS, OBJECTS, PAINTERS, draw_object, finished, ground
from recompose.synthetic.scenes import RELATIONS, SHARD, TAIL

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

NONE, SOME = 0, -1  # how many things a caption says there are, besides a number
NUMBERS = {2: "two", 3: "three", 4: "four"}
SIZES = ("big", "small")
NAMES = tuple(OBJECTS)
COLOUR_TAIL = tuple(state for state in TAIL if state in COLOURS)
PAINTED_TAIL = tuple(state for state in TAIL if state in PAINTERS)
DENIABLE = tuple(name for name in NAMES if name not in ("circle", "square"))  # what no clutter on a ground looks like
UNSEEN_BELOW = ("hollow", "faded")  # of a thing in front of another: these would show it
ACTIONS = ("covering", "holding", "riding", "wearing", "leaving", "dropping", "filling")
PLACES = {"on the left": (17, 32), "on the right": (47, 32), "at the top": (32, 17), "at the bottom": (32, 47)}
# what a relation is called from the other side; nothing is covered by itself
CONVERSES = {
    **{"left of": "right of", "right of": "left of", "above": "below", "below": "above"},
    **{"holding": "filling", "wearing": "riding", "dropping": "leaving"},
    **{"filling": "holding", "riding": "wearing", "leaving": "dropping"},
}
LOADS = {"holding": (0, 0), "wearing": (6, -22), "dropping": (-8, 26)}  # how far down who does it is, and the other
# relation -> where that puts its first thing in the picture, and its second
SIDES = {
    "left of": ("on the left", "on the right"),
    "right of": ("on the right", "on the left"),
    "above": ("at the top", "at the bottom"),
    "below": ("at the bottom", "at the top"),
}
RELATION_TAIL = ("left of", "above", "right of", "below")
KINDS = ("one", "many", "placed", "two", "act")
OPENINGS = ("photo", "picture", "image", "drawing")  # "a photo of ..."; none where it is empty
SPOTS = {  # number of things -> where they are
    2: ((18, 32), (46, 32)),
    3: ((32, 17), (17, 46), (47, 46)),
    4: ((17, 17), (47, 17), (17, 47), (47, 47)),
}


@dataclass(frozen=True)
class Thing:
    """One object, or several that are alike."""

    name: str  # of OBJECTS
    states: tuple[str, ...] = ()  # at most one colour, and at most one other of STATES
    size: str = ""  # of SIZES; empty: neither, or not said
    count: int = 1  # 1 to 4; NONE and SOME in captions alone

    @property
    def colour(self) -> str:
        """Its colour, empty where it has none."""
        return next((state for state in self.states if state in COLOURS), "")

    @property
    def painted(self) -> str:
        """Its other state, empty where it has none."""
        return next((state for state in self.states if state in PAINTERS), "")


@dataclass(frozen=True)
class Scene:
    """What a picture shows, or what a caption says of one.

    The relation is one of RELATIONS or ACTIONS between two things, or one of PLACES of one thing; it is empty where
    there is none, or where a caption does not say it.
    """

    first: Thing
    second: Thing | None = None
    relation: str = ""

    @property
    def things(self) -> tuple[Thing, ...]:
        """The one or two things."""
        return (self.first,) if self.second is None else (self.first, self.second)

    def couples(self) -> Iterator[tuple[Thing, str, Thing]]:
        """Things and how they are related, either way round."""
        if self.second:
            yield self.first, self.relation, self.second
            yield self.second, CONVERSES.get(self.relation, ""), self.first

    def places(self) -> Iterator[tuple[Thing, str]]:
        """Things and where in the picture they are, as far as that has a name."""
        if self.second is None:
            yield self.first, self.relation
        else:
            yield from zip(self.things, SIDES.get(self.relation, ("", "")), strict=True)


def _fits(said: Thing, shown: Thing) -> bool:
    counted = said.count in (shown.count, NONE) or (said.count == SOME and shown.count > 1)
    alike = said.name == shown.name and set(said.states) <= set(shown.states) and said.size in ("", shown.size)
    return counted and alike


def holds(said: Scene, shown: Scene) -> bool:
    """Whether what is said is true of what is shown.

    Example:
        >>> star, ring = Thing("star", ("red",)), Thing("ring", ("blue", "striped"))
        >>> shown = Scene(star, ring, "left of")
        >>> holds(Scene(Thing("ring", ("blue",)), star, "right of"), shown), holds(Scene(ring, star, "left of"), shown)
        (True, False)
        >>> holds(Scene(star, Thing("moon", count=NONE)), shown)
        True
    """
    denied = [thing for thing in said.things if thing.count == NONE]
    if any(_fits(thing, there) for thing in denied for there in shown.things):
        return False
    claimed = [thing for thing in said.things if thing.count != NONE]
    if len(claimed) == 2:
        return any(
            said.relation in ("", relation) and _fits(claimed[0], first) and _fits(claimed[1], second)
            for first, relation, second in shown.couples()
        )
    return not claimed or any(
        said.relation in ("", place) and _fits(claimed[0], thing) for thing, place in shown.places()
    )


# ---- drawing


@dataclass(frozen=True)
class Spot:
    """Where a thing is drawn."""

    thing: Thing
    centre: tuple[int, int]
    radius: int


def _near(centre: tuple[int, int], jitter: int, rng: Random) -> tuple[int, int]:
    return centre[0] + rng.randrange(-jitter, jitter + 1), centre[1] + rng.randrange(-jitter, jitter + 1)


def _alone(scene: Scene, rng: Random) -> list[Spot]:
    thing = scene.first
    if thing.count > 1:
        radius = 10 + rng.randrange(3)
        return [Spot(thing, _near(spot, 2, rng), radius) for spot in SPOTS[thing.count]]
    if scene.relation:
        return [Spot(thing, _near(PLACES[scene.relation], 2, rng), 13 + rng.randrange(4))]
    radius = {"big": 27, "": 18, "small": 8}[thing.size] + rng.randrange(4)
    return [Spot(thing, _near((32, 32), {"big": 2, "": 4, "small": 8}[thing.size], rng), radius)]


def _acting(relation: str, first: Thing, second: Thing, rng: Random) -> list[Spot]:
    """What covers is drawn last, over the other; what holds, wears or drops is the larger one."""
    if relation == "covering":
        x, y = rng.choice((-9, 9)), rng.choice((-9, 9))
        return [
            Spot(second, _near((32 + x, 32 + y), 1, rng), 17 + rng.randrange(3)),
            Spot(first, _near((32 - x, 32 - y), 1, rng), 17 + rng.randrange(3)),
        ]
    if relation not in LOADS:
        return _acting(CONVERSES[relation], second, first, rng)
    lift, distance = LOADS[relation]
    x, y = _near((32, 32 + lift), 2, rng)
    return [Spot(first, (x, y), 20 + rng.randrange(3)), Spot(second, (x, y + distance), 9 + rng.randrange(2))]


def layout(scene: Scene, rng: Random) -> list[Spot]:
    """Where the things of a scene are drawn, in the order in which they are."""
    if scene.second is None:
        return _alone(scene, rng)
    if scene.relation in ACTIONS:
        return _acting(scene.relation, scene.first, scene.second, rng)
    radii = {"big": 17, "": 13, "small": 7}
    return [
        Spot(thing, _near(centre, 2, rng), radii[thing.size] + rng.randrange(3))
        for thing, centre in zip(scene.things, RELATIONS[scene.relation], strict=True)
    ]


def draw_spots(spots: Sequence[Spot], rng: Random, look: Look = SCENES) -> Image.Image:
    """The picture [SIZE x SIZE] of things at their places."""
    picture = ground(rng, look)
    for spot in spots:
        draw_object(picture, spot.thing.name, spot.thing.states, spot.centre, spot.radius, rng, look)
    return finished(picture, look)


def draw_scene(scene: Scene, rng: Random, look: Look = SCENES) -> Image.Image:
    """The picture [SIZE x SIZE] of a scene; a scene of two things has a relation."""
    return draw_spots(layout(scene, rng), rng, look)


# ---- wording


@dataclass(frozen=True)
class Word:
    """A word of a caption and what a parser finds out about it, in spaCy's terms."""

    text: str
    tag: str  # Penn Treebank's
    pos: str
    lemma: str
    head: int  # the place of its head; its own where it is the root
    dep: str


@dataclass(frozen=True)
class Node:
    """A word in the tree of its caption."""

    text: str
    tag: str
    pos: str
    dep: str = "ROOT"
    lemma: str = ""  # empty: the text
    before: tuple["Node", ...] = ()
    after: tuple["Node", ...] = ()

    def __len__(self) -> int:
        return 1 + sum(map(len, self.before + self.after))

    def words(self, start: int = 0, head: int | None = None) -> list[Word]:
        """The words of this part of a caption, from left to right.

        Args:
            start: the place of the first of them.
            head: the place of the head of this one; None for the root.
        """
        own = start + sum(map(len, self.before))
        words: list[Word] = []
        for node in self.before:
            words += node.words(start + len(words), own)
        words.append(
            Word(self.text, self.tag, self.pos, self.lemma or self.text, own if head is None else head, self.dep)
        )
        for node in self.after:
            words += node.words(start + len(words), own)
        return words


@dataclass(frozen=True)
class Wording:
    """How a caption says what it says."""

    opening: str = ""  # of OPENINGS
    article: str = "a"  # or "the"
    sentence: bool = False  # "a star is left of ..." instead of "a star left of ..."
    long: bool = False  # "to the left of" instead of "left of"


PLAIN = Wording()
PLURALS = {"fish": "fish", "cross": "crosses"}
LEMMAS = {
    **{"covering": "cover", "holding": "hold", "riding": "ride", "wearing": "wear"},
    **{"leaving": "leave", "dropping": "drop", "filling": "fill"},
}


def _determiner(thing: Thing, following: str, article: str) -> tuple[Node, ...]:
    if thing.count in NUMBERS:
        return (Node(NUMBERS[thing.count], "CD", "NUM", "nummod"),)
    said = {NONE: "no", SOME: "some"}.get(thing.count, article)
    return (Node("an" if said == "a" and following[0] in "aeiou" else said, "DT", "DET", "det"),)


def _noun_phrase(thing: Thing, wording: Wording, dep: str = "ROOT", after: tuple[Node, ...] = ()) -> Node:
    """As in "a small striped red star"; ``after`` is what depends on the noun and follows it."""
    adjectives = [word for word in (thing.size, thing.painted, thing.colour) if word]
    several = thing.count not in (NONE, 1)
    noun = PLURALS.get(thing.name, thing.name + "s") if several else thing.name
    before = _determiner(thing, (adjectives or [noun])[0], wording.article)
    before += tuple(Node(word, "JJ", "ADJ", "amod") for word in adjectives)
    return Node(noun, "NNS" if several else "NN", "NOUN", dep, thing.name, before, after)


def _preposition(text: str, inner: Node) -> Node:
    return Node(text, "IN", "ADP", "prep", after=(inner,))


def _the(noun: str, after: tuple[Node, ...] = ()) -> Node:
    return Node(noun, "NN", "NOUN", "pobj", before=(Node("the", "DT", "DET", "det"),), after=after)


def _relation(said: Scene, wording: Wording) -> tuple[Node, ...]:
    """What follows a noun, or "is", and tells its relation to another, or its place."""
    if said.second is None:
        preposition, _, noun = said.relation.split() if said.relation else ("", "", "")
        return (_preposition(preposition, _the(noun)),) if noun else ()
    if not said.relation:
        return (Node("and", "CC", "CCONJ", "cc"), _noun_phrase(said.second, wording, "conj"))
    if said.relation in ACTIONS:
        other = _noun_phrase(said.second, wording, "dobj")
        return (Node(said.relation, "VBG", "VERB", "acl", LEMMAS[said.relation], after=(other,)),)
    other = _noun_phrase(said.second, wording, "pobj")
    side, _, of = said.relation.partition(" ")
    if not of:
        return (_preposition(side, other),)
    if wording.long:
        return (_preposition("to", _the(side, (_preposition(of, other),))),)
    return (Node(side, "RB", "ADV", "advmod", after=(_preposition(of, other),)),)


def _sentence(said: Scene, wording: Wording) -> Node:
    subject = _noun_phrase(said.first, wording, "nsubj")
    auxiliary = Node("is", "VBZ", "AUX", "ROOT", "be")
    (predicate,) = _relation(said, wording)
    if said.relation in ACTIONS:
        return replace(predicate, dep="ROOT", before=(subject, replace(auxiliary, dep="aux")))
    return replace(auxiliary, before=(subject,), after=(predicate,))


def phrase(said: Scene, wording: Wording = PLAIN) -> Node:
    """The tree of a caption.

    Raises:
        ValueError: a sentence is asked for of what has no relation or place, or of several things.
    """
    if wording.sentence:
        if not said.relation or said.first.count != 1:
            raise ValueError(f"there is no sentence of {said}: it says where one thing is, or what it does")
        return _sentence(said, wording)
    if not wording.opening:
        return _noun_phrase(said.first, wording, after=_relation(said, wording))
    inner = _noun_phrase(said.first, wording, "pobj", _relation(said, wording))
    article = "an" if wording.opening[0] in "aeiou" else "a"
    return Node(
        wording.opening, "NN", "NOUN", before=(Node(article, "DT", "DET", "det"),), after=(_preposition("of", inner),)
    )


def caption(said: Scene, wording: Wording = PLAIN) -> str:
    """The text of a caption.

    Example:
        >>> hearts = Thing("heart", ("glossy",), count=3)
        >>> caption(Scene(hearts), Wording(opening="image"))
        'an image of three glossy hearts'
        >>> caption(Scene(Thing("arrow"), Thing("star", ("red",)), "left of"), Wording(long=True))
        'an arrow to the left of a red star'
    """
    return " ".join(word.text for word in phrase(said, wording).words())


def document(words: Sequence[Word], vocab: "Vocab") -> "Doc":
    """A caption as spaCy would have parsed it."""
    from spacy.tokens import Doc

    return Doc(
        vocab,
        words=[word.text for word in words],
        spaces=[place + 1 < len(words) for place in range(len(words))],
        tags=[word.tag for word in words],
        pos=[word.pos for word in words],
        lemmas=[word.lemma for word in words],
        heads=[word.head for word in words],
        deps=[word.dep for word in words],
    )


# ---- what there is to see


@dataclass(frozen=True)
class Style:
    """Of a collection: how its pictures look, what they show, and how much its captions say.

    All numbers but the weights are percents.
    """

    look: Look
    kinds: Mapping[str, int]  # of KINDS, with their weights
    related: int = 85  # of two things, captions that say how they are related
    complete: int = 85  # attributes that captions mention
    denied: int = 4  # captions that say what is not there
    opened: int = 60  # captions that begin with "a photo of" or the like
    flat: bool = False  # no long tails
    sizes: int = 20  # things whose size is to be told


def _pick(values: Sequence[str], style: Style, rng: Random) -> str:
    """One of the values, by a long tail in their order."""
    weights = [1 if style.flat else 1 / (rank + 3) for rank in range(len(values))]
    return rng.choices(values, weights)[0]


def _thing(style: Style, rng: Random, taken: Thing | None = None, barred: Sequence[str] = ()) -> Thing:
    """A thing; it has another name and another colour than the one that is there already."""
    name = _pick([name for name in NAMES if not taken or name != taken.name], style, rng)
    colours = [colour for colour in COLOUR_TAIL if not taken or colour != taken.colour]
    shown = 1 + rng.randrange(3)  # a colour, another state, or both
    painted = (_pick([state for state in PAINTED_TAIL if state not in barred], style, rng),) if shown != 1 else ()
    colour = (_pick(colours, style, rng),) if shown != 2 or taken else ()
    return Thing(name, painted + colour)


def _sized(thing: Thing, style: Style, rng: Random) -> Thing:
    return replace(thing, size=rng.choice(SIZES)) if rng.randrange(100) < style.sizes else thing


def choose_scene(style: Style, rng: Random, kind: str = "") -> Scene:
    """What a picture of a collection shows.

    Args:
        style: of the collection.
        rng: all that is random.
        kind: of KINDS; one by the style's weights where it is empty.
    """
    kind = kind or rng.choices(list(style.kinds), list(style.kinds.values()))[0]
    barred = UNSEEN_BELOW if kind == "act" else ()
    first = _thing(style, rng, barred=barred)
    if kind == "many":
        return Scene(replace(first, count=rng.choice(list(NUMBERS))))
    if kind == "placed":
        return Scene(first, relation=_pick(list(PLACES), style, rng))
    if kind == "one":
        return Scene(_sized(first, style, rng))
    if kind == "act":
        first = first if first.colour else replace(first, states=(*first.states, rng.choice(COLOUR_TAIL)))
        return Scene(first, _thing(style, rng, first, barred), _pick(ACTIONS, style, rng))
    second = _thing(style, rng, first)
    return Scene(_sized(first, style, rng), _sized(second, style, rng), _pick(RELATION_TAIL, style, rng))


def _mentioned(thing: Thing, style: Style, rng: Random) -> Thing:
    states = tuple(state for state in thing.states if rng.randrange(100) < style.complete)
    some = thing.count > 1 and not rng.randrange(8)
    return replace(thing, states=states, count=SOME if some else thing.count)


def choose_said(scene: Scene, style: Style, rng: Random) -> Scene:
    """What the caption of a picture says of it: all, or some of it."""
    first, second = _mentioned(scene.first, style, rng), None
    relation = scene.relation if rng.randrange(100) < style.related else ""
    if scene.second:
        second = _mentioned(scene.second, style, rng)
        if relation in CONVERSES and rng.randrange(2):
            first, relation, second = second, CONVERSES[relation], first
    elif not relation and rng.randrange(100) < 2 * style.denied:
        second = Thing(rng.choice([name for name in DENIABLE if name != first.name]), count=NONE)
    return Scene(first, second, relation)


def choose_wording(said: Scene, style: Style, rng: Random) -> Wording:
    """How a caption says it."""
    opening = rng.choice(OPENINGS) if rng.randrange(100) < style.opened else ""
    sentence = not opening and bool(said.relation) and said.first.count == 1 and not rng.randrange(4)
    article = "the" if sentence and rng.randrange(2) else "a"
    return Wording(opening, article, sentence, long=not rng.randrange(4))


def captioned(style: Style, rng: Random) -> tuple[Image.Image, Scene, Scene, Wording]:
    """A picture [SIZE x SIZE] of a collection, what it shows, what its caption says, and how."""
    shown = choose_scene(style, rng)
    said = choose_said(shown, style, rng)
    wording = choose_wording(said, style, rng)
    return draw_scene(shown, rng, style.look), shown, said, wording


# ---- the corpus that pretrains

PRETRAINING = Style(SCENES, {"one": 58, "many": 6, "placed": 4, "two": 28, "act": 4}, denied=1)


def _add(shard: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)  # its time, owner and mode are constants, so the shard's bytes are too
    member.size = len(content)
    shard.addfile(member, io.BytesIO(content))


def write_corpus(folder: Path, *, scenes: int, seed: int, style: Style = PRETRAINING) -> None:
    """Write captioned scenes as WebDataset shards, which ``scenes.read_corpus`` reads.

    They name what there is, mostly one thing: a model that learns from them knows words, and has little cause to mind
    their order.
    """
    folder.mkdir(parents=True)
    for start in range(0, scenes, SHARD):
        with tarfile.open(folder / f"{start // SHARD:05d}.tar", "w", format=tarfile.USTAR_FORMAT) as shard:
            for index in range(start, min(start + SHARD, scenes)):
                picture, _, said, wording = captioned(style, Random(f"captions/{seed}/{index}"))
                png = io.BytesIO()
                picture.save(png, "png", compress_level=1)
                _add(shard, f"{index:08d}.png", png.getvalue())
                _add(shard, f"{index:08d}.txt", caption(said, wording).encode())


# ---- what words mean


@dataclass(frozen=True)
class Sense:
    """A meaning that words share: a synset of the lexicon. Senses are named as in WordNet's lists, ``red.n``."""

    name: str
    words: tuple[str, ...]
    above: str = ""  # the sense that it is a kind of
    antonym: str = ""
    derived: str = ""  # the noun's sense that an adjective is derived from
    count: int = 1  # how often its words are met

    @property
    def pos(self) -> str:
        """``n``, ``v``, ``a`` or ``r``, as in WordNet."""
        return self.name.rpartition(".")[2]


# kind of attribute -> the noun each of its adjectives is derived from
QUALITIES: Mapping[str, Mapping[str, str]] = {
    "colour": {"red": "red", "blue": "blue", "green": "green", "golden": "gold"},
    "texture": {"striped": "stripe", "dotted": "dot", "checkered": "checker", "scratched": "scratch"},
    "finish": {"glossy": "gloss", "glowing": "glow", "frosted": "frost", "faded": "fading"},
    "condition": {"cracked": "crack", "burnt": "burn", "rusty": "rust", "hollow": "hollowness"},
}
SHAPES: Mapping[str, tuple[str, ...]] = {
    "round shape": ("circle", "ring", "moon", "drop"),
    "angular shape": ("square", "triangle", "star", "cross", "arrow"),
    "figure": ("heart", "house", "fish"),
}
OPPOSITES = {
    "r": (("left", "right"), ("above", "below")),
    "a": (("big", "small"), ("left", "right")),
    "n": (("left", "right"), ("top", "bottom")),
}

# with how often they are met; those of several words replace, and are replaced, as one
PREPOSITIONS: Mapping[str, int] = {
    **dict.fromkeys(RELATION_TAIL, 30),
    **{"to the left of": 10, "to the right of": 10, "of": 10, "on": 5, "at": 5},
}


def _qualities() -> Iterator[Sense]:
    yield Sense("quality.n", ("quality",))
    for kind, adjectives in QUALITIES.items():
        yield Sense(f"{kind}.n", (kind,), "quality.n")
        yield Sense(f"kind of {kind}.n", (f"kind of {kind}",), f"{kind}.n")
        for adjective, noun in adjectives.items():
            count = 300 // (TAIL.index(adjective) + 3)
            yield Sense(f"{noun}.n", (noun,), f"kind of {kind}.n", count=count)
            yield Sense(f"{adjective}.a", (adjective,), derived=f"{noun}.n", count=count)


def lexicon() -> tuple[Sense, ...]:
    """What the words of captions mean: colours are kinds of colour, shapes of shape, and so on.

    As in WordNet, an adjective has its like through the noun that it is derived from, and the words that replace each
    other have a grandparent in common. Words for pictures are synonyms, which never replace each other.
    """
    senses = [*_qualities(), Sense("thing.n", ("thing",)), Sense("shape.n", ("shape",), "thing.n")]
    for kind, names in SHAPES.items():
        senses.append(Sense(f"{kind}.n", (kind,), "shape.n"))
        senses += [Sense(f"{name}.n", (name,), f"{kind}.n", count=300 // (NAMES.index(name) + 6)) for name in names]
    senses += [
        Sense("representation.n", ("representation",)),
        Sense("picture.n", OPENINGS, "representation.n", count=100),
        Sense("act.v", ("act",)),
        Sense("touch.v", ("touch",), "act.v"),
        *(Sense(f"{LEMMAS[action]}.v", (LEMMAS[action],), "touch.v", count=20) for action in ACTIONS),
    ]
    for pos, couples in OPPOSITES.items():
        for couple in couples:
            for word, other in zip(couple, reversed(couple), strict=True):
                senses.append(Sense(f"{word}.{pos}", (word,), antonym=f"{other}.{pos}", count=20))
    return tuple(senses)
