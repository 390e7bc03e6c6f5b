"""Perturbed captions beside the tokenizer's ids of texts in which words are replaced."""

from collections import Counter
from random import Random

import numpy as np
import open_clip
import torch
from hypothesis import given
from hypothesis import strategies as st

from recompose.tracks.vlc.attribution.labels import LabelRequest, TokenLabeller
from recompose.tracks.vlc.batches import Batch, CaptionRows
from recompose.tracks.vlc.text.concepts import Concept, Kind, Place, concepts, places
from recompose.tracks.vlc.text.perturbations import Candidates, perturb_caption, replace_concept
from tests.tracks.vlc.marked import CONTEXT, docs, lexicon, pieces, tokenizer
from tests.tracks.vlc.tiny import images, of_rows, swapped

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
    of = places([red], ids, pieces)
    assert perturb_caption(ids, of, Candidates({"attribute": ("red",)}), 2, pieces, Random(0)) == [[]]


# in batches


def rows_of(
    label_request: LabelRequest | None, *, negatives: bool = False, seed: int = 0, epoch: int = 0
) -> CaptionRows:
    labeller = None if label_request is None else TokenLabeller(label_request, docs(), lexicon(), tokenizer)
    makers = [of_rows(swapped, docs())] if negatives else []
    captions, places_of_images = TEXTS, np.zeros(len(TEXTS), dtype=int)
    rows = CaptionRows(images(1), places_of_images, captions, makers, tokenizer, seed, labeller)
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
    candidates = {
        name
        for names in TokenLabeller(
            LabelRequest("none", 1, SIZES), docs(), lexicon(), tokenizer
        ).candidates.names.values()
        for name in names
    }
    built, before = texts_of(batch, chosen), texts_of(plain, chosen)
    for number, row in enumerate(chosen):
        negatives, changed = built[row][:1], built[row][1:]
        assert negatives == before[row]
        ids, spans = batch.ids[number], batch.changed[number][batch.changed[number].any(dim=1)]
        assert len(changed) == len(spans) and len(spans) % count == 0
        for text, span in zip(changed, spans, strict=True):
            start = int(span.int().argmax())
            head, tail = (
                open_clip.decode(ids[1:start]).strip(),
                text_of(torch.cat([ids[:1], ids[start + int(span.sum()) :]])),
            )
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
