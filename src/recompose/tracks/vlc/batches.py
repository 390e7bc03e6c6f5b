"""Batches of images, captions, and hard negatives that are made anew whenever a caption is seen.

What is made of a caption depends on nothing but a run's seed, the epoch and the row: not on the batch it stands in, on
what was made before, or on the process that makes it.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from recompose.backbones.arrays import ShardedArray
from recompose.backbones.clip import end_of_text
from recompose.backbones.pixels import PIXELS, read_pixels
from recompose.errors import DataError
from recompose.tracks.vlc.attribution.token_labels import Marks
from recompose.tracks.vlc.building import Tokenizer
from recompose.tracks.vlc.data.captions import DOCS, ROWS, Captions, read_docs
from recompose.training.loop import Data, epoch_seed

if TYPE_CHECKING:
    from spacy.tokens import Doc

    from recompose.tracks.vlc.attribution.label_batches import Marker, Marking

LEXICON = "lexicon"  # the subfolder of an index with WordNet's files
Maker: TypeAlias = "Callable[[Doc, Random], str | None]"  # None: nothing can be made of this caption


class Batch(NamedTuple):
    """What a step is computed from."""

    pixels: Tensor  # [B, 3, H, W] bytes
    ids: Tensor  # [B + valid.sum(), T], captions and then negatives, all of the first caption first
    valid: Tensor  # [B, K] bool, which negatives of each kind there are
    marks: Marks | None = None  # of [B, T], where a method asks for them
    changed: Tensor | None = None  # [B, P, T] bool; see ``label_batches.Marked`` for ids and valid then


class CaptionRows(Dataset[Batch]):
    """Rows of images and captions; a list of positions gives a whole batch, its texts cut at the longest one.

    Args:
        pixels: [images, 3, H, W], bytes.
        images: [rows], which image each shows.
        captions: [rows].
        docs: [rows], the captions as spaCy sees them; empty where nothing is made of them.
        makers: of hard negatives, one for each kind.
        tokenizer: of texts, to ids [texts, context].
        seed: of the run.
        marker: what marks captions; None: they are not marked.
    """

    epoch = 0  # that negatives are made for

    def __init__(
        self,
        pixels: np.ndarray | ShardedArray,
        images: np.ndarray,
        captions: Sequence[str],
        docs: "Sequence[Doc]",
        makers: Sequence[Maker],
        tokenizer: Tokenizer,
        seed: int,
        marker: "Marker | None" = None,
    ) -> None:
        self._pixels, self._images, self._captions = pixels, images, captions
        self._docs, self._makers = docs, makers
        self._tokenizer, self._seed = tokenizer, seed
        self._marker = marker

    @property
    def size(self) -> tuple[int, ...]:
        """Height and width of the images, in pixels."""
        return self._pixels.shape[2:]

    def __len__(self) -> int:
        return len(self._captions)

    def __getitem__(self, rows: list[int]) -> Batch:
        made = [self.negatives(row) for row in rows]
        valid = torch.tensor([[text is not None for text in texts] for texts in made], dtype=torch.bool)
        negatives = [text for texts in made for text in texts if text is not None]
        ids = self._tokenizer([self._captions[row] for row in rows] + negatives)
        pixels = torch.from_numpy(self._pixels[self._images[rows]])
        valid = valid.view(len(rows), len(self._makers))
        if self._marker is None:
            return Batch(pixels, cut(ids, ids), valid)
        rngs = [Random(f"{self._seed}/{self.epoch}/{row}/replaced") for row in rows]
        ids, valid, marks, changed = self._marker.marked(rows, ids, valid, rngs)
        return Batch(pixels, cut(ids, ids), valid, Marks(*(cut(each, ids) for each in marks)), cut(changed, ids))

    def negatives(self, row: int) -> list[str | None]:
        """What is made of a row's caption in this epoch [kinds]."""
        rng = Random(f"{self._seed}/{self.epoch}/{row}")
        return [make(self._docs[row], rng) for make in self._makers]


def cut(of: Tensor, ids: Tensor) -> Tensor:
    """What is of tokens [..., context], without those behind the longest of texts [texts, context]."""
    return of[..., : int(end_of_text(ids).max()) + 1].contiguous()


class CaptionData(Data):
    """A corpus in seeded batches, the last one left out where it is smaller than others (as FSC-CLIP's code at 604015d
    does: its images would be told from fewer captions).

    Args:
        rows: of the corpus.
        batch_size: images of all devices together.
        seed: of the run.
        workers: processes of each device that make batches; 0: the one that trains does.
    """

    def __init__(self, rows: CaptionRows, *, batch_size: int, seed: int, workers: int = 0) -> None:
        super().__init__(rows, None, batch_size=batch_size, seed=seed)
        self._rows, self._workers = rows, workers

    @property
    def steps(self) -> int:
        """Of an epoch."""
        return max(1, len(self._rows) // self._batch_size)

    def train_dataloader(self) -> DataLoader[Any]:
        """The batches of the current epoch: asked for anew at each."""
        trainer = self.trainer
        assert trainer is not None
        self._rows.epoch, seed = trainer.current_epoch, epoch_seed(self._seed, trainer.current_epoch)
        batches = whole_batches(len(self._rows), self._batch_size, seed, trainer.global_rank, trainer.world_size)
        return DataLoader(self._rows, sampler=batches, batch_size=None, num_workers=self._workers)


def whole_batches(length: int, size: int, seed: int, rank: int = 0, world: int = 1) -> list[list[int]]:
    """The positions of each batch of an epoch, for process ``rank`` of ``world``, all of the same size; of fewer
    samples than a batch has, one of them all.

    Raises:
        ValueError: a batch cannot be shared equally.

    Example:
        >>> [len(batch) for batch in whole_batches(11, 4, seed=0)]
        [4, 4]
    """
    if size % world:
        raise ValueError(
            f"a batch of {size} cannot be shared equally between {world} devices: change batch_size or devices"
        )
    order = torch.randperm(length, generator=torch.Generator().manual_seed(seed)).tolist()
    size = min(size, length - length % world)
    return [order[start : start + size][rank::world] for start in range(0, length - size + 1, size)]


def read_rows(
    needs: Mapping[str, Path],
    kinds: Sequence[str],
    tokenizer: Tokenizer,
    seed: int,
    marking: "Marking | None" = None,
) -> CaptionRows:
    """The rows of a corpus.

    Args:
        needs: the verified folders ``data``, an index of captions, and ``pixels``, of its images.
        kinds: of hard negatives.
        tokenizer: of texts.
        seed: of the run.
        marking: what is asked to know of captions; None: nothing.

    Raises:
        DataError: the index has no rows, or what it holds does not go together.
    """
    folder = needs["data"]
    captions, pixels = Captions.read(folder), read_pixels(needs["pixels"])
    docs = read_docs(folder) if kinds or marking else []
    places = {path: place for place, path in enumerate(dict.fromkeys(captions.paths))}
    again = "delete its folder, and prepare the data set again"
    if not captions.captions:
        raise DataError(f"{folder / ROWS} holds no captions: {again}")
    if len(places) != len(pixels):
        raise DataError(
            f"{needs['pixels'] / PIXELS} holds {len(pixels)} images, not the {len(places)} of {folder / ROWS}: {again}"
        )
    if (kinds or marking) and len(docs) != len(captions.captions):
        counts = f"{len(docs)} captions, not the {len(captions.captions)} of {ROWS}"
        raise DataError(f"{folder / DOCS} holds {counts}: {again}")
    images = np.array([places[path] for path in captions.paths], dtype=np.int64)
    marker = marker_of(marking, docs, folder, tokenizer)
    return CaptionRows(pixels, images, captions.captions, docs, makers(kinds, folder), tokenizer, seed, marker)


def marker_of(marking: "Marking | None", docs: "Sequence[Doc]", folder: Path, tokenizer: Tokenizer) -> "Marker | None":
    """What marks captions.

    Args:
        marking: what is asked to know of captions; None: nothing.
        docs: the captions of an index.
        folder: of the index, with the files of WordNet that know words of several parts.
        tokenizer: of texts.

    Raises:
        DataError: the files are no WordNet's.
    """
    if marking is None:
        return None
    from recompose.tracks.vlc.attribution.label_batches import Marker  # needed by few
    from recompose.tracks.vlc.text.lexicon import WordNet

    return Marker(marking, docs, WordNet(folder / LEXICON), tokenizer)


def makers(kinds: Sequence[str], folder: Path) -> list[Maker]:
    """What makes hard negatives of these kinds.

    Args:
        kinds: ``negclip``, ``replace`` and ``bigram_shuffle``.
        folder: an index of captions, with the files of WordNet that replace words.

    Raises:
        ValueError: there is no such kind.
        DataError: the files are no WordNet's.
    """
    if not kinds:
        return []
    from recompose.tracks.vlc.text.lexicon import WordNet
    from recompose.tracks.vlc.text.negatives import (  # slow to import, and needed by few
        bigram_shuffle,
        negclip,
        replace,
    )

    known: dict[str, Callable[[], Maker]] = {
        "negclip": lambda: negclip,
        "replace": lambda: partial(replace, lexicon=WordNet(folder / LEXICON)),
        "bigram_shuffle": lambda: bigram_shuffle,
    }
    wrong = [kind for kind in kinds if kind not in known]
    if wrong:
        raise ValueError(f"{wrong[0]!r} is no kind of hard negatives: there are {', '.join(known)}")
    return [known[kind]() for kind in kinds]
