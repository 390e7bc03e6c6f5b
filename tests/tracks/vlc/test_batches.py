"""Batches of images, captions and negatives: what is in one, and on what it depends."""

import pickle
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import open_clip
import pytest
import spacy
import torch
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc

from recompose.backbones.clip import tokenizer_of
from recompose.backbones.pixels import PIXELS
from recompose.errors import ArgumentError, DataError
from recompose.tracks.vlc import batches
from recompose.tracks.vlc.attribution.labels import LabelRequest
from recompose.tracks.vlc.batches import Batch, CaptionRows, makers, read_rows, whole_batches
from recompose.tracks.vlc.data.captions import LISTED, Captions, read_negatives, write_docs
from recompose.tracks.vlc.data.shapes_captions import write_senses
from recompose.tracks.vlc.text.small_lexicon import write_lexicon
from tests.errors import raises
from tests.tracks.vlc import marked
from tests.tracks.vlc.tiny import CAPTIONS, KINDS, MAKERS, PATHS, images, stand_ins, write

pytestmark = pytest.mark.slow

VOCABULARY = spacy.blank("en").vocab


@pytest.fixture(scope="module")
def needs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(autouse=True)
def use_stand_ins(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    if "makers" not in request.node.name:
        monkeypatch.setattr(batches, "makers", stand_ins)


def rows_of(needs: dict[str, Path], kinds: list[str] = KINDS, seed: int = 0, epoch: int = 0) -> CaptionRows:
    rows = read_rows(needs, kinds, tokenizer_of("shapes-clip"), seed)
    rows.epoch = epoch
    return rows


def expected_negatives(row: int, seed: int = 0, epoch: int = 0) -> list[str | None]:
    rng = Random(f"{seed}/{epoch}/{row}")
    doc = Doc(VOCABULARY, CAPTIONS[row].split())
    return [MAKERS[kind](doc, rng) for kind in KINDS]


def test_a_batch_has_images_captions_and_the_negatives_that_could_be_made(needs: dict[str, Path]) -> None:
    chosen = [5, 0, 2, 4]  # the first has one word
    batch = rows_of(needs)[chosen]
    built = [expected_negatives(row) for row in chosen]
    assert batch.valid.tolist() == [[text is not None for text in texts] for texts in built]
    assert batch.valid.tolist()[0] == [False, False, False]
    texts = [CAPTIONS[row] for row in chosen] + [text for row in built for text in row if text is not None]
    ids = open_clip.get_tokenizer("ViT-B-32")(texts)  # the same vocabulary
    longest = int((ids > 0).sum(dim=1).max())
    assert batch.ids.shape == (len(texts), longest)
    assert torch.equal(batch.ids, ids[:, :longest])
    unique = list(dict.fromkeys(PATHS))
    assert np.array_equal(batch.pixels.numpy(), images(7)[[unique.index(PATHS[row]) for row in chosen]])


@given(st.integers(0, 3), st.integers(0, 3), st.permutations(range(9)))
def test_a_row_s_negatives_depend_on_seed_epoch_and_row_alone(seed: int, epoch: int, order: list[int]) -> None:
    docs = [Doc(VOCABULARY, caption.split()) for caption in CAPTIONS]
    rows = CaptionRows(
        images(1),
        np.zeros(9, dtype=int),
        CAPTIONS,
        stand_ins(KINDS, Path(), docs),
        lambda _: torch.ones(1, 1),
        seed,
    )
    rows.epoch = epoch
    built: dict[int, Any] = {row: rows.negatives(row) for row in order}
    assert all(built[row] == expected_negatives(row, seed, epoch) for row in order)


def test_negatives_change_from_epoch_to_epoch_and_from_seed_to_seed(needs: dict[str, Path]) -> None:
    built = []
    for seed, epoch in ((0, 0), (0, 1), (1, 0)):
        rows = rows_of(needs, seed=seed, epoch=epoch)
        built.append([rows.negatives(row) for row in range(9)])
    assert built[0] != built[1] and built[0] != built[2] and built[1] != built[2]


@given(st.integers(1, 60), st.integers(1, 9), st.integers(1, 3), st.integers(0, 5))
def test_batches_are_whole_disjoint_and_shared_equally(length: int, share: int, world: int, seed: int) -> None:
    if length < world:
        return
    size = share * world
    parts = [whole_batches(length, size, seed, rank, world) for rank in range(world)]
    assert len({tuple(map(len, part)) for part in parts}) == 1
    flat = [position for part in parts for batch in part for position in batch]
    assert len(set(flat)) == len(flat)
    assert set(flat) <= set(range(length))
    if length >= size:
        assert {len(batch) for batch in parts[0]} == {share}
        assert len(parts[0]) == length // size
    else:
        assert len(parts[0]) == 1
        assert len(flat) == length - length % world


def test_makers_are_those_of_the_kinds_that_are_asked_for(tmp_path: Path) -> None:
    write_lexicon(tmp_path / "lexicon", [])
    doc = spacy.blank("en")("a red circle above a blue square .")
    for token in doc:
        token.pos_, token.tag_, token.dep_ = "NOUN", "NN", "dep"
    result = makers(["bigram_shuffle", "replace", "negclip"], tmp_path, [doc])
    assert len(result) == 3
    shuffled = result[0](0, Random(0))
    assert shuffled is not None and sorted(shuffled.replace(".", " .").split()) == sorted(doc.text.split())
    assert makers([], tmp_path / "nothing", []) == []
    with raises(ArgumentError, place="kinds"):
        makers(["negclip", "typo"], tmp_path, [])


def test_makers_of_listed_negatives_draw_each_of_the_row_s(needs: dict[str, Path], tmp_path: Path) -> None:
    listed = [[], ["one"], ["one", "two"]]
    corpus = needs | {"data": tmp_path}
    Captions(("0.png",) * 3, ("a", "b", "c"), tuple(map(tuple, listed))).write(tmp_path)
    assert read_negatives(tmp_path) == listed
    np.save(tmp_path / PIXELS, images(1))
    rows = read_rows(corpus | {"pixels": tmp_path}, [LISTED], tokenizer_of("shapes-clip"), 0)  # without parses
    drawn = []
    for rows.epoch in range(20):
        drawn.append([rows.negatives(row) for row in range(3)])
    assert {(one, other) for (one,), (other,), _ in drawn} == {(None, "one")}
    assert {text for _, _, (text,) in drawn} == {"one", "two"}
    assert rows[[0, 2]].valid.tolist() == [[False], [True]]


def tensors_of(batch: Batch) -> list[torch.Tensor]:
    return [*batch[:3], *(batch.labels or ()), *([] if batch.changed is None else [batch.changed])]


@pytest.mark.parametrize("label_request", [None, LabelRequest("none", 2, {"object": 4, "attribute": 3, "relation": 3})])
def test_makers_in_another_process_make_the_same_batches_of_pixels_that_they_map_themselves(
    tmp_path: Path, label_request: LabelRequest | None
) -> None:
    texts = [doc.text for doc in marked.docs()]
    needs = write(tmp_path, [f"{row}.png" for row in range(len(texts))], texts)
    write_docs(marked.docs(), needs["data"])
    write_senses(needs["data"] / batches.LEXICON)
    rows = read_rows(needs, KINDS, tokenizer_of("shapes-clip"), 0, label_request)
    rows.epoch = 2
    expected = rows[[4, 0, 3]]
    sent = pickle.dumps(rows)
    assert images(len(texts))[0].tobytes() not in sent
    result = pickle.loads(sent)[[4, 0, 3]]
    assert (expected.labels is None) == (label_request is None)
    for one, other in zip(tensors_of(result), tensors_of(expected), strict=True):
        assert torch.equal(one, other)


def test_what_does_not_go_together_is_named(tmp_path: Path) -> None:
    empty = write(tmp_path / "empty", paths=[], captions=[])
    with raises(DataError, "no-captions", place="captions.json"):
        rows_of(empty)
    fewer = write(tmp_path / "fewer")
    np.save(fewer["pixels"] / PIXELS, images(6))
    with raises(DataError, "wrong-number", place="pixels.npy"):
        rows_of(fewer)
    undescribed = write(tmp_path / "undescribed")
    write_docs([Doc(VOCABULARY, ["a"])], undescribed["data"])
    with raises(DataError, "wrong-number", place="docs.spacy"):
        rows_of(undescribed)
    rows_of(undescribed, kinds=[])  # nothing is made of them
    Captions(tuple(PATHS), tuple(CAPTIONS)).write(undescribed["data"])
