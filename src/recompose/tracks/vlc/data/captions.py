"""A training corpus: images with their captions, and parses of the captions.

Its index holds ``captions.json`` (paths and captions, a row each) and ``docs.spacy`` (the parses of the rows' captions
by spaCy: words, parts of speech, lemmas, heads), from which hard negatives are generated in each step.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recompose.files import read_json, write_json

if TYPE_CHECKING:
    from spacy.tokens import Doc

ROWS, DOCS = "captions.json", "docs.spacy"


@dataclass(frozen=True)
class Captions:
    """Images and their captions, a row each. An image may have several rows."""

    paths: tuple[str, ...]  # [rows], below the root of raw files
    captions: tuple[str, ...]  # [rows]

    def write(self, folder: Path) -> None:
        """Write the rows."""
        write_json(folder / ROWS, {"paths": list(self.paths), "captions": list(self.captions)})

    @classmethod
    def read(cls, folder: Path) -> "Captions":
        """Read the rows of an index."""
        document = read_json(folder / ROWS)
        return cls(tuple(document["paths"]), tuple(document["captions"]))


def write_docs(docs: "Sequence[Doc]", folder: Path) -> None:
    """Write the parses of captions by spaCy, in the order of the rows."""
    from spacy.tokens import DocBin

    attributes = ["ORTH", "TAG", "POS", "LEMMA", "HEAD", "DEP", "SPACY"]
    DocBin(attrs=attributes, docs=docs).to_disk(folder / DOCS)


def read_docs(folder: Path) -> "list[Doc]":
    """Return the parses of the captions of an index [rows]."""
    import spacy
    from spacy.tokens import DocBin

    return list(DocBin().from_disk(folder / DOCS).get_docs(spacy.blank("en").vocab))
