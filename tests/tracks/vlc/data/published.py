"""Small published corpora, a model and a lexicon, packed as upstream packs them."""

import io
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.lookups import Lookups
from spacy.training import Example

from recompose.params.sections import Archive

LICENCE = "  1 WordNet 3.0 Copyright 2006 by Princeton University.  All rights reserved.  \n"


def archive(file: str) -> Archive:
    """An archive of params.yaml whose server does not answer."""
    return Archive(file=file, urls=[f"http://127.0.0.1:9/{file}"], sha256=None)


def pack(path: Path, files: Mapping[Any, bytes]) -> Path:
    """An archive of these files, which have names, or zipfile's or tarfile's own descriptions."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.name.endswith((".zip", ".whl")):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, content in files.items():
                packed.writestr(name, content)
    else:
        with tarfile.open(path, "w:gz" if path.suffix in (".gz", ".tgz") else "w") as packed:
            for name, content in files.items():
                info = tarfile.TarInfo(name) if isinstance(name, str) else name
                info.size = len(content)
                packed.addfile(info, io.BytesIO(content))
    return path


def contents(folder: Path) -> dict[str, bytes]:
    """The files below a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def wheel_files(model: Path) -> dict[str, bytes]:
    """A model's wheel: its data within a package whose code must not run."""
    data = {f"en_core_web_sm/en_core_web_sm-3.8.0/{name}": content for name, content in contents(model).items()}
    code = b"raise SystemExit('code of a wheel ran')\n"
    return {"en_core_web_sm/__init__.py": code, "en_core_web_sm-3.8.0.dist-info/RECORD": b"", **data}


def save_model(folder: Path) -> Language:
    """A pipeline of the published one's parts that has learnt nothing, but whose kinds and lemmas are ruled."""
    model = spacy.blank("en")
    for name in ("tagger", "parser", "attribute_ruler"):
        model.add_pipe(name)
    model.add_pipe("ner")
    model.get_pipe("ner").add_label("DATE")  # type: ignore[attr-defined]
    words = ["a", "dog", "runs"]
    annotation = {"words": words, "tags": ["DT", "NN", "VBZ"], "heads": [1, 2, 2], "deps": ["det", "nsubj", "ROOT"]}
    example = Example.from_dict(model.make_doc("a dog runs"), annotation)
    tables = Lookups()
    tables.add_table("lemma_lookup", {"dogs": "dog", "runs": "run"})
    model.initialize(lambda: [example])
    model.get_pipe("attribute_ruler").add([[{"LOWER": "dogs"}]], {"POS": "NOUN", "TAG": "NNS"})  # type: ignore
    lemmatizer = model.add_pipe("lemmatizer", config={"mode": "lookup"})
    lemmatizer.initialize(lookups=tables)  # type: ignore[attr-defined]
    model.to_disk(folder)
    return model


def lexicon_files() -> dict[str, bytes]:
    """WordNet's files with one synset for each part of speech, by hand."""
    files = {"cntlist.rev": "dog%1:03:00:: 1 42\n"}
    for part, letter, word in (("adj", "a", "big"), ("adv", "r", "fast"), ("noun", "n", "dog"), ("verb", "v", "run")):
        place = f"{len(LICENCE):08}"
        frames = " 01 + 02 00" if letter == "v" else ""
        files[f"data.{part}"] = f"{LICENCE}{place} 03 {letter} 01 {word} 0 000{frames} | a word  \n"
        files[f"index.{part}"] = f"{LICENCE}{word} {letter} 1 0 1 1 {place}  \n"
        files[f"{part}.exc"] = "dogges dog\n"
    return {name: text.encode() for name, text in files.items()}
