"""Parses of captions by spaCy: words, parts of speech, lemmas and heads, by a model that is published as a wheel.

FSC-CLIP's negatives use ``en_core_web_sm`` (ytaek-oh/fsc-clip at 604015d, ``text_negatives_data.py``, in the installed
version; its requirements ask for spaCy 3.7.4). Here it is 3.8.0, without entity recognition, which no negative uses and
nothing else depends on.

A wheel holds code and data. Only the folder of data is unpacked, and none of its code runs. What the data may name to
build the pipeline is pinned by the wheel's digest in params.yaml.
"""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from recompose.data.archives import extract
from recompose.data.paths import find_file
from recompose.errors import DataError
from recompose.progress import bar

if TYPE_CHECKING:
    from spacy.tokens import Doc

CONFIG = "config.cfg"
BATCH = 256  # captions in a batch of the model
NOT_NEEDED = ("ner", "senter", "entity_linker")
LAYOUT = "the folder en_core_web_sm-3.8.0 of the wheel of that name of github.com/explosion/spacy-models"

_MOST_BYTES = 2**30


def unpack_model(wheel: Path, folder: Path) -> None:
    """Unpack the data of a model's wheel into a new folder, all of it or nothing.

    Raises:
        DataError: the wheel is unsafe, or holds no model or several.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        archive, unpacked = Path(scratch) / "wheel.zip", Path(scratch) / "unpacked"  # a wheel is a zip
        shutil.copyfile(wheel, archive)
        extract(archive, unpacked, max_bytes=_MOST_BYTES)
        find_file(unpacked, CONFIG).parent.rename(folder)


def annotate(captions: Sequence[str], model_folder: Path) -> "Iterator[Doc]":
    """Return the parses of captions in their order.

    Args:
        captions: their texts.
        model_folder: the folder of an unpacked model.

    Raises:
        DataError: the model is absent.
    """
    import spacy

    if not (model_folder / CONFIG).is_file():
        message = f"{model_folder / CONFIG} is missing. Required files: {LAYOUT}"
        raise DataError(message, code="missing-file", place=model_folder / CONFIG)
    model = spacy.load(model_folder, exclude=list(NOT_NEEDED))
    steps = bar(range(len(captions)), "parsed captions", "caption")
    return (doc for doc, _ in zip(model.pipe(captions, batch_size=BATCH), steps, strict=True))
