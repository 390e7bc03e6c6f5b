"""Labels of objects and of composition beside sentences that were read by hand."""

import pickle

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from recompose.tracks.vlc.attribution.labels import IsolatedTokenizer, token_labels
from recompose.tracks.vlc.text.concepts import Concept, Place, concepts, first_match, places
from tests.tracks.vlc.marked import COMPOSITION, OBJECTS, docs, lexicon, of_places, pieces, spelled, tokenizer
from tests.tracks.vlc.parses import BUS, ELEPHANTS, MATS, PIANO, RIDER, parsed
from tests.tracks.vlc.text.test_scene_graph import Phrases

BY_HAND = {  # objects, attributes, determiners and numerals, relations
    ELEPHANTS: (
        ["statues", "elephants", "steps", "building"],
        ["old"],
        ["Three", "the", "an"],
        ["of", "on", "in front of"],
    ),
    MATS: (["dog", "cat", "mats"], ["tall"], ["A", "a"], ["on", "on"]),
    RIDER: (["man", "apples", "Horse"], ["RED", "brown"], ["A"], ["eating", "rides"]),
    PIANO: (["piano", "woman"], [], ["The", "a"], ["played", "next to"]),  # "me" is no object
    BUS: (["bus", "trees"], ["red", "white"], ["a"], ["near"]),
}


@pytest.mark.parametrize("sentence", BY_HAND, ids=lambda sentence: str(parsed(sentence)))
def test_concepts_by_hand(sentence: str) -> None:
    objects, attributes, others, relations = BY_HAND[sentence]
    result = concepts(parsed(sentence), Phrases())
    assert [each.text for each in result if each.kind == "object"] == objects
    assert [each.text for each in result if each.kind == "attribute"] == attributes
    assert [each.text for each in result if each.kind == "relation"] == relations
    but_the = [text for text in others if text.lower() != "the"]
    for choice, added in (("all", others), ("all-but-the", but_the)):
        more = concepts(parsed(sentence), Phrases(), determiners=choice)  # type: ignore[arg-type]
        assert sorted(each.text for each in more if each.kind == "attribute") == sorted(attributes + added)


def test_objects_are_called_by_their_lemma_and_others_as_they_stand() -> None:
    names = {each.text: each.name for each in concepts(parsed(RIDER), Phrases())}
    assert names == {
        **{"man": "man", "apples": "apple", "Horse": "horse"},
        **{"RED": "red", "brown": "brown", "eating": "eating", "rides": "rides"},
    }


@pytest.mark.parametrize("row", range(len(OBJECTS)))
def test_marks_of_drawn_captions_are_those_of_their_scenes(row: int) -> None:
    ids = tokenizer([docs()[row].text])
    result = token_labels([places(concepts(docs()[row], lexicon()), ids[0].tolist(), pieces)], ids.shape[1])
    assert spelled(ids[0], result.objects[0]) == OBJECTS[row]
    assert spelled(ids[0], result.composition[0]) == COMPOSITION[row]
    assert result.complete.tolist() == [bool(COMPOSITION[row])]


def test_marks_place_by_place() -> None:
    """0 is the start of text; "mats" is one piece, "tall" too."""
    ids = tokenizer(["A dog and a tall cat sit on mats"])
    result = token_labels([places(concepts(parsed(MATS), Phrases()), ids[0].tolist(), pieces)], ids.shape[1])
    assert torch.equal(result.objects[0], of_places((2, 3), (6, 7), (9, 10)))
    assert torch.equal(result.composition[0], of_places((5, 6), (8, 9)))


def test_all_pieces_of_a_word_are_marked_and_the_first_of_two_alike() -> None:
    text = "a zyzzyva beside a zyzzyva"
    (ids,) = tokenizer([text]).tolist()
    several = pieces("zyzzyva")
    assert len(several) > 1
    zyzzyva, beside = Concept("object", "zyzzyva", "zyzzyva"), Concept("relation", "beside", "beside")
    result = places([zyzzyva, beside, zyzzyva], ids, pieces)
    end = 2 + len(several)
    assert result == [Place(zyzzyva, 2, end), Place(beside, end, end + 1)]
    assert torch.equal(token_labels([result], 24).objects[0], of_places((2, end)))


def test_what_the_context_cuts_off_is_not_marked() -> None:
    (ids,) = tokenizer([" ".join(["circle"] * 30 + ["star"])]).tolist()
    star, circle = (Concept("object", name, name) for name in ("star", "circle"))
    assert places([star, circle], ids, pieces) == [Place(circle, 1, 2)]


@given(st.text("ab", max_size=8), st.text("ab", max_size=3))
def test_the_first_match_is_that_of_strings(text: str, wanted: str) -> None:
    place = text.find(wanted) if wanted else -1
    assert first_match([*map(ord, wanted)], [*map(ord, text)]) == (None if place < 0 else place)


def test_what_encodes_texts_by_themselves_is_the_same_in_another_process() -> None:
    asked: list[str] = []

    def counted(texts: list[str]) -> Tensor:
        asked.extend(texts)
        return tokenizer(texts)

    alone, sent = IsolatedTokenizer(counted), pickle.loads(pickle.dumps(IsolatedTokenizer(tokenizer)))
    for text in ("motorcyclist", "next to", "motorcyclist", ""):
        assert alone(text) == sent(text) == pieces(text)
    assert asked == ["motorcyclist", "next to", ""]
