"""Batches of images, captions and negatives, and random crops: what is in one, and on what it depends."""

import pickle
from pathlib import Path
from random import Random
from types import SimpleNamespace

import numpy as np
import open_clip
import pytest
import spacy
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from spacy.tokens import Doc
from torch import Tensor
from torchvision.transforms import RandomResizedCrop

from recompose.backbones.clip import tokenizer_of
from recompose.backbones.pixels import PIXELS
from recompose.errors import DataError
from recompose.tracks.vlc import batches
from recompose.tracks.vlc.attribution.labels import LabelRequest
from recompose.tracks.vlc.batches import Batch, CaptionData, CaptionRows, makers, read_rows, whole_batches
from recompose.tracks.vlc.crops import random_boxes, random_crops
from recompose.tracks.vlc.data.captions import LISTED, Captions, read_negatives, write_docs
from recompose.tracks.vlc.text.negatives import bigram_shuffle, negclip
from recompose.tracks.vlc.text.small_lexicon import write_lexicon
from recompose.training.loop import epoch_seed
from tests.errors import raises
from tests.tracks.vlc import marked
from tests.tracks.vlc.parses import RIDER, parsed
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


def test_a_row_s_negatives_depend_on_seed_epoch_and_row_alone(needs: dict[str, Path]) -> None:
    built = []
    for seed, epoch in ((0, 0), (0, 1), (1, 0)):
        rows = rows_of(needs, seed=seed, epoch=epoch)
        built.append([rows.negatives(row) for row in reversed(range(9))])
        assert built[-1] == [expected_negatives(row, seed, epoch) for row in reversed(range(9))]
    assert built[0] != built[1] and built[0] != built[2] and built[1] != built[2]


def test_each_epoch_has_negatives_and_an_order_of_its_own(needs: dict[str, Path]) -> None:
    rows = rows_of(needs)
    data = CaptionData(rows, batch_size=4, seed=5)
    data.trainer = SimpleNamespace(current_epoch=2, global_rank=0, world_size=1)  # type: ignore[assignment]
    assert [*data.train_dataloader().sampler] == whole_batches(9, 4, epoch_seed(5, 2))
    assert rows.negatives(0) == expected_negatives(0, epoch=2)


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
    doc = parsed(RIDER)
    shuffle, _, swap = makers(["bigram_shuffle", "replace", "negclip"], tmp_path, [doc])
    assert shuffle(0, Random(0)) == bigram_shuffle(doc, Random(0)) != swap(0, Random(0)) == negclip(doc, Random(0))
    assert makers([], tmp_path / "nothing", []) == []


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
    rows = read_rows(marked.write_marked(tmp_path), KINDS, tokenizer_of("shapes-clip"), 0, label_request)
    rows.epoch = 2
    expected = rows[[4, 0, 3]]
    sent = pickle.dumps(rows)
    assert expected.pixels[0].numpy().tobytes() not in sent
    result = pickle.loads(sent)[[4, 0, 3]]
    assert (expected.labels is None) == (label_request is None)
    for one, other in zip(tensors_of(result), tensors_of(expected), strict=True):
        assert torch.equal(one, other)


def test_what_does_not_go_together_is_named(tmp_path: Path) -> None:
    fewer = write(tmp_path / "fewer")
    np.save(fewer["pixels"] / PIXELS, images(6))
    with raises(DataError, "wrong-number", place="pixels.npy"):
        rows_of(fewer)
    undescribed = write(tmp_path / "undescribed")
    write_docs([Doc(VOCABULARY, ["a"])], undescribed["data"])
    with raises(DataError, "wrong-number", place="docs.spacy"):
        rows_of(undescribed)
    rows_of(undescribed, kinds=[])  # nothing is made of them


SIZE = 32
CPU = torch.device("cpu")


def draw_boxes(count: int, seed: int = 0) -> Tensor:
    torch.manual_seed(seed)
    return random_boxes(count, SIZE, CPU)


def test_crops_are_those_of_pillow() -> None:
    generator = torch.Generator().manual_seed(1)
    # far enough from 0 and 255, since Pillow cuts off what is beyond them between rows and columns, too
    images = torch.randint(64, 192, (16, 3, SIZE, SIZE), generator=generator, dtype=torch.uint8)
    boxes = draw_boxes(16)
    torch.manual_seed(0)
    result = random_crops(images)
    for image, (top, left, height, width), crop in zip(images, boxes.T.tolist(), result, strict=True):
        picture = Image.fromarray(image.permute(1, 2, 0).numpy())
        cut = picture.crop((left, top, left + width, top + height)).resize((SIZE, SIZE), Image.Resampling.BICUBIC)
        expected = np.asarray(cut).transpose(2, 0, 1).astype(np.float32)
        # Pillow rounds to bytes between rows and columns, and again
        assert np.abs(crop.numpy() - expected).max() <= 1.6
        assert np.abs(crop.numpy() - expected).mean() < 0.5


@pytest.mark.slow
def test_boxes_are_drawn_as_torchvision_draws_them() -> None:
    torch.manual_seed(5)
    image = torch.zeros(3, SIZE, SIZE)
    theirs = torch.tensor(
        [RandomResizedCrop.get_params(image, [0.9, 1.0], [3 / 4, 4 / 3]) for _ in range(4000)], dtype=torch.float64
    )
    ours = draw_boxes(20000).T.double()
    for part in range(4):
        assert ours[:, part].mean() == pytest.approx(theirs[:, part].mean().item(), abs=0.06)
        assert ours[:, part].std() == pytest.approx(theirs[:, part].std().item(), abs=0.06)
    whole = [(each[:, 2:] == SIZE).all(dim=1).double().mean().item() for each in (ours, theirs)]
    assert whole[0] == pytest.approx(whole[1], abs=0.03)
