"""Batches of images, captions, and hard negatives, which are made again in every epoch.

A caption's negatives depend on the run's seed, the epoch and the row alone: not on the batch, on earlier negatives, or
on the process that makes them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from recompose.backbones.arrays import StoredArray
from recompose.backbones.clip import end_of_text
from recompose.backbones.pixels import PIXELS, read_pixels
from recompose.errors import ArgumentError, DataError
from recompose.tracks.vlc.attribution.labels import LabelRequest, TokenLabeller, TokenLabels
from recompose.tracks.vlc.building import Tokenizer
from recompose.tracks.vlc.data.captions import DOCS, LISTED, NEGATIVES, ROWS, Captions, read_docs, read_negatives
from recompose.tracks.vlc.text.lexicon import WordNet
from recompose.tracks.vlc.text.negatives import bigram_shuffle, negclip, replace
from recompose.training.loop import Data, epoch_seed

if TYPE_CHECKING:
    from spacy.tokens import Doc

LEXICON = "lexicon"  # the subfolder of an index with WordNet's files
Rule: TypeAlias = "Callable[[Doc, Random], str | None]"  # from a caption's parse to its negative
Maker: TypeAlias = Callable[[int, Random], str | None]  # of a row's negative; None: the caption allows none


class Batch(NamedTuple):
    """The inputs of a training step."""

    pixels: Tensor  # [B, 3, H, W] bytes
    ids: Tensor  # [B + valid.sum(), T], captions and then negatives, all of the first caption first
    valid: Tensor  # [B, K] bool, the negatives of each kind that exist
    labels: TokenLabels | None = None  # of [B, T], where a method asks for them
    changed: Tensor | None = None  # [B, P, T] bool; see ``labels.LabelledTexts`` for ids and valid then


@dataclass(eq=False)
class CaptionRows(Dataset[Batch]):
    """Rows of images and captions; a list of positions gives a whole batch, its texts cut at the longest one."""

    pixels: np.ndarray | StoredArray  # [images, 3, H, W], bytes
    images: np.ndarray  # [rows], the number of each row's image
    captions: Sequence[str]  # [rows]
    makers: Sequence[Maker]  # of hard negatives, one for each kind
    tokenizer: Tokenizer  # of texts, to ids [texts, context]
    seed: int  # of the run
    labeller: TokenLabeller | None = None  # of the captions' tokens; None: no labels
    epoch: int = 0  # of the negatives

    @property
    def size(self) -> tuple[int, ...]:
        """Height and width of the images, in pixels."""
        return self.pixels.shape[2:]

    def __len__(self) -> int:
        return len(self.captions)

    def __getitem__(self, rows: list[int]) -> Batch:
        by_row = [self.negatives(row) for row in rows]
        valid = torch.tensor([[text is not None for text in texts] for texts in by_row], dtype=torch.bool)
        negatives = [text for texts in by_row for text in texts if text is not None]
        ids = self.tokenizer([self.captions[row] for row in rows] + negatives)
        pixels = torch.from_numpy(self.pixels[self.images[rows]])
        valid = valid.view(len(rows), len(self.makers))
        if self.labeller is None:
            return Batch(pixels, trim_padding(ids, ids), valid)
        rngs = [Random(f"{self.seed}/{self.epoch}/{row}/replaced") for row in rows]
        ids, valid, labels, changed = self.labeller.label(rows, ids, valid, rngs)
        trimmed = TokenLabels(*(trim_padding(mask, ids) for mask in labels))
        return Batch(pixels, trim_padding(ids, ids), valid, trimmed, trim_padding(changed, ids))

    def negatives(self, row: int) -> list[str | None]:
        """Make the hard negatives [kinds] of a row's caption in this epoch."""
        rng = Random(f"{self.seed}/{self.epoch}/{row}")
        return [make(row, rng) for make in self.makers]


def trim_padding(values: Tensor, ids: Tensor) -> Tensor:
    """Cut values of tokens [..., context] at the end of the longest of the texts [texts, context]."""
    return values[..., : int(end_of_text(ids).max()) + 1].contiguous()


class CaptionData(Data):
    """A corpus in seeded batches; a smaller last batch is dropped.

    FSC-CLIP's code at 604015d drops it, too: its images would be contrasted with fewer captions.

    Args:
        rows: of the corpus.
        batch_size: images of all devices together.
        seed: of the run.
        workers: processes of each device that make batches; 0: the training process makes them.
    """

    def __init__(self, rows: CaptionRows, *, batch_size: int, seed: int, workers: int = 0) -> None:
        super().__init__(rows, None, batch_size=batch_size, seed=seed)
        self._rows, self._workers = rows, workers

    @property
    def steps(self) -> int:
        """The number of steps of an epoch."""
        return max(1, len(self._rows) // self._batch_size)

    def train_dataloader(self) -> DataLoader[Any]:
        """Return the batches of the current epoch; Lightning calls this in every epoch."""
        trainer = self.trainer
        assert trainer is not None
        self._rows.epoch, seed = trainer.current_epoch, epoch_seed(self._seed, trainer.current_epoch)
        batches = whole_batches(len(self._rows), self._batch_size, seed, trainer.global_rank, trainer.world_size)
        return DataLoader(self._rows, sampler=batches, batch_size=None, num_workers=self._workers)


def whole_batches(length: int, size: int, seed: int, rank: int = 0, processes: int = 1) -> list[list[int]]:
    """Return the positions of each batch of an epoch for a process, all batches of the same size.

    If there are fewer samples than a batch has, one batch holds all of them.

    Raises:
        ArgumentError: a batch is not divisible by the number of processes.

    Example:
        >>> [len(batch) for batch in whole_batches(11, 4, seed=0)]
        [4, 4]
    """
    if size % processes:
        raise ArgumentError("size", f"is {size}, not divisible by {processes} devices: change batch_size or devices")
    order = torch.randperm(length, generator=torch.Generator().manual_seed(seed)).tolist()
    size = min(size, length - length % processes)
    return [order[start : start + size][rank::processes] for start in range(0, length - size + 1, size)]


def read_rows(
    needs: Mapping[str, Path],
    kinds: Sequence[str],
    tokenizer: Tokenizer,
    seed: int,
    label_request: LabelRequest | None = None,
) -> CaptionRows:
    """Read the rows of a corpus.

    Args:
        needs: the verified folders ``data``, an index of captions, and ``pixels``, of its images.
        kinds: of hard negatives.
        tokenizer: of texts.
        seed: of the run.
        label_request: the labels to make; None: none.

    Raises:
        DataError: its files do not fit each other, or those of its lexicon are not WordNet's.
    """
    folder = needs["data"]
    captions, pixels = Captions.read(folder), read_pixels(needs["pixels"])
    parsed, lists = bool(label_request or set(kinds) - {LISTED}), LISTED in kinds
    docs, listed = read_docs(folder) if parsed else [], read_negatives(folder) if lists else []
    places = {path: place for place, path in enumerate(dict.fromkeys(captions.paths))}
    rows = len(captions.captions)
    expected = {
        needs["pixels"] / PIXELS: (len(pixels), len(places), "images"),
        folder / DOCS: (len(docs), rows if parsed else 0, "captions"),
        folder / NEGATIVES: (len(listed), rows if lists else 0, "captions"),
    }
    for file, (count, wanted, what) in expected.items():
        if count != wanted:
            message = f"{file} holds {count} {what}, not the {wanted} of {folder / ROWS}"
            remedy = "delete its folder, and prepare the data set again"
            raise DataError(f"{message}: {remedy}", code="wrong-number", place=file)
    images = np.array([places[path] for path in captions.paths], dtype=np.int64)
    labeller = TokenLabeller(label_request, docs, WordNet(folder / LEXICON), tokenizer) if label_request else None
    return CaptionRows(
        pixels, images, captions.captions, makers(kinds, folder, docs, listed), tokenizer, seed, labeller
    )


def makers(
    kinds: Sequence[str], folder: Path, docs: "Sequence[Doc]", listed: Sequence[Sequence[str]] = ()
) -> list[Maker]:
    """Return the makers of hard negatives of these kinds.

    Args:
        kinds: ``negclip``, ``replace``, ``bigram_shuffle`` and ``listed``, those that the corpus lists.
        folder: an index of captions, with WordNet's files.
        docs: [rows], the captions parsed by spaCy.
        listed: [rows], the negatives that the corpus lists.

    Raises:
        DataError: the files are not WordNet's.
    """
    rules: dict[str, Rule] = {"negclip": negclip, "bigram_shuffle": bigram_shuffle}
    if "replace" in kinds:
        rules["replace"] = partial(replace, lexicon=WordNet(folder / LEXICON))
    return [partial(_draw, listed) if kind == LISTED else partial(_make, rules[kind], docs) for kind in kinds]


def _make(rule: Rule, docs: "Sequence[Doc]", row: int, rng: Random) -> str | None:
    """Return the negative of a row's caption by a rule."""
    return rule(docs[row], rng)


def _draw(listed: Sequence[Sequence[str]], row: int, rng: Random) -> str | None:
    """Return one of a row's listed negatives, each with the same probability, or None if there is none."""
    return rng.choice(listed[row]) if listed[row] else None
