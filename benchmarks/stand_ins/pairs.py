"""MIT-States, UT-Zappos and C-GQA as they are published: real lists of pairs, drawn pictures.

Every pair gets an image; the others are shared among pairs with a long tail. The unseen pairs of C-GQA are public, but
not which of them are validation's.
"""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

import torch

from benchmarks.stand_ins.packing import Members, pack
from benchmarks.stand_ins.pictures import Pictures
from benchmarks.stand_ins.project import read_params
from recompose.tracks.czsl.data.compositional import METADATA, SPLIT_NAME, read_pairs
from recompose.tracks.czsl.data.glove import ARCHIVE, MEMBER, WIDTH, words_of
from recompose.tracks.czsl.data.pairs import SPLITS, Pair

SPLIT_ARCHIVE = "compositional_split_natural.tar.gz"
GLOVE_WORDS = 400_000  # lines of the published file
Pairs = dict[str, list[Pair]]  # by split


@dataclass(frozen=True)
class Form:
    """How upstream packs a data set; the place of an image follows from its state, object, kind and number."""

    archive: str  # of the images
    splits: str  # of the lists and of the metadata
    folder: str  # of these
    image: str  # place in the archive
    record: dict[str, str]  # places in the metadata
    size: tuple[int, int]


FORMS = {
    "mit-states": Form(
        "release_dataset.zip",
        SPLIT_ARCHIVE,
        "compositional_split_natural/mit-states",
        "release_dataset/images/{state} {object}/{number:05}.jpg",
        {"image": "{state}_{object}/{number:05}.jpg"},
        (320, 240),
    ),
    "ut-zappos": Form(
        "ut-zap50k-images.zip",
        SPLIT_ARCHIVE,
        "compositional_split_natural/ut-zap50k",
        "ut-zap50k-images/{kind}/Brand/{number:07}.jpg",
        {"image": "{state}_{object}/{number:07}.jpg", "_image": "{kind}/Brand/{number:07}.jpg"},
        (136, 102),
    ),
    "cgqa": Form("cgqa.zip", "cgqa.zip", "cgqa", "cgqa/images/{number}.jpg", {"image": "{number}.jpg"}, (160, 120)),
}


def listed(folder: Path, counts: Mapping[str, int]) -> Pairs:
    """Return the pairs of each split: as listed or, where no list tells them, as many as papers print."""
    if (folder / "test_pairs.txt").exists():
        return {split: read_pairs(folder / f"{split}_pairs.txt") for split in SPLITS}
    train, unseen = (read_pairs(folder / f"{name}_pairs.txt") for name in ("train", "unseen_val_or_test"))
    new = {"val": unseen[: counts["val_unseen"]], "test": unseen[counts["val_unseen"] :]}
    return {"train": train, **{split: [*new[split], *train[: counts[f"{split}_seen"]]] for split in new}}


def shown(pairs: Pairs, counts: Mapping[str, int], share: float) -> list[tuple[str, Pair]]:
    """Return split and pair of each image of a share of the published ones; every pair of a split has an image."""
    rng, images = Random(0), []
    for split, of_split in pairs.items():
        more = max(round(share * counts[f"{split}_images"]) - len(of_split), 0)
        tail = rng.choices(of_split, [1 / (rank + 8) for rank in range(len(of_split))], k=more)
        images += [(split, pair) for pair in (*of_split, *tail)]
    return images


def write(real: Path, share: float, archives: Path) -> dict[str, dict[str, int]]:
    """Write all archives of the track where they are not there yet; return the counts of images of each data set."""
    members: dict[str, list[Members]] = {}
    found: dict[str, dict[str, int]] = {}
    words: dict[str, None] = {}
    for name, form in FORMS.items():
        counts = read_params()["czsl"]["datasets"][name]["counts"]
        pairs = listed(real / "czsl" / name / SPLIT_NAME, counts)
        images = shown(pairs, counts, share)
        members.setdefault(form.archive, []).append(_pictures(form, images))
        members.setdefault(form.splits, []).append(_lists(form, pairs, images))
        found[name] = {f"{s}_images": sum(split == s for split, _ in images) for s in SPLITS}
        words |= {word: None for _, pair in images for label in pair for word in words_of(label)}
    for archive, parts in members.items():
        pack(archives / archive, (member for part in parts for member in part))
    pack(archives / ARCHIVE, [(MEMBER, _glove([*words], round(share * GLOVE_WORDS)))])
    return found


def _places(pair: Pair, number: int) -> dict[str, object]:
    return {"state": pair[0], "object": pair[1], "kind": "/".join(pair[1].split(".", 1)), "number": number}


def _pictures(form: Form, images: list[tuple[str, Pair]]) -> Members:
    pictures = Pictures(*form.size)
    for number, (_, pair) in enumerate(images):
        name = form.image.format(**_places(pair, number))
        yield name, pictures.named(name)


def _lists(form: Form, pairs: Pairs, images: list[tuple[str, Pair]]) -> Members:
    for split, of_split in pairs.items():
        text = "".join(f"{state} {name}\n" for state, name in of_split)
        yield f"{form.folder}/{SPLIT_NAME}/{split}_pairs.txt", text.encode()
    records = [
        {key: place.format(**_places(pair, number)) for key, place in form.record.items()}
        | {"attr": pair[0], "obj": pair[1], "set": split}
        for number, (split, pair) in enumerate(images)
    ]
    file = io.BytesIO()
    torch.save(records, file)
    yield f"{form.folder}/{METADATA}", file.getvalue()


def _glove(words: list[str], lines: int) -> bytes:
    """Return a file of word vectors with these words, and others up to so many lines."""
    others = [f"other{number}" for number in range(lines - len(words))]
    rng = Random(0)
    vectors = [" ".join(f"{rng.gauss(0, 0.4):.5f}" for _ in range(WIDTH)) for _ in range(97)]
    return "".join(f"{word} {vectors[number % 97]}\n" for number, word in enumerate([*words, *others])).encode()
