"""Pages of images and texts, laid out in inches from the upper left corner.

Texts are in letters of one width, so that where a word begins follows from the letters before it, on any machine.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

import numpy as np
from matplotlib import pyplot as plt

WIDTH = 7.0  # of a page of two columns
SIZE = 6  # of letters, in points
LETTER = 0.602 * SIZE / 72  # how wide one is, in DejaVu Sans Mono
LINE = 0.115  # from a line of text to the next one


@dataclass(frozen=True)
class Word:
    """A word, and whether it is to be seen at once."""

    text: str
    marked: bool = False


def differing(caption: str, other: str) -> list[Word]:
    """The words of another text, those marked that do not follow each other so in a caption.

    Example:
        >>> [word.text for word in differing("a red cup on a box", "a blue cup on a box") if word.marked]
        ['blue']
    """
    before, after = caption.split(), other.split()
    kept = {
        place
        for block in SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
        for place in range(block.b, block.b + block.size)
    }
    return [Word(word, marked=place not in kept) for place, word in enumerate(after)]


def wrapped(words: Sequence[Word], letters: int) -> list[list[Word]]:
    """Words in lines of at most so many letters; a longer word has a line of its own.

    Example:
        >>> [[word.text for word in line] for line in wrapped([Word("one"), Word("two"), Word("three")], 8)]
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


def letters_in(inches: float) -> int:
    """How many letters go into a line of so many inches."""
    return int(inches / LETTER)


class Page:
    """A figure of so many inches, which images and lines of text are put on."""

    def __init__(self, height: float, width: float = WIDTH) -> None:
        self.figure = plt.figure(figsize=(width, height))
        self._axis = self.figure.add_axes((0.0, 0.0, 1.0, 1.0))
        self._axis.axis("off")
        self._frame: Any = {"xlim": (0, width), "ylim": (height, 0)}
        self._axis.set(**self._frame)

    def image(self, pixels: np.ndarray, left: float, top: float, side: float) -> None:
        """Put a square image [side, side, 3] there."""
        whole = (left, left + side, top + side, top)
        self._axis.imshow(pixels, extent=whole, interpolation="nearest", aspect="auto")
        self._axis.set(**self._frame)

    def lines(
        self, lines: Sequence[Sequence[Word]], left: float, top: float, *, marked: str = "black", **look: Any
    ) -> float:
        """Write lines of words, marked ones bold and in a colour of their own; gives where the next line would be."""
        for line in lines:
            place = left
            for word in line:
                own = {"color": marked, "weight": "bold"} if word.marked else {}
                place_of_text = (place, top + 0.75 * LINE)
                self._axis.text(
                    *place_of_text, word.text, family="monospace", size=SIZE, va="baseline", **{**look, **own}
                )
                place += LETTER * (len(word.text) + 1)
            top += LINE
        return top


def plain(text: str) -> list[Word]:
    """A text's words, none of them marked."""
    return [Word(word) for word in text.split()]
