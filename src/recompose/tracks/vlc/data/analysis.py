"""Parses of captions by spaCy: words, parts of speech, lemmas and heads, by a model that is published as a wheel.

FSC-CLIP's negatives use ``en_core_web_sm`` (ytaek-oh/fsc-clip at 604015d, ``text_negatives_data.py``, in the installed
version; its requirements ask for spaCy 3.7.4). Here it is 3.8.0, without entity recognition, which no negative uses and
nothing else depends on.

A wheel holds code and data. Only the folder of data is unpacked, and none of its code runs. That folder's
``config.cfg`` may name any function that is registered with spaCy to build the pipeline. So the names are compared with
those that English pipelines need before anything is built.
"""

import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recompose.data.archives import extract
from recompose.data.paths import find_file
from recompose.errors import DataError
from recompose.progress import SAY_EVERY, ProgressLogger

if TYPE_CHECKING:
    from spacy.tokens import Doc

CONFIG = "config.cfg"
BATCH = 256  # captions in a batch of the model
NEEDED = ("tagger", "parser", "attribute_ruler", "lemmatizer")  # parts of speech, heads and lemmas come from them
NOT_NEEDED = ("ner", "senter", "entity_linker")
LAYOUT = "the folder en_core_web_sm-3.8.0 of the wheel of that name of github.com/explosion/spacy-models"

_FACTORIES = {"tok2vec", *NEEDED, "morphologizer", "senter", "ner"}
_FUNCTIONS = {
    ("@tokenizers", "spacy.Tokenizer.v1"),
    ("@vectors", "spacy.Vectors.v1"),
    *(("@scorers", f"spacy.{name}_scorer.v1") for name in sorted(_FACTORIES)),
    *(
        ("@architectures", f"spacy.{name}")
        for name in (
            "HashEmbedCNN.v2",
            "MaxoutWindowEncoder.v2",
            "MultiHashEmbed.v2",
            "Tagger.v2",
            "Tok2Vec.v2",
            "Tok2VecListener.v1",
            "TransitionBasedParser.v2",
        )
    ),
}
_HOOKS = ("before_creation", "after_creation", "after_pipeline_creation")
_MOST_BYTES = 2**30


def unpack_model(wheel: Path, folder: Path) -> None:
    """Unpack the data of a model's wheel into a new folder, all of it or nothing.

    Raises:
        DataError: the wheel is unsafe, holds no model or several, or one that names forbidden code.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        archive, unpacked = Path(scratch) / "wheel.zip", Path(scratch) / "unpacked"  # a wheel is a zip
        shutil.copyfile(wheel, archive)
        extract(archive, unpacked, max_bytes=_MOST_BYTES)
        data = find_file(unpacked, CONFIG).parent
        check_config(data)
        data.rename(folder)


def check_config(folder: Path) -> None:
    """Check that a model is an English pipeline of spaCy's own parts, and names no other function.

    Raises:
        DataError: its configuration is unreadable or has other content.
    """
    from spacy.util import load_config

    path = folder / CONFIG
    if not path.is_file():
        raise _error(path, "missing-file", f"is missing. Required files: {LAYOUT}")
    try:
        config: dict[str, Any] = load_config(path, interpolate=True)
        nlp, components = config["nlp"], config["components"]
        language, pipeline, hooks = nlp["lang"], list(nlp["pipeline"]), [nlp.get(hook) for hook in _HOOKS]
        factories = {name: components[name].get("factory") for name in components}
    except Exception as error:  # the errors of malformed files are not documented
        message = f"is no configuration of a pipeline ({_first_line(error)}). Required files: {LAYOUT}"
        raise _error(path, "no-configuration", message) from None
    if language != "en":
        raise _error(path, "other-language", f"is of the language {language!r}, not 'en'. Required files: {LAYOUT}")
    if any(hook is not None for hook in hooks):
        raise _error(path, "foreign-code", "runs code when the pipeline is built; it is not loaded")
    for name, factory in factories.items():
        if factory not in _FACTORIES or "source" in components[name]:
            message = f"has a part {name}, which is none of an English pipeline of spaCy's own; it is not loaded"
            raise _error(path, "foreign-part", message)
    for registry, function in [*_named_functions(nlp), *_named_functions(components)]:
        if (registry, function) not in _FUNCTIONS:
            message = f"names {registry} {function!r}, which no English pipeline needs; it is not loaded"
            raise _error(path, "foreign-function", message)
    factories_used = {factories.get(name) for name in pipeline}
    for factory in NEEDED:
        if factory not in factories_used:
            raise _error(path, "missing-part", f"is a pipeline without {factory}. Required files: {LAYOUT}")


def _error(place: Path | str, code: str, fault: str) -> DataError:
    return DataError(f"{place} {fault}", code=code, place=place)


def _named_functions(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the functions that a part of a configuration names: registry and name."""
    if isinstance(value, dict):
        for key, entry in value.items():
            if key.startswith("@"):
                yield key, entry
            yield from _named_functions(entry)
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from _named_functions(entry)


def annotate(captions: Sequence[str], model_folder: Path) -> "Iterator[Doc]":
    """Return the parses of captions in their order; errors are raised before the first one.

    Args:
        captions: their texts.
        model_folder: the folder of an unpacked model.

    Raises:
        DataError: the model is not allowed or unreadable, or a caption is no text, or too long.
    """
    import spacy

    check_config(model_folder)
    try:
        model = spacy.load(model_folder, exclude=list(NOT_NEEDED))
    except Exception as error:  # a damaged file may raise any error in spaCy
        message = f"is no model that spaCy can load ({_first_line(error)}). Required files: {LAYOUT}"
        raise _error(model_folder, "no-model", message) from None
    for number, caption in enumerate(captions, start=1):
        if not isinstance(caption, str):
            raise _error(f"caption {number}", "no-text", f"is {caption!r:.50}, not a text; correct the list")
        if len(caption) > model.max_length:
            message = f"has {len(caption)} letters, more than spaCy takes; correct the list"
            raise _error(f"caption {number}", "long-text", message)
    return _with_progress(model.pipe(captions, batch_size=BATCH), len(captions))


def _with_progress(docs: "Iterator[Doc]", total: int) -> "Iterator[Doc]":
    """Yield the parses and report the progress from time to time."""
    pace, reported_at = ProgressLogger("parsed captions", "caption", total), time.monotonic()
    for done, doc in enumerate(docs, start=1):
        yield doc
        if time.monotonic() - reported_at > SAY_EVERY and done < total:
            reported_at = time.monotonic()
            pace.at(done)


def _first_line(error: Exception) -> str:
    return (str(error) or repr(error)).strip().splitlines()[0]
