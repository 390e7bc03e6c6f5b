from dataclasses import dataclass, field

import pytest

from recompose.tracks.vlc.text.lexicon import Alternatives, PartOfSpeech
from recompose.tracks.vlc.text.scene_graph import scene_graph
from tests.tracks.vlc.parses import BARE, BUS, ELEPHANTS, MATS, PIANO, RIDER, SANDALS, STANDING, TWICE, VAN, parsed


@dataclass
class Phrases:
    """A lexicon of phrases alone."""

    verbs: set[str] = field(default_factory=set)

    def related(self, word: str, part_of_speech: PartOfSpeech) -> Alternatives:
        raise NotImplementedError

    def prepositions(self, other_than: str) -> Alternatives:
        raise NotImplementedError

    def is_preposition(self, phrase: str) -> bool:
        return phrase in ("in", "on", "of", "in front of")

    def is_verb(self, phrase: str) -> bool:
        return phrase in self.verbs


CASES = {
    ELEPHANTS: (
        ["Three statues", "elephants", "the steps", "an old building"],
        ["Three", "the", "an", "old"],
        ["of", "on", "in front of"],
    ),
    SANDALS: (["Four different types", "sandals", "laces"], ["Four", "different"], ["of", "with"]),
    # its verb is no entity, so that "in front of" relates nothing to the fence
    VAN: (["The small blue van", "a fence"], ["The", "small", "blue", "a"], []),
    # "on" relates either of two animals to the mats
    MATS: (["A dog", "a tall cat", "mats"], ["A", "a", "tall"], ["on", "on"]),
    RIDER: (["A man", "RED apples", "his brown Horse"], ["A", "RED", "brown"], ["eating", "rides"]),
    PIANO: (["The piano", "a woman", "me"], ["The", "a"], ["played", "next to"]),
    BUS: (["a red and white bus", "trees"], ["a", "red", "white"], ["near"]),
    STANDING: (["A woman", "pianos"], ["A"], ["next to"]),
    TWICE: (["A dog", "a dog"], ["A", "a"], ["sees"]),
    BARE: (["dogs", "cats"], [], ["chase"]),
}


@pytest.mark.parametrize("sentence", CASES, ids=lambda sentence: str(parsed(sentence)))
def test_scene_graphs_by_hand(sentence: str) -> None:
    doc = parsed(sentence)
    graph = scene_graph(doc, Phrases())
    parts = tuple([each.text for each in part] for part in (graph.entities, graph.modifiers, graph.relations))
    assert parts == CASES[sentence]


def test_a_phrasal_verb_is_one_relation() -> None:
    assert [span.text for span in scene_graph(parsed(MATS), Phrases({"sit on"})).relations] == ["sit on", "sit on"]
    assert [span.root.text for span in scene_graph(parsed(MATS), Phrases({"sit on"})).relations] == ["sit", "sit"]
    apart = "dogs/NNS/1/nsubj sit/VBP/1/ROOT still/RB/1/advmod on/IN/1/prep mats/NNS/3/pobj"
    assert [span.text for span in scene_graph(parsed(apart), Phrases({"sit on"})).relations] == ["on"]


def test_a_relation_stands_once_for_each_pair_of_entities() -> None:
    both = "men/NNS/3/nsubj and/CC/0/cc women/NNS/0/conj hold/VBP/3/ROOT bats/NNS/3/dobj ,/,/4/punct balls/NNS/4/conj"
    assert [span.text for span in scene_graph(parsed(both), Phrases()).relations] == ["hold"] * 4


def test_modifiers_of_compounds_count() -> None:
    bus = "a/DT/3/det red/JJ/2/amod city/NN/3/compound bus/NN/3/ROOT"
    assert [token.text for token in scene_graph(parsed(bus), Phrases()).modifiers] == ["a", "red"]


def test_words_in_the_wrong_order_are_no_relation() -> None:
    bus = "bus/NN/0/ROOT to/IN/3/prep trees/NNS/1/pobj close/RB/0/advmod"
    assert scene_graph(parsed(bus), Phrases()).relations == ()
