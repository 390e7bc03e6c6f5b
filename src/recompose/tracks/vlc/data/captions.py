"""A training corpus: images with their captions, and parses of the captions.

Its index holds ``captions.json`` (paths and captions, a row each) and ``docs.spacy`` (the parses of the rows' captions
by spaCy: words, parts of speech, lemmas, heads), from which hard negatives are generated in each step. Where the corpus
lists hard negatives itself, ``negatives.json`` has those of each row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recompose.errors import DataError
from recompose.files import read_json, write_json

if TYPE_CHECKING:
    from spacy.tokens import Doc

ROWS, DOCS, NEGATIVES = "captions.json", "docs.spacy", "negatives.json"
LISTED = "listed"  # the kind of the negatives that a corpus lists


@dataclass(frozen=True)
class Captions:
    """Images and their captions, a row each. An image may have several rows."""

    paths: tuple[str, ...]  # [rows], below the root of raw files
    captions: tuple[str, ...]  # [rows]
    negatives: tuple[tuple[str, ...], ...] = ()  # [rows], any number of each; empty if the corpus lists none

    def write(self, folder: Path) -> None:
        """Write the rows."""
        write_json(folder / ROWS, {"paths": list(self.paths), "captions": list(self.captions)})
        if self.negatives:
            write_json(folder / NEGATIVES, {"negatives": list(map(list, self.negatives))})

    @classmethod
    def read(cls, folder: Path) -> "Captions":
        """Read the rows of an index, without their negatives; see ``read_negatives``."""
        document = read_json(folder / ROWS)
        return cls(tuple(document["paths"]), tuple(document["captions"]))


def read_negatives(folder: Path) -> list[list[str]]:
    """Return the hard negatives [rows] that the corpus of an index lists.

    Raises:
        DataError: it lists none.
    """
    path = folder / NEGATIVES
    if not path.is_file():
        message = f"{path} is absent: the corpus lists no hard negatives; set negative_source to rules in params.yaml"
        raise DataError(message, code="missing-file", place=path)
    return read_json(path)["negatives"]


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
