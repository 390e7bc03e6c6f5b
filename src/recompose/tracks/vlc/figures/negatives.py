"""Captions with the hard negatives of training."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pandas as pd

from recompose.data.pictures import Picture
from recompose.palette import WRONG
from recompose.papers.declaration import Paper
from recompose.parts.results import Results
from recompose.parts.style import Drawing
from recompose.recipes.plan import Recipe
from recompose.tracks.vlc.data.captions import Captions, read_docs
from recompose.tracks.vlc.figures import pages

if TYPE_CHECKING:
    from spacy.tokens import Doc

LEXICON = "lexicon"  # its folder in an index
CAPTIONS = 3  # of a corpus
NEGATIVES = 3  # of a kind, at most
DRAWS = 20  # attempts to generate distinct negatives
SIDE, GAP = 1.0, 0.12
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


def draw_negatives(results: Results, paper: Paper, name: str) -> Drawing:
    """Draw some random captions of each corpus in lines, with negatives of each kind."""
    examples = [
        example
        for benchmark in results.benchmarks(paper.track)
        for example in _examples(results, benchmark, results.data(paper.track, benchmark))
    ]
    rows = [
        [example.dataset, example.path, example.caption, kind, negative]
        for example in examples
        for kind, negatives in example.negatives.items()
        for negative in negatives
    ]
    return Drawing(pd.DataFrame(rows, columns=COLUMNS), lambda: draw_examples(examples).figure)


def _examples(results: Results, benchmark: str, data: Recipe) -> Iterator[Example]:
    """Yield captions with a negative of every kind, the first ones of a random order."""
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
    remaining = CAPTIONS
    for row in rng.sample(range(len(docs)), len(docs)):
        negatives = {kind: distinct_negatives(docs[row], make, rng) for kind, make in kinds.items()}
        if all(negatives.values()):
            yield Example(benchmark, results.raw(data), corpus.paths[row], corpus.captions[row], negatives)
            remaining -= 1
        if not remaining:
            return


@contextmanager
def without_torch() -> Iterator[None]:
    """Block the import of torch in a context, unless it is imported already: spaCy imports it for models that are not
    used here, which takes longer than drawing a figure.
    """
    if "torch" in sys.modules:
        yield
        return
    sys.modules["torch"] = None  # type: ignore[assignment] # makes its import an ImportError
    try:
        yield
    finally:
        del sys.modules["torch"]


def distinct_negatives(doc: "Doc", make: Make, rng: Random) -> list[str]:
    """Return distinct negatives of a caption, in the order of their generation."""
    drawn = dict.fromkeys(make(doc, rng) for _ in range(DRAWS))
    return [negative for negative in drawn if negative is not None][:NEGATIVES]


def draw_examples(examples: list[Example]) -> pages.Page:
    """Draw images with their captions at the left, and negatives of each kind in their own column."""
    kinds = list(dict.fromkeys(kind for example in examples for kind in example.negatives))
    across = (pages.WIDTH - 1.6 * SIDE - 2 * GAP) / max(1, len(kinds))
    columns = [1.6 * SIDE + 2 * GAP + across * place for place in range(len(kinds))]

    def line(example: Example) -> pages.DrawnLine:
        caption = [
            [pages.Word(example.dataset, marked=True)],
            *pages.wrap_text(example.caption, pages.letters_in(1.6 * SIDE)),
        ]
        by_kind = [
            [
                _negative_lines(example.caption, kind, text, pages.letters_in(across - GAP))
                for text in example.negatives[kind]
            ]
            for kind in kinds
        ]

        def draw(page: pages.Page, top: float) -> None:
            page.image(pages.square_pixels(Picture(example.path), example.root), GAP, top, SIDE)
            page.lines(caption, GAP, top + SIDE + 0.3 * pages.LINE)
            for negatives, x in zip(by_kind, columns, strict=True):
                below = top
                for lines in negatives:
                    below = page.lines(lines, x, below, marked=WRONG) + 0.5 * pages.LINE

        heights = (sum(pages.LINE * (len(lines) + 0.5) for lines in negatives) for negatives in by_kind)
        return max(SIDE + pages.LINE * len(caption), *heights) + GAP, draw

    return pages.draw_page(kinds, columns, [line(example) for example in examples], GAP)


def _negative_lines(caption: str, kind: str, negative: str, letters: int) -> list[list[pages.Word]]:
    """Return a negative in lines, with differences marked, except in a shuffle, which moves all words."""
    return pages.wrap_words(
        pages.plain_words(negative) if "shuffle" in kind else pages.mark_differences(caption, negative), letters
    )
