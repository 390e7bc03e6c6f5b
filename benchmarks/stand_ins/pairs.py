"""MIT-States, UT-Zappos and C-GQA as they are published: real lists of pairs, real counts of images, drawn pictures.

Which image shows which pair is public of C-GQA alone, but not which of its unseen pairs are validation's. Elsewhere
every pair gets an image, and a long tail of pairs what is left.
"""

import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import torch

from benchmarks.stand_ins.packing import Members, pack
from benchmarks.stand_ins.pictures import Pictures
from benchmarks.stand_ins.project import read_params
from benchmarks.stand_ins.sharing import dealt, kept
from recompose.tracks.czsl.data.compositional import METADATA, SPLIT_NAME, read_pairs
from recompose.tracks.czsl.data.glove import ARCHIVE, MEMBER, WIDTH, words_of
from recompose.tracks.czsl.data.pairs import SPLITS, Pair

SPLIT_ARCHIVE = "compositional_split_natural.tar.gz"
GLOVE_WORDS = 400_000  # lines of the published file
NA = "NA"


@dataclass(frozen=True)
class Labelled:
    """An image with its pair and its split."""

    pair: Pair
    split: str
    name: str = ""  # of the file, where it is known


@dataclass(frozen=True)
class Listing:
    """Lists of pairs, and the images of each split."""

    pairs: dict[str, list[Pair]]
    images: list[Labelled]

    def share(self, share: float) -> "Listing":
        """The same with fewer images; every pair of a split keeps one."""
        places = kept([image.split for image in self.images], [image.pair for image in self.images], share)
        return Listing(self.pairs, [self.images[place] for place in places])

    def counts(self) -> dict[str, int]:
        """The numbers of images, under the names in params.yaml."""
        found = Counter(image.split for image in self.images)
        return {f"{split}_images": found[split] for split in SPLITS}

    def split_files(self, records: list[dict[str, str]]) -> Members:
        """The members of the lists and of the metadata."""
        for split, pairs in self.pairs.items():
            text = "".join(f"{state} {name}\n" for state, name in pairs)
            yield f"{SPLIT_NAME}/{split}_pairs.txt", text.encode()
        file = io.BytesIO()
        torch.save(records, file)
        yield METADATA, file.getvalue()


# what is shown


def listed(real: Path, name: str, counts: Mapping[str, int]) -> Listing:
    """A data set whose lists of pairs are public, with as many images of each split as papers print."""
    pairs = {split: read_pairs(real / "czsl" / name / SPLIT_NAME / f"{split}_pairs.txt") for split in SPLITS}
    rng, images = Random(name), []
    for split in SPLITS:
        total = counts[f"{split}_images"]
        tail = rng.choices(pairs[split], [1 / (rank + 8) for rank in range(len(pairs[split]))], k=total)
        images += [Labelled(pair, split) for pair in (*pairs[split], *tail)][:total]
    return Listing(pairs, images)


def natural_cgqa(real: Path, counts: Mapping[str, int]) -> Listing:
    """C-GQA: real images and pairs, divided so that every count is that of the natural split."""
    folder = real / "czsl" / "cgqa"
    train = read_pairs(folder / SPLIT_NAME / "train_pairs.txt")
    unseen = read_pairs(folder / SPLIT_NAME / "unseen_val_or_test_pairs.txt")
    files: dict[Pair, list[str]] = {pair: [] for pair in (*train, *unseen)}
    for record in json.loads((folder / "images_attr_obj.json").read_text(encoding="utf-8")):
        files[record["attr"], record["obj"]].append(record["image"])
    often = sorted(train, key=lambda pair: -len(files[pair]))
    new = {"val": unseen[: counts["val_unseen"]], "test": unseen[counts["val_unseen"] :]}
    known = {split: often[: counts[f"{split}_seen"]] for split in new}
    images = [Labelled(pair, split, name) for split in new for pair in new[split] for name in files[pair]]
    first = {split: dealt(files, known[split], len(known[split])) for split in new}  # one of each, before more of some
    for split in new:
        more = counts[f"{split}_images"] - len(first[split]) - sum(image.split == split for image in images)
        images += [Labelled(pair, split, name) for pair, name in (*first[split], *dealt(files, known[split], more))]
    images += [Labelled(pair, "train", name) for pair in train for name in files[pair]]
    return Listing({"train": train, **{split: [*new[split], *known[split]] for split in new}}, images)


# as upstream packs it


@dataclass(frozen=True)
class Packed:
    """A data set as its archives hold it."""

    listing: Listing
    records: list[dict[str, str]]  # of the metadata
    members: list[str]  # the images' places in the archive of images


def mit_states_packed(listing: Listing, unlabelled: int) -> Packed:
    """Folders ``state object`` of numbered files, which the metadata writes with ``_``; beside them ``adj state``,
    whose object nobody told.
    """
    records, members = [], []
    for number, image in enumerate(listing.images):
        state, name = image.pair
        records.append(_record(f"{state}_{name}/{number:05}.jpg", image.pair, image.split))
        members.append(f"release_dataset/images/{state} {name}/{number:05}.jpg")
    states = sorted({image.pair[0] for image in listing.images})
    for number in range(unlabelled):
        state = states[number % len(states)]
        records.append(_record(f"adj_{state}/{number:05}.jpg", (state, NA), NA))
        members.append(f"release_dataset/images/adj {state}/{number:05}.jpg")
    return Packed(listing, records, members)


def ut_zappos_packed(listing: Listing, unlabelled: int) -> Packed:
    """Folders of kinds and brands, whose places the metadata gives as ``_image``; beside them shoes of no split."""
    records, members = [], []
    for number, image in enumerate(listing.images):
        place = f"{'/'.join(image.pair[1].split('.', 1))}/Brand {number % 40}/{number:07}.jpg"
        record = _record(f"{'_'.join(image.pair)}/{number:07}.jpg", image.pair, image.split)
        records.append({**record, "_image": place})
        members.append(f"ut-zap50k-images/{place}")
    members += [f"ut-zap50k-images/Shoes/Other/Brand {number % 40}/9{number:06}.jpg" for number in range(unlabelled)]
    return Packed(listing, records, members)


def cgqa_packed(listing: Listing) -> Packed:
    """All images in one folder."""
    records = [_record(image.name, image.pair, image.split) for image in listing.images]
    return Packed(listing, records, [f"cgqa/images/{image.name}" for image in listing.images])


def _record(image: str, pair: Pair, split: str) -> dict[str, str]:
    return {"image": image, "attr": pair[0], "obj": pair[1], "set": split}


def _shown(members: Sequence[str], pictures: Pictures) -> Iterator[tuple[str, bytes]]:
    return ((name, pictures.named(name)) for name in members)


def _inside(folder: str, members: Members) -> Members:
    return ((f"{folder}/{name}", content) for name, content in members)


# all of it


def write(real: Path, share: float, archives: Path) -> dict[str, dict[str, int]]:
    """Write all archives of the track where they are not there yet; return the counts of images of each data set, under
    its place in params.yaml.
    """
    published = {
        name: read_params()["czsl"]["datasets"][name]["counts"] for name in ("mit-states", "ut-zappos", "cgqa")
    }
    mit = mit_states_packed(listed(real, "mit-states", published["mit-states"]).share(share), round(share * 9_687))
    zappos = ut_zappos_packed(listed(real, "ut-zappos", published["ut-zappos"]).share(share), round(share * 20_899))
    gqa = cgqa_packed(natural_cgqa(real, published["cgqa"]).share(share))
    pack(archives / "release_dataset.zip", _shown(mit.members, Pictures(320, 240)))
    pack(archives / "ut-zap50k-images.zip", _shown(zappos.members, Pictures(136, 102)))
    pack(archives / "cgqa.zip", _cgqa_members(gqa))
    pack(archives / SPLIT_ARCHIVE, _split_members({"mit-states": mit, "ut-zap50k": zappos}))
    pack(archives / ARCHIVE, [(MEMBER, _glove([mit, zappos, gqa], round(share * GLOVE_WORDS)))])
    by_name = {"mit-states": mit, "ut-zappos": zappos, "cgqa": gqa}
    return {f"czsl.datasets.{name}": each.listing.counts() for name, each in by_name.items()}


def _cgqa_members(packed: Packed) -> Members:
    yield from _shown(packed.members, Pictures(160, 120))
    yield from _inside("cgqa", packed.listing.split_files(packed.records))


def _split_members(packed: dict[str, Packed]) -> Members:
    for name, each in packed.items():
        yield from _inside(f"compositional_split_natural/{name}", each.listing.split_files(each.records))


def _glove(packed: Sequence[Packed], lines: int) -> bytes:
    """A file of word vectors that knows every word of the labels, and others up to so many lines."""
    names = {name for each in packed for pairs in each.listing.pairs.values() for pair in pairs for name in pair}
    words = sorted({word for name in names for word in words_of(name)})
    others = [f"other{number}" for number in range(max(lines - len(words), 0))]
    rng = Random(0)
    vectors = [" ".join(f"{rng.gauss(0, 0.4):.5f}" for _ in range(WIDTH)) for _ in range(97)]
    rotated = (f"{word} {vectors[number % 97]}\n" for number, word in enumerate([*words, *others]))
    return "".join(rotated).encode()
