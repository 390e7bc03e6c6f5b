"""Captioned scenes: what captions say is so, what a parser would find in them is right, and pictures are laid out as
they say.
"""

from dataclasses import replace
from random import Random

import pytest
import spacy

from recompose.synthetic import sentences
from recompose.synthetic.objects import CANVAS
from recompose.synthetic.scenes import RELATIONS
from recompose.synthetic.sentences import NONE, SOME, Entity, Scene, Wording

STAR = Entity("star", ("red",))
RING = Entity("ring", ("striped", "blue"))
VOCABULARY = spacy.blank("en").vocab


# text -> the head of each word, and its dependency, tag and kind; by hand, as spaCy's models have them
PARSED = {
    "a photo of a striped star left of a moon": (
        [1, 1, 1, 5, 5, 2, 5, 6, 9, 7],
        "det ROOT prep det amod pobj advmod prep det pobj",
        "DT NN IN DT JJ NN RB IN DT NN",
        "DET NOUN ADP DET ADJ NOUN ADV ADP DET NOUN",
    ),
    "the star is to the left of the moon": (
        [1, 2, 2, 2, 5, 3, 5, 8, 6],
        "det nsubj ROOT prep det pobj prep det pobj",
        "DT NN VBZ IN DT NN IN DT NN",
        "DET NOUN AUX ADP DET NOUN ADP DET NOUN",
    ),
    "a star holding a moon": ([1, 1, 1, 4, 2], "det ROOT acl det dobj", "DT NN VBG DT NN", "DET NOUN VERB DET NOUN"),
    "a star is holding a moon": (
        [1, 3, 3, 3, 5, 3],
        "det nsubj aux ROOT det dobj",
        "DT NN VBZ VBG DT NN",
        "DET NOUN AUX VERB DET NOUN",
    ),
    "a star and no moon": ([1, 1, 1, 4, 1], "det ROOT cc det conj", "DT NN CC DT NN", "DET NOUN CCONJ DET NOUN"),
    "a star at the top": ([1, 1, 1, 4, 2], "det ROOT prep det pobj", "DT NN IN DT NN", "DET NOUN ADP DET NOUN"),
}
MOON, PLAIN_STAR = Entity("moon"), Entity("star")
SCENES = [  # in the same order
    (Scene(Entity("star", ("striped",)), MOON, "left of"), Wording("photo")),
    (Scene(PLAIN_STAR, MOON, "left of"), Wording(article="the", sentence=True, long=True)),
    (Scene(PLAIN_STAR, MOON, "holding"), Wording()),
    (Scene(PLAIN_STAR, MOON, "holding"), Wording(sentence=True)),
    (Scene(PLAIN_STAR, Entity("moon", count=NONE)), Wording()),
    (Scene(PLAIN_STAR, relation="at the top"), Wording()),
]


@pytest.mark.parametrize(("shown", "text"), [*zip(SCENES, PARSED, strict=True)])
def test_what_a_parser_finds(shown: tuple[Scene, Wording], text: str) -> None:
    words = sentences.phrase(*shown).words()
    assert " ".join(word.text for word in words) == text
    parts = (" ".join(getattr(word, part) for word in words) for part in ("dep", "tag", "pos"))
    assert ([word.head for word in words], *parts) == PARSED[text]


def statements(count: int = 300) -> list[tuple[Scene, Scene, Wording]]:
    """Random scenes, and what is said of them, in which words."""
    made = []
    for number in range(count):
        rng = Random(f"statement/{number}")
        shown = sentences.choose_scene(sentences.PRETRAINING, rng, sentences.KINDS[number % len(sentences.KINDS)])
        output = sentences.choose_statement(shown, replace(sentences.PRETRAINING, denied=20), rng)
        made.append((shown, output, sentences.choose_wording(output, sentences.PRETRAINING, rng)))
    return made


def test_heads_form_trees_and_noun_chunks_are_all_things() -> None:
    for _, output, wording in statements():
        words = sentences.phrase(output, wording).words()
        roots = [place for place, word in enumerate(words) if word.head == place]
        assert len(roots) == 1 and words[roots[0]].dep == "ROOT"
        for place in range(len(words)):
            steps, here = 0, place
            while here not in roots:
                here, steps = words[here].head, steps + 1
                assert steps < len(words)
        doc = sentences.document(words, VOCABULARY)
        assert doc.text == sentences.caption(output, wording)
        named = [chunk.root.lemma_ for chunk in doc.noun_chunks if chunk.root.lemma_ in sentences.NAMES]
        assert named == [thing.name for thing in output.entities]
        for chunk in doc.noun_chunks:
            assert chunk.start == chunk.root.left_edge.i
            if chunk.root.lemma_ in sentences.NAMES:
                thing = output.entities[named.index(chunk.root.lemma_)]
                assert len(chunk) == 2 + len(thing.states) + bool(thing.size)


SHOWN = Scene(Entity("star", ("red",), "big"), RING, "left of")
TRUE_OF_SHOWN = [
    Scene(STAR),
    Scene(Entity("ring", ("blue",))),
    Scene(RING, Entity("star")),
    Scene(Entity("star"), relation="on the left"),
    Scene(Entity("ring", ("red",), count=NONE)),
    Scene(Entity("star", size="big"), Entity("ring"), "left of"),
]
FALSE_OF_SHOWN = [
    Scene(Entity("star", ("blue",))),
    Scene(Entity("star", size="small")),
    Scene(Entity("star", count=2)),
    Scene(Entity("star", count=SOME)),
    Scene(STAR, RING, "above"),
    Scene(STAR, RING, "holding"),
    Scene(Entity("star", ("striped", "blue")), Entity("ring", ("red",)), "left of"),
    Scene(Entity("star"), relation="on the right"),
    Scene(STAR, Entity("ring", count=NONE)),
    Scene(STAR, Entity("moon")),
]


def test_what_is_true_by_hand() -> None:
    assert all(sentences.is_true_of(output, SHOWN) for output in TRUE_OF_SHOWN)
    assert not any(sentences.is_true_of(output, SHOWN) for output in FALSE_OF_SHOWN)
    hearts = Scene(Entity("heart", ("red",), count=3))
    assert sentences.is_true_of(Scene(Entity("heart", count=SOME)), hearts)
    assert not sentences.is_true_of(Scene(Entity("heart")), hearts)
    held = Scene(STAR, RING, "holding")
    assert sentences.is_true_of(held, held) and not sentences.is_true_of(Scene(RING, STAR, "holding"), held)
    assert sentences.is_true_of(Scene(RING, STAR, "filling"), held) and not sentences.is_true_of(
        Scene(STAR, RING, "filling"), held
    )
    assert not sentences.is_true_of(Scene(RING, STAR, "covering"), Scene(STAR, RING, "covering"))


def test_captions_say_what_is_so() -> None:
    assert all(sentences.is_true_of(output, shown) for shown, output, _ in statements())


@pytest.mark.parametrize("relation", RELATIONS)
def test_two_things_stand_as_their_relation_says(relation: str) -> None:
    one, other = sentences.layout(Scene(STAR, RING, relation), Random(0))
    dx, dy = (there - here for here, there in zip(one.centre, other.centre, strict=True))
    ahead = {"left of": dx, "right of": -dx, "above": dy, "below": -dy}[relation]
    aside = dy if relation in ("left of", "right of") else dx
    assert ahead > 20 and abs(aside) < 6


@pytest.mark.parametrize("place", sentences.PLACES)
def test_one_thing_is_where_it_is_said_to_be(place: str) -> None:
    (spot,) = sentences.layout(Scene(STAR, relation=place), Random(0))
    x, y = (side - CANVAS // 2 for side in spot.centre)
    ahead = {"on the left": -x, "on the right": x, "at the top": -y, "at the bottom": y}[place]
    assert ahead > 10
