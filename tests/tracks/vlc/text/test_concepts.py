"""Scene graphs, concepts, labels of tokens and perturbed captions, beside sentences that were read by hand."""

import pickle
from collections import Counter
from dataclasses import dataclass, field
from random import Random

import numpy as np
import open_clip
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from recompose.tracks.vlc.attribution.labels import IsolatedTokenizer, LabelRequest, TokenLabeller, token_labels
from recompose.tracks.vlc.batches import Batch, CaptionRows
from recompose.tracks.vlc.text.concepts import (
    Candidates,
    Concept,
    Kind,
    Place,
    concepts,
    first_match,
    perturb_caption,
    places,
    replace_concept,
)
from recompose.tracks.vlc.text.lexicon import Alternatives, PartOfSpeech
from recompose.tracks.vlc.text.scene_graph import scene_graph
from tests.tracks.vlc.marked import COMPOSITION, CONTEXT, OBJECTS, docs, lexicon, pieces, spelled, tokenizer
from tests.tracks.vlc.parses import BARE, BUS, ELEPHANTS, MATS, PIANO, RIDER, SANDALS, STANDING, TWICE, VAN, parsed
from tests.tracks.vlc.tiny import images, of_rows, swapped


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


def test_entities_are_noun_chunks() -> None:
    assert [span.text for span in scene_graph(parsed(VAN), Phrases()).entities] == ["The small blue van", "a fence"]


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


BY_HAND = {  # objects, attributes, determiners and numerals, relations
    ELEPHANTS: (
        ["statues", "elephants", "steps", "building"],
        ["old"],
        ["Three", "the", "an"],
        ["of", "on", "in front of"],
    ),
    SANDALS: (["types", "sandals", "laces"], ["different"], ["Four"], ["of", "with"]),
    # its verb is no entity, so that "in front of" relates nothing to the fence
    VAN: (["van", "fence"], ["small", "blue"], ["The", "a"], []),
    # "on" relates either of two animals to the mats
    MATS: (["dog", "cat", "mats"], ["tall"], ["A", "a"], ["on", "on"]),
    RIDER: (["man", "apples", "Horse"], ["RED", "brown"], ["A"], ["eating", "rides"]),
    PIANO: (["piano", "woman"], [], ["The", "a"], ["played", "next to"]),  # "me" is no object
    BUS: (["bus", "trees"], ["red", "white"], ["a"], ["near"]),
    STANDING: (["woman", "pianos"], [], ["A"], ["next to"]),
    TWICE: (["dog", "dog"], [], ["A", "a"], ["sees"]),
    BARE: (["dogs", "cats"], [], [], ["chase"]),
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


def test_all_pieces_of_a_word_are_marked_and_the_first_of_two_alike() -> None:
    text = "a zyzzyva beside a zyzzyva"
    (ids,) = tokenizer([text]).tolist()
    several = pieces("zyzzyva")
    assert len(several) > 1
    zyzzyva, beside = Concept("object", "zyzzyva", "zyzzyva"), Concept("relation", "beside", "beside")
    result = places([zyzzyva, beside, zyzzyva], ids, pieces)
    end = 2 + len(several)
    assert result == [Place(zyzzyva, 2, end), Place(beside, end, end + 1)]
    assert token_labels([result], 24).objects[0].nonzero().flatten().tolist() == [*range(2, end)]


def test_what_the_context_cuts_off_is_not_marked() -> None:
    (ids,) = tokenizer([" ".join(["circle"] * 30 + ["star"])]).tolist()
    star, circle = (Concept("object", name, name) for name in ("star", "circle"))
    assert places([star, circle], ids, pieces) == [Place(circle, 1, 2)]


@given(st.text("ab", max_size=8), st.text("ab", max_size=3))
def test_the_first_match_is_that_of_strings(text: str, wanted: str) -> None:
    place = text.find(wanted) if wanted else -1
    assert first_match([*map(ord, wanted)], [*map(ord, text)]) == (None if place < 0 else place)


def test_what_encodes_texts_by_themselves_is_the_same_in_another_process() -> None:
    encoded: list[str] = []

    def counted(texts: list[str]) -> Tensor:
        encoded.extend(texts)
        return tokenizer(texts)

    alone, sent = IsolatedTokenizer(counted), pickle.loads(pickle.dumps(IsolatedTokenizer(tokenizer)))
    for text in ("motorcyclist", "next to", "motorcyclist", ""):
        assert alone(text) == sent(text) == pieces(text)
    assert encoded == ["motorcyclist", "next to", ""]


WORDS = ["red", "star", "zyzzyva", "next to", "motorcyclist", "on"]
SIZES: dict[Kind, int] = {"object": 4, "attribute": 3, "relation": 3}
TEXTS = [doc.text for doc in docs()]


def ids_of(text: str) -> list[int]:
    ids: list[int] = tokenizer([text])[0].tolist()
    return ids


@given(
    st.lists(st.sampled_from(WORDS), max_size=14),
    st.sampled_from(WORDS),
    st.lists(st.sampled_from(WORDS), max_size=14),
    st.sampled_from(WORDS),
)
def test_replaced_ids_are_those_of_the_text_with_another_word(
    before: list[str], word: str, after: list[str], other: str
) -> None:
    ids = ids_of(" ".join([*before, word, *after]))
    start = 1 + sum(len(pieces(each)) for each in before)
    place = Place(Concept("object", word, word), start, start + len(pieces(word)))
    if place.end > ids.index(max(ids)):  # cut off: it would not have been found
        return
    if ids.index(max(ids)) == CONTEXT - 1:  # what was cut off of the caption does not come back
        whole = [*ids[:start], *pieces(other), *ids[place.end : -1]][: CONTEXT - 1]
        assert replace_concept(ids, place, pieces(other)) == [*whole, max(ids), *[0] * (CONTEXT - 1 - len(whole))]
    else:
        assert replace_concept(ids, place, pieces(other)) == ids_of(" ".join([*before, other, *after]))


def test_candidates_are_the_most_frequent_of_the_captions() -> None:
    seen = [concept for doc in docs() for concept in concepts(doc, lexicon())]
    result = Candidates.most_frequent(seen, SIZES)
    for kind, size in SIZES.items():
        counts = Counter(each.name for each in seen if each.kind == kind)
        if kind == "relation":
            assert counts.pop("of")
        expected = sorted(counts, key=lambda name: (-counts[name], name))[:size]
        assert list(result.names[kind]) == expected
    assert result.names["object"][:2] == ("ring", "star")
    assert result.names["attribute"][0] == "blue"


@given(st.integers(0, 9), st.integers(1, 7), st.sampled_from(["cat", "cats", "yak"]))
def test_drawn_candidates_are_others_and_repeat_where_they_must_alone(seed: int, count: int, text: str) -> None:
    names = ("dog", "cat", "ant", "bee")
    concept = Concept("object", text, text.removesuffix("s"))
    drawn = Candidates({"object": names}).draw(concept, count, Random(seed))
    others = set(names) - {"cat"} if text != "yak" else set(names)
    assert len(drawn) == count and set(drawn) <= others
    counts = Counter(drawn)
    assert max(counts.values()) - min(counts[name] for name in others) <= 1


def test_nothing_is_drawn_where_there_is_no_other() -> None:
    red = Concept("attribute", "red", "red")
    assert Candidates({"attribute": ("red",)}).draw(red, 2, Random(0)) == []
    (ids,) = tokenizer(["a red star"]).tolist()
    red_places = places([red], ids, pieces)
    assert perturb_caption(ids, red_places, Candidates({"attribute": ("red",)}), 2, pieces, Random(0)) == [[]]


# in batches


def rows_of(request: LabelRequest | None, negatives: bool = False, seed: int = 0, epoch: int = 0) -> CaptionRows:
    labeller = None if request is None else TokenLabeller(request, docs(), lexicon(), tokenizer)
    makers = [of_rows(swapped, docs())] if negatives else []
    rows = CaptionRows(images(1), np.zeros(len(TEXTS), dtype=int), TEXTS, makers, tokenizer, seed, labeller)
    rows.epoch = epoch
    return rows


def texts_of(batch: Batch, rows: list[int]) -> dict[int, list[str]]:
    """The texts that a batch has of each row besides its caption, in their order."""
    built = iter(batch.ids[len(rows) :])
    return {row: [text_of(next(built)) for _ in range(int(batch.valid[n].sum()))] for n, row in enumerate(rows)}


def text_of(ids: torch.Tensor) -> str:
    text: str = open_clip.decode(ids[1 : int(ids.argmax())])
    return text.strip()


def test_batches_have_each_concept_replaced_behind_the_negatives() -> None:
    chosen, count = [2, 3, 0], 2
    batch = rows_of(LabelRequest("none", count, SIZES), negatives=True)[chosen]
    plain = rows_of(None, negatives=True)[chosen]
    assert batch.labels is not None and batch.changed is not None
    assert torch.equal(batch.valid[:, :1], plain.valid)
    assert torch.equal(batch.valid[:, 1:], batch.changed.any(dim=2))
    assert torch.equal(batch.changed.any(dim=1), batch.labels.objects | batch.labels.composition)
    labeller = TokenLabeller(LabelRequest("none", 1, SIZES), docs(), lexicon(), tokenizer)
    candidates = {name for names in labeller.candidates.names.values() for name in names}
    built, before = texts_of(batch, chosen), texts_of(plain, chosen)
    for number, row in enumerate(chosen):
        negatives, changed = built[row][:1], built[row][1:]
        assert negatives == before[row]
        ids, spans = batch.ids[number], batch.changed[number][batch.changed[number].any(dim=1)]
        assert len(changed) == len(spans) and len(spans) % count == 0
        for text, span in zip(changed, spans, strict=True):
            start = int(span.int().argmax())
            head = open_clip.decode(ids[1:start]).strip()
            tail = text_of(torch.cat([ids[:1], ids[start + int(span.sum()) :]]))
            assert text.startswith(head) and text.endswith(tail)
            assert text[len(head) : len(text) - len(tail)].strip() in candidates
            assert text != TEXTS[row]


def test_perturbations_depend_on_seed_epoch_and_row_alone() -> None:
    request = LabelRequest("none", 1, SIZES)
    one, other = rows_of(request)[[0, 4, 6]], rows_of(request)[[6, 1, 0]]
    assert texts_of(one, [0, 4, 6])[0] == texts_of(other, [6, 1, 0])[0]
    assert texts_of(one, [0, 4, 6])[6] == texts_of(other, [6, 1, 0])[6]
    again = [texts_of(rows_of(request, seed=seed, epoch=epoch)[[0]], [0]) for seed, epoch in ((0, 0), (0, 1), (1, 0))]
    assert again[0] != again[1] and again[0] != again[2] and again[1] != again[2]
