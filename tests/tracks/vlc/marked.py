"""A few captions of drawn scenes as a parser would see them, with a lexicon, and what marks their tokens."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import open_clip
import spacy
from spacy.tokens import Doc
from torch import Tensor

from recompose.backbones.pixels import PIXELS
from recompose.synthetic.sentences import Entity, Scene, Wording, document, phrase
from recompose.tracks.vlc.batches import LEXICON
from recompose.tracks.vlc.data.captions import Captions, write_docs
from recompose.tracks.vlc.data.shapes_captions import write_senses
from recompose.tracks.vlc.text.lexicon import WordNet
from tests.tracks.vlc.tiny import images, write

CONTEXT = 24
STAR, RING = Entity("star", ("red", "striped"), "big"), Entity("ring", ("blue",))
SCENES = [
    (Scene(STAR, RING, "left of"), Wording()),
    (Scene(RING, STAR, "above"), Wording(sentence=True)),
    (Scene(Entity("heart", ("glossy",), count=3)), Wording(opening="photo")),
    (Scene(Entity("star", count=2)), Wording()),  # no composition
    (Scene(RING, Entity("moon"), "holding"), Wording(article="the")),
    (Scene(Entity("square"), relation="on the left"), Wording()),
    (Scene(Entity("arrow"), RING, "right of"), Wording(long=True)),
]
# by hand: the words of objects, and those of composition; each stands at its first place in the caption
OBJECTS = [
    {"star", "ring"},
    {"ring", "star"},
    {"photo", "hearts"},
    {"stars"},
    {"ring", "moon"},
    {"square", "left"},
    {"arrow", "ring"},
]
COMPOSITION = [
    {"big", "striped", "red", "left", "of", "blue"},
    {"blue", "above", "big", "striped", "red"},
    {"of", "glossy"},
    set(),
    {"blue", "holding"},
    {"on"},
    {"to", "the", "right", "of", "blue"},
]


@cache
def docs() -> list[Doc]:
    """The captions."""
    vocabulary = spacy.blank("en").vocab
    return [document(phrase(message, wording).words(), vocabulary) for message, wording in SCENES]


@cache
def lexicon() -> WordNet:
    """What the drawn world's words mean."""
    with TemporaryDirectory() as folder:
        write_senses(Path(folder))
        return WordNet(Path(folder))


def tokenizer(texts: list[str]) -> Tensor:
    """CLIP's ids [texts, CONTEXT]."""
    ids: Tensor = open_clip.tokenize(texts, CONTEXT)
    return ids


def pieces(text: str) -> list[int]:
    """CLIP's ids of a text alone, as its tokenizer gives them without start and end."""
    ids: list[int] = open_clip.tokenizer._tokenizer.encode(text)
    return ids


def spelled(ids: Tensor, mask: Tensor) -> set[str]:
    """The words of the tokens of a mask."""
    return set(open_clip.decode(ids[mask]).split())


def write_marked(folder: Path) -> dict[str, Path]:
    """Write the folders that a run on these captions needs, with an image each."""
    needs, texts = write(folder), [doc.text for doc in docs()]
    Captions(tuple(f"{row}.png" for row in range(len(texts))), tuple(texts)).write(needs["data"])
    np.save(needs["pixels"] / PIXELS, images(len(texts)))
    write_docs(docs(), needs["data"])
    write_senses(needs["data"] / LEXICON)
    return needs
