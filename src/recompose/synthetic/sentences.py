"""Captioned scenes that compose: one kind of object, or two in a relation, with attributes, sizes, numbers and places.

A ``Scene`` is a small scene graph. It describes the content of a picture, which is drawn, or the statement of a
caption, which names all or a part of the content and is worded. So the truth of a caption about a picture follows from
the two (``is_true_of``), and so does the correct parse of the caption: words, their kinds, lemmas and heads.

Attributes, objects and relations follow long tails, as in web captions.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from PIL import Image

from recompose.errors import ArgumentError
from recompose.synthetic.looks import SCENES, Look
from recompose.synthetic.objects import COLOURS, OBJECTS, PAINTERS, draw_object, finish, ground
from recompose.synthetic.scenes import RELATIONS, TAIL, write_shards

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

NONE, SOME = 0, -1  # counts in captions besides numbers
NUMBERS = {2: "two", 3: "three", 4: "four"}
SIZES = ("big", "small")
NAMES = tuple(OBJECTS)
COLOUR_TAIL = tuple(state for state in TAIL if state in COLOURS)
PAINTED_TAIL = tuple(state for state in TAIL if state in PAINTERS)
DENIABLE = tuple(name for name in NAMES if name not in ("circle", "square"))  # shapes unlike the clutter on grounds
UNSEEN_BELOW = ("hollow", "faded")  # states of an entity in front of another, which would stay visible
ACTIONS = ("covering", "holding", "riding", "wearing", "leaving", "dropping", "filling")
PLACES = {"on the left": (17, 32), "on the right": (47, 32), "at the top": (32, 17), "at the bottom": (32, 47)}
# relation -> its name with the entities exchanged; "covering" has no converse
CONVERSES = {
    **{"left of": "right of", "right of": "left of", "above": "below", "below": "above"},
    **{"holding": "filling", "wearing": "riding", "dropping": "leaving"},
    **{"filling": "holding", "riding": "wearing", "leaving": "dropping"},
}
# action -> the vertical offset of the agent, and the distance of the other entity from it
LOADS = {"holding": (0, 0), "wearing": (6, -22), "dropping": (-8, 26)}
# relation -> the place of its first entity in the picture, and of its second
SIDES = {
    "left of": ("on the left", "on the right"),
    "right of": ("on the right", "on the left"),
    "above": ("at the top", "at the bottom"),
    "below": ("at the bottom", "at the top"),
}
RELATION_TAIL = ("left of", "above", "right of", "below")
KINDS = ("one", "many", "placed", "two", "act")
OPENINGS = ("photo", "picture", "image", "drawing")  # as in "a photo of ..."
SPOTS = {  # number of objects -> their centres
    2: ((18, 32), (46, 32)),
    3: ((32, 17), (17, 46), (47, 46)),
    4: ((17, 17), (47, 17), (17, 47), (47, 47)),
}


@dataclass(frozen=True)
class Entity:
    """One object, or several that are alike."""

    name: str  # of OBJECTS
    states: tuple[str, ...] = ()  # at most one colour, and at most one other of STATES
    size: str = ""  # of SIZES; empty: neither, or not mentioned
    count: int = 1  # 1 to 4; NONE and SOME only in captions

    @property
    def colour(self) -> str:
        """The colour, empty without one."""
        return next((state for state in self.states if state in COLOURS), "")

    @property
    def painted(self) -> str:
        """The other state, empty without one."""
        return next((state for state in self.states if state in PAINTERS), "")


@dataclass(frozen=True)
class Scene:
    """The content of a picture, or the statement of a caption.

    The relation is one of RELATIONS or ACTIONS between two entities, or one of PLACES of one entity. It is empty where
    there is none, or where a caption does not mention it.
    """

    first: Entity
    second: Entity | None = None
    relation: str = ""

    @property
    def entities(self) -> tuple[Entity, ...]:
        """The one or two entities."""
        return (self.first,) if self.second is None else (self.first, self.second)

    def couples(self) -> Iterator[tuple[Entity, str, Entity]]:
        """Yield both entities with their relation, in both directions."""
        if self.second:
            yield self.first, self.relation, self.second
            yield self.second, CONVERSES.get(self.relation, ""), self.first

    def places(self) -> Iterator[tuple[Entity, str]]:
        """Yield the entities with their place in the picture, as far as it has a name."""
        if self.second is None:
            yield self.first, self.relation
        else:
            yield from zip(self.entities, SIDES.get(self.relation, ("", "")), strict=True)


def _fits(claim: Entity, entity: Entity) -> bool:
    counted = claim.count in (entity.count, NONE) or (claim.count == SOME and entity.count > 1)
    alike = claim.name == entity.name and set(claim.states) <= set(entity.states) and claim.size in ("", entity.size)
    return counted and alike


def is_true_of(statement: Scene, scene: Scene) -> bool:
    """Return whether a statement is true of a scene.

    Example:
        >>> star, ring = Entity("star", ("red",)), Entity("ring", ("blue", "striped"))
        >>> scene = Scene(star, ring, "left of")
        >>> is_true_of(Scene(Entity("ring", ("blue",)), star, "right of"), scene)
        True
        >>> is_true_of(Scene(ring, star, "left of"), scene)
        False
        >>> is_true_of(Scene(star, Entity("moon", count=NONE)), scene)
        True
    """
    denials = [entity for entity in statement.entities if entity.count == NONE]
    if any(_fits(entity, present) for entity in denials for present in scene.entities):
        return False
    claims = [entity for entity in statement.entities if entity.count != NONE]
    if len(claims) == 2:
        return any(
            statement.relation in ("", relation) and _fits(claims[0], first) and _fits(claims[1], second)
            for first, relation, second in scene.couples()
        )
    return not claims or any(
        statement.relation in ("", place) and _fits(claims[0], entity) for entity, place in scene.places()
    )


# ---- drawing


@dataclass(frozen=True)
class Spot:
    """The position and size of an entity in a picture."""

    entity: Entity
    centre: tuple[int, int]
    radius: int


def _jittered(centre: tuple[int, int], jitter: int, rng: Random) -> tuple[int, int]:
    return centre[0] + rng.randrange(-jitter, jitter + 1), centre[1] + rng.randrange(-jitter, jitter + 1)


def _lay_out_one(scene: Scene, rng: Random) -> list[Spot]:
    entity = scene.first
    if entity.count > 1:
        radius = 10 + rng.randrange(3)
        return [Spot(entity, _jittered(spot, 2, rng), radius) for spot in SPOTS[entity.count]]
    if scene.relation:
        return [Spot(entity, _jittered(PLACES[scene.relation], 2, rng), 13 + rng.randrange(4))]
    radius = {"big": 27, "": 18, "small": 8}[entity.size] + rng.randrange(4)
    return [Spot(entity, _jittered((32, 32), {"big": 2, "": 4, "small": 8}[entity.size], rng), radius)]


def _lay_out_action(relation: str, first: Entity, second: Entity, rng: Random) -> list[Spot]:
    """Lay out an action: the covering entity is drawn last, over the other; the one that holds, wears or drops is
    larger.
    """
    if relation == "covering":
        x, y = rng.choice((-9, 9)), rng.choice((-9, 9))
        return [
            Spot(second, _jittered((32 + x, 32 + y), 1, rng), 17 + rng.randrange(3)),
            Spot(first, _jittered((32 - x, 32 - y), 1, rng), 17 + rng.randrange(3)),
        ]
    if relation not in LOADS:
        return _lay_out_action(CONVERSES[relation], second, first, rng)
    lift, distance = LOADS[relation]
    x, y = _jittered((32, 32 + lift), 2, rng)
    return [Spot(first, (x, y), 20 + rng.randrange(3)), Spot(second, (x, y + distance), 9 + rng.randrange(2))]


def layout(scene: Scene, rng: Random) -> list[Spot]:
    """Return the positions of the entities of a scene, in the order of drawing."""
    if scene.second is None:
        return _lay_out_one(scene, rng)
    if scene.relation in ACTIONS:
        return _lay_out_action(scene.relation, scene.first, scene.second, rng)
    radii = {"big": 17, "": 13, "small": 7}
    return [
        Spot(entity, _jittered(centre, 2, rng), radii[entity.size] + rng.randrange(3))
        for entity, centre in zip(scene.entities, RELATIONS[scene.relation], strict=True)
    ]


def draw_spots(spots: Sequence[Spot], rng: Random, look: Look = SCENES) -> Image.Image:
    """Draw the picture [SIZE x SIZE] of entities at their positions."""
    picture = ground(rng, look)
    for spot in spots:
        draw_object(picture, spot.entity.name, spot.entity.states, spot.centre, spot.radius, rng, look)
    return finish(picture, look)


def draw_scene(scene: Scene, rng: Random, look: Look = SCENES) -> Image.Image:
    """Draw the picture [SIZE x SIZE] of a scene; a scene of two entities has a relation."""
    return draw_spots(layout(scene, rng), rng, look)


# ---- wording


@dataclass(frozen=True)
class Node:
    """A word in the tree of its caption, in spaCy's terms."""

    text: str
    tag: str  # Penn Treebank's
    pos: str
    dep: str = "ROOT"
    lemma: str = ""  # empty: the text
    before: tuple["Node", ...] = ()
    after: tuple["Node", ...] = ()
    head: int = 0  # in the parse of a caption: the position of its head; its own position at the root

    def __len__(self) -> int:
        return 1 + sum(map(len, self.before + self.after))

    def words(self, start: int = 0, head: int | None = None) -> list["Node"]:
        """Return the parsed words of this part of a caption, from left to right.

        Args:
            start: the position of the first of them.
            head: the position of the head of this node; None for the root.
        """
        position = start + sum(map(len, self.before))
        words: list[Node] = []
        for node in self.before:
            words += node.words(start + len(words), position)
        words.append(replace(self, lemma=self.lemma or self.text, head=position if head is None else head))
        for node in self.after:
            words += node.words(start + len(words), position)
        return words


@dataclass(frozen=True)
class Wording:
    """The wording of a caption."""

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


def _determiner(entity: Entity, following: str, article: str) -> tuple[Node, ...]:
    if entity.count in NUMBERS:
        return (Node(NUMBERS[entity.count], "CD", "NUM", "nummod"),)
    word = {NONE: "no", SOME: "some"}.get(entity.count, article)
    return (Node("an" if word == "a" and following[0] in "aeiou" else word, "DT", "DET", "det"),)


def _noun_phrase(entity: Entity, wording: Wording, dep: str = "ROOT", after: tuple[Node, ...] = ()) -> Node:
    """Return a phrase such as "a small striped red star"; ``after`` holds the dependents that follow the noun."""
    adjectives = [word for word in (entity.size, entity.painted, entity.colour) if word]
    several = entity.count not in (NONE, 1)
    noun = PLURALS.get(entity.name, entity.name + "s") if several else entity.name
    before = _determiner(entity, (adjectives or [noun])[0], wording.article)
    before += tuple(Node(word, "JJ", "ADJ", "amod") for word in adjectives)
    return Node(noun, "NNS" if several else "NN", "NOUN", dep, entity.name, before, after)


def _preposition(text: str, inner: Node) -> Node:
    return Node(text, "IN", "ADP", "prep", after=(inner,))


def _definite_noun(noun: str, after: tuple[Node, ...] = ()) -> Node:
    return Node(noun, "NN", "NOUN", "pobj", before=(Node("the", "DT", "DET", "det"),), after=after)


def _relation(statement: Scene, wording: Wording) -> tuple[Node, ...]:
    """Return the nodes after a noun, or after "is", that name the relation to the other entity, or the place."""
    if statement.second is None:
        place_preposition, _, noun = statement.relation.split() if statement.relation else ("", "", "")
        return (_preposition(place_preposition, _definite_noun(noun)),) if noun else ()
    if not statement.relation:
        return (Node("and", "CC", "CCONJ", "cc"), _noun_phrase(statement.second, wording, "conj"))
    if statement.relation in ACTIONS:
        target = _noun_phrase(statement.second, wording, "dobj")
        return (Node(statement.relation, "VBG", "VERB", "acl", LEMMAS[statement.relation], after=(target,)),)
    target = _noun_phrase(statement.second, wording, "pobj")
    side, _, preposition_of = statement.relation.partition(" ")
    if not preposition_of:
        return (_preposition(side, target),)
    if wording.long:
        return (_preposition("to", _definite_noun(side, (_preposition(preposition_of, target),))),)
    return (Node(side, "RB", "ADV", "advmod", after=(_preposition(preposition_of, target),)),)


def _sentence(statement: Scene, wording: Wording) -> Node:
    subject = _noun_phrase(statement.first, wording, "nsubj")
    auxiliary = Node("is", "VBZ", "AUX", "ROOT", "be")
    (predicate,) = _relation(statement, wording)
    if statement.relation in ACTIONS:
        return replace(predicate, dep="ROOT", before=(subject, replace(auxiliary, dep="aux")))
    return replace(auxiliary, before=(subject,), after=(predicate,))


def phrase(statement: Scene, wording: Wording = PLAIN) -> Node:
    """Return the tree of a caption.

    Raises:
        ValueError: the wording is a sentence, but there is no relation or place, or several objects.
    """
    if wording.sentence:
        if not statement.relation or statement.first.count != 1:
            raise ArgumentError(
                "statement", f"is no sentence, without one object in a relation or a place: {statement}"
            )
        return _sentence(statement, wording)
    if not wording.opening:
        return _noun_phrase(statement.first, wording, after=_relation(statement, wording))
    inner = _noun_phrase(statement.first, wording, "pobj", _relation(statement, wording))
    article = "an" if wording.opening[0] in "aeiou" else "a"
    return Node(
        wording.opening, "NN", "NOUN", before=(Node(article, "DT", "DET", "det"),), after=(_preposition("of", inner),)
    )


def caption(statement: Scene, wording: Wording = PLAIN) -> str:
    """Return the text of a caption.

    Example:
        >>> hearts = Entity("heart", ("glossy",), count=3)
        >>> caption(Scene(hearts), Wording(opening="image"))
        'an image of three glossy hearts'
        >>> caption(Scene(Entity("arrow"), Entity("star", ("red",)), "left of"), Wording(long=True))
        'an arrow to the left of a red star'
    """
    return " ".join(word.text for word in phrase(statement, wording).words())


def document(words: Sequence[Node], vocab: "Vocab") -> "Doc":
    """Return a caption as the parse of spaCy."""
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


# ---- content of pictures


@dataclass(frozen=True)
class Style:
    """The style of a collection: the look and content of its pictures, and the detail of its captions.

    All numbers but the weights are percents.
    """

    look: Look
    kinds: Mapping[str, int]  # weights of KINDS
    related: int = 85  # captions of two entities that name their relation
    complete: int = 85  # attributes that captions mention
    denied: int = 4  # captions that deny an absent object
    opened: int = 60  # captions that start with "a photo of" or similar
    flat: bool = False  # no long tails
    sizes: int = 20  # entities with a noticeable size


def _pick(values: Sequence[str], style: Style, rng: Random) -> str:
    """Return one of the values, by a long tail in their order."""
    weights = [1 if style.flat else 1 / (rank + 3) for rank in range(len(values))]
    return rng.choices(values, weights)[0]


def _random_entity(style: Style, rng: Random, earlier: Entity | None = None, excluded: Sequence[str] = ()) -> Entity:
    """Return a random entity; its name and colour differ from those of an earlier one."""
    name = _pick([name for name in NAMES if not earlier or name != earlier.name], style, rng)
    colours = [colour for colour in COLOUR_TAIL if not earlier or colour != earlier.colour]
    choice = 1 + rng.randrange(3)  # 1: a colour; 2: another state; otherwise both
    painted = (_pick([state for state in PAINTED_TAIL if state not in excluded], style, rng),) if choice != 1 else ()
    colour = (_pick(colours, style, rng),) if choice != 2 or earlier else ()
    return Entity(name, painted + colour)


def _with_size(entity: Entity, style: Style, rng: Random) -> Entity:
    return replace(entity, size=rng.choice(SIZES)) if rng.randrange(100) < style.sizes else entity


def choose_scene(style: Style, rng: Random, kind: str = "") -> Scene:
    """Return the random content of a picture of a collection.

    Args:
        style: the style of the collection.
        rng: the random numbers.
        kind: one of KINDS; empty: a random one by the style's weights.
    """
    kind = kind or rng.choices(list(style.kinds), list(style.kinds.values()))[0]
    excluded = UNSEEN_BELOW if kind == "act" else ()
    first = _random_entity(style, rng, excluded=excluded)
    if kind == "many":
        return Scene(replace(first, count=rng.choice(list(NUMBERS))))
    if kind == "placed":
        return Scene(first, relation=_pick(list(PLACES), style, rng))
    if kind == "one":
        return Scene(_with_size(first, style, rng))
    if kind == "act":
        first = first if first.colour else replace(first, states=(*first.states, rng.choice(COLOUR_TAIL)))
        return Scene(first, _random_entity(style, rng, first, excluded), _pick(ACTIONS, style, rng))
    second = _random_entity(style, rng, first)
    return Scene(_with_size(first, style, rng), _with_size(second, style, rng), _pick(RELATION_TAIL, style, rng))


def _mention(entity: Entity, style: Style, rng: Random) -> Entity:
    states = tuple(state for state in entity.states if rng.randrange(100) < style.complete)
    is_some = entity.count > 1 and not rng.randrange(8)
    return replace(entity, states=states, count=SOME if is_some else entity.count)


def choose_statement(scene: Scene, style: Style, rng: Random) -> Scene:
    """Return the statement of a caption about a picture: all or a part of its content."""
    first, second = _mention(scene.first, style, rng), None
    relation = scene.relation if rng.randrange(100) < style.related else ""
    if scene.second:
        second = _mention(scene.second, style, rng)
        if relation in CONVERSES and rng.randrange(2):
            first, relation, second = second, CONVERSES[relation], first
    elif not relation and rng.randrange(100) < 2 * style.denied:
        second = Entity(rng.choice([name for name in DENIABLE if name != first.name]), count=NONE)
    return Scene(first, second, relation)


def choose_wording(statement: Scene, style: Style, rng: Random) -> Wording:
    """Return the random wording of a caption."""
    opening = rng.choice(OPENINGS) if rng.randrange(100) < style.opened else ""
    sentence = not opening and bool(statement.relation) and statement.first.count == 1 and not rng.randrange(4)
    article = "the" if sentence and rng.randrange(2) else "a"
    return Wording(opening, article, sentence, long=not rng.randrange(4))


def draw_captioned_scene(style: Style, rng: Random) -> tuple[Image.Image, Scene, Scene, Wording]:
    """Return a picture [SIZE x SIZE] of a collection, its content, the statement of its caption, and the wording."""
    scene = choose_scene(style, rng)
    statement = choose_statement(scene, style, rng)
    wording = choose_wording(statement, style, rng)
    return draw_scene(scene, rng, style.look), scene, statement, wording


# ---- the pretraining corpus

PRETRAINING = Style(SCENES, {"one": 58, "many": 6, "placed": 4, "two": 28, "act": 4}, denied=1)


def write_corpus(folder: Path, *, scenes: int, seed: int, style: Style = PRETRAINING) -> None:
    """Write captioned scenes into a folder, which ``scenes.read_corpus`` reads.

    Captions name the content, mostly one entity: a model that learns from them knows words, and has little reason to
    attend to their order.
    """

    def draw(index: int) -> tuple[Image.Image, str]:
        picture, _, statement, wording = draw_captioned_scene(style, Random(f"captions/{seed}/{index}"))
        return picture, caption(statement, wording)

    write_shards(folder, scenes, draw)


# ---- meanings of words


@dataclass(frozen=True)
class Sense:
    """A meaning that words share: a synset of the lexicon. Senses are named as in WordNet's lists, ``red.n``."""

    name: str
    words: tuple[str, ...]
    above: str = ""  # the more general sense
    antonym: str = ""
    derived: str = ""  # the sense of the noun that an adjective is derived from
    count: int = 1  # frequency of its words

    @property
    def pos(self) -> str:
        """The part of speech: ``n``, ``v``, ``a`` or ``r``, as in WordNet."""
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

# preposition -> its frequency; those of several words replace, and are replaced, as one
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
    """Return the meanings of the words of captions: colours are kinds of colour, shapes of shape, and so on.

    As in WordNet, adjectives are related through the nouns that they are derived from, and words that replace each
    other share a grandparent. Words for pictures are synonyms, which never replace each other.
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
            for word, opposite in zip(couple, reversed(couple), strict=True):
                senses.append(Sense(f"{word}.{pos}", (word,), antonym=f"{opposite}.{pos}", count=20))
    return tuple(senses)
