"""Pages of images and texts, laid out in inches from the upper left corner.

Texts are monospaced, so that the position of a word follows from the letters before it, on any machine.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from matplotlib import pyplot as plt
from PIL import ImageOps

from recompose.data.pictures import Picture

WIDTH = 7.0  # inches: of a page of two columns
SIZE = 6  # of letters, in points
LETTER = 0.602 * SIZE / 72  # inches: width of a letter of DejaVu Sans Mono
PIXELS = 224  # of the side of an image
LINE = 0.115  # inches: from a line of text to the next one


@dataclass(frozen=True)
class Word:
    """A word, whether it is highlighted, and the colour behind it."""

    text: str
    marked: bool = False
    ground: tuple[float, ...] | None = None


def mark_differences(caption: str, other: str) -> list[Word]:
    """Return the words of another text, marked unless they continue a common sequence with the caption.

    Example:
        >>> [word.text for word in mark_differences("a red cup on a box", "a blue cup on a box") if word.marked]
        ['blue']
    """
    before, after = caption.split(), other.split()
    common = {
        place
        for block in SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
        for place in range(block.b, block.b + block.size)
    }
    return [Word(word, marked=place not in common) for place, word in enumerate(after)]


def wrap_words(words: Sequence[Word], letters: int) -> list[list[Word]]:
    """Return words in lines of at most this number of letters; a longer word has its own line.

    Example:
        >>> [[word.text for word in line] for line in wrap_words([Word("one"), Word("two"), Word("three")], 8)]
        [['one', 'two'], ['three']]
    """
    lines: list[list[Word]] = []
    room = 0
    for word in words:
        if not lines or len(word.text) + 1 > room:
            lines.append([])
            room = letters + 1
        lines[-1].append(word)
        room -= len(word.text) + 1
    return lines


def wrap_text(text: str, letters: int) -> list[list[Word]]:
    """Return a text's words, none of them marked, in lines of at most this number of letters."""
    return wrap_words(plain_words(text), letters)


def square_pixels(picture: Picture, root: Path) -> np.ndarray:
    """Return a picture [PIXELS, PIXELS, 3], cropped to the square in its middle.

    Raises:
        DataError: it is no readable image.
    """
    return np.asarray(ImageOps.fit(picture.open(root), (PIXELS, PIXELS)))


def letters_in(inches: float) -> int:
    """Return the number of letters in a line of this width."""
    return int(inches / LETTER)


class Page:
    """A figure of a given size in inches, with images and lines of text."""

    def __init__(self, height: float, width: float = WIDTH) -> None:
        self.figure = plt.figure(figsize=(width, height))
        self._axis = self.figure.add_axes((0.0, 0.0, 1.0, 1.0))
        self._axis.axis("off")
        self._frame: Any = {"xlim": (0, width), "ylim": (height, 0)}
        self._axis.set(**self._frame)

    def image(self, pixels: np.ndarray, left: float, top: float, side: float) -> None:
        """Draw a square image [side, side, 3] at this position."""
        whole = (left, left + side, top + side, top)
        self._axis.imshow(pixels, extent=whole, interpolation="nearest", aspect="auto")
        self._axis.set(**self._frame)

    def lines(
        self, lines: Sequence[Sequence[Word]], left: float, top: float, *, marked: str = "black", **look: Any
    ) -> float:
        """Write lines of words, marked ones bold and in their own colour, and return the position of the next line."""
        for line in lines:
            place = left
            for word in line:
                own_look: Any = {"family": "monospace", "size": SIZE, "va": "baseline", **look}
                if word.marked:
                    own_look |= {"color": marked, "weight": "bold"}
                if word.ground:
                    own_look["bbox"] = {"facecolor": word.ground, "edgecolor": "none", "pad": 0.6}
                self._axis.text(place, top + 0.75 * LINE, word.text, **own_look)
                place += LETTER * (len(word.text) + 1)
            top += LINE
        return top


def plain_words(text: str) -> list[Word]:
    """Return a text's words, none of them marked."""
    return [Word(word) for word in text.split()]


DrawnLine: TypeAlias = tuple[float, Callable[[Page, float], None]]  # the height of a line, and its drawing from a top


def draw_page(headings: Sequence[str], columns: Sequence[float], lines: Sequence[DrawnLine], gap: float) -> Page:
    """Draw a page of lines below the headings of its columns.

    Args:
        headings: of the columns.
        columns: the left ends of their texts.
        lines: of the page.
        gap: above the headings, doubled.
    """
    page = Page(sum(height for height, _ in lines) + 3 * LINE)
    for text, left in zip(headings, columns, strict=True):
        page.lines([plain_words(text)], left, gap / 2, weight="bold")
    top = 2 * LINE
    for height, draw in lines:
        draw(page, top)
        top += height
    return page
