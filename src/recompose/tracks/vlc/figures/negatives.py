"""Captions with the hard negatives that training makes of them."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from PIL import ImageOps

from recompose.data.pictures import Picture
from recompose.palette import WRONG
from recompose.papers.declaration import Paper
from recompose.plan import Recipe
from recompose.report.figures.style import Sheet
from recompose.report.results import Results
from recompose.tracks.vlc.data.captions import Captions, read_docs
from recompose.tracks.vlc.figures.page import LINE, WIDTH, Page, Word, differing, letters_in, plain, wrapped

if TYPE_CHECKING:
    from spacy.tokens import Doc

LEXICON = "lexicon"  # the folder of an index that has it
SHOWN = 3  # captions of a corpus
EACH = 3  # negatives of a kind, at most
DRAWS = 20  # how often one is drawn, to find different ones
SIDE, GAP, PIXELS = 1.0, 0.12, 224
COLUMNS = ["dataset", "image", "caption", "kind", "negative"]
Make = Callable[["Doc", Random], str | None]


@dataclass(frozen=True)
class Example:
    """A caption of a corpus with its negatives."""

    dataset: str
    root: Path
    path: str
    caption: str
    negatives: Mapping[str, list[str]]  # by kind

    def pixels(self) -> np.ndarray:
        """Its image, cut to the square in its middle.

        Raises:
            DataError: it is no readable image.
        """
        picture = Picture(self.path).open(self.root).convert("RGB")
        return np.asarray(ImageOps.fit(picture, (PIXELS, PIXELS)))


def draw_negatives(results: Results, paper: Paper, name: str, sheet: Sheet) -> None:
    """Some captions of each corpus, drawn at random, with negatives of each kind; a line each."""
    examples = [
        example
        for benchmark in results.benchmarks(paper.track)
        for example in _examples(results, benchmark, results.data(paper.track, benchmark))
    ]
    page = draw_examples(examples)
    rows = [
        [example.dataset, example.path, example.caption, kind, negative]
        for example in examples
        for kind, negatives in example.negatives.items()
        for negative in negatives
    ]
    sheet.write(page.figure, pd.DataFrame(rows, columns=COLUMNS))


def _examples(results: Results, benchmark: str, data: Recipe) -> Iterator[Example]:
    """Captions of which every kind makes a negative, the first ones of a random order."""
    from recompose.tracks.vlc.text.lexicon import WordNet
    from recompose.tracks.vlc.text.negatives import bigram_shuffle, negclip, replace

    index = results.folder(data)
    with without_torch():
        docs = read_docs(index)
    corpus, lexicon = Captions.read(index), WordNet(index / LEXICON)
    kinds: dict[str, Make] = {
        "negclip": negclip,
        "replace": lambda doc, rng: replace(doc, rng, lexicon),
        "bi-gram shuffle": bigram_shuffle,
    }
    rng = Random("captions of a figure")
    left = SHOWN
    for row in rng.sample(range(len(docs)), len(docs)):
        negatives = {kind: several(docs[row], make, rng) for kind, make in kinds.items()}
        if all(negatives.values()):
            yield Example(benchmark, results.raw(data), corpus.paths[row], corpus.captions[row], negatives)
            left -= 1
        if not left:
            return


@contextmanager
def without_torch() -> Iterator[None]:
    """Within this context torch is not to be had, unless it is there already: spaCy imports it for models that nothing
    here has, which takes longer than to draw a figure.
    """
    if "torch" in sys.modules:
        yield
        return
    sys.modules["torch"] = None  # type: ignore[assignment] # an import of it is an ImportError
    try:
        yield
    finally:
        del sys.modules["torch"]


def several(doc: "Doc", make: Make, rng: Random) -> list[str]:
    """Different negatives of a caption, in the order in which they were drawn."""
    drawn = dict.fromkeys(make(doc, rng) for _ in range(DRAWS))
    return [negative for negative in drawn if negative is not None][:EACH]


def draw_examples(examples: list[Example]) -> Page:
    """Images with their captions at the left, and negatives of each kind in a column of their own."""
    kinds = list(dict.fromkeys(kind for example in examples for kind in example.negatives))
    across = (WIDTH - 1.6 * SIDE - 2 * GAP) / max(1, len(kinds))
    letters = letters_in(across - GAP)
    captions = [wrapped([Word(example.dataset, marked=True)], 1) + _under(example.caption) for example in examples]
    told = [
        {kind: [_told(example.caption, kind, each, letters) for each in example.negatives[kind]] for kind in kinds}
        for example in examples
    ]
    heights = [
        max(
            SIDE + LINE * len(caption),
            *(sum(LINE * (len(each) + 0.5) for each in of_kind) for of_kind in by_kind.values()),
        )
        + GAP
        for caption, by_kind in zip(captions, told, strict=True)
    ]
    page = Page(sum(heights) + 3 * LINE)
    lefts = [1.6 * SIDE + 2 * GAP + across * place for place in range(len(kinds))]
    for kind, left in zip(kinds, lefts, strict=True):
        page.lines([plain(kind)], left, GAP / 2, weight="bold")
    top = 2 * LINE
    for example, caption, by_kind, height in zip(examples, captions, told, heights, strict=True):
        page.image(example.pixels(), GAP, top, SIDE)
        page.lines(caption, GAP, top + SIDE + 0.3 * LINE)
        for kind, left in zip(kinds, lefts, strict=True):
            below = top
            for lines in by_kind[kind]:
                below = page.lines(lines, left, below, marked=WRONG) + 0.5 * LINE
        top += height
    return page


def _under(caption: str) -> list[list[Word]]:
    """A caption in lines that stand below its image."""
    return wrapped(plain(caption), letters_in(1.6 * SIDE))


def _height(negatives: list[list[list[Word]]]) -> float:
    """How much room negatives take, below each other, with half a line between them."""
    return sum(LINE * (len(lines) + 0.5) for lines in negatives)


def _told(caption: str, kind: str, negative: str, letters: int) -> list[list[Word]]:
    """A negative in lines, with what differs marked; of a shuffle nothing is, for it moves everything."""
    return wrapped(plain(negative) if "shuffle" in kind else differing(caption, negative), letters)
