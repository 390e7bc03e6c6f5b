"""The files of ARO's order tasks, drawn from Karpathy's test captions by the rules of the released code.

The rules are those of ``dataset_zoo/perturbations.py``, of ``COCO_Order`` and ``Flickr30k_Order`` in
``dataset_zoo/aro_datasets.py``, and of ``pre_caption`` in ``dataset_zoo/retrieval.py`` of
mertyg/vision-language-models-are-bows at 81fdd20. ``main_aro.py`` seeds the generators of NumPy and of Python with 1
before it reads one of the two data sets. Captions are drawn in the order of the file. For each, NumPy permutes its
nouns, then its adjectives, then, in another copy, all other words. Python shuffles the words within each three, then
the threes.

Tags are those of spaCy's en_core_web_sm and tokens those of NLTK, in the installed versions. Another tag changes the
number of draws, and so all later captions. So a draw has the rules of the published numbers, not their captions.
"""

import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from recompose.data.archives import extract
from recompose.data.raw import unpack_once
from recompose.errors import DataError, MissingFilesError
from recompose.files import write_json
from recompose.params.sections import Archive
from recompose.progress import say
from recompose.tracks.vlc.data import analysis
from recompose.tracks.vlc.data.formats import aro, coco, flickr30k
from recompose.tracks.vlc.data.formats.suite_files import SuiteFiles

if TYPE_CHECKING:
    from spacy.tokens import Doc

SEED = 1
MAX_WORDS = 30
SOURCES = {"coco_order": coco, "flickr30k_order": flickr30k}
WORDS = Archive(
    file="en_core_web_sm-3.8.0-py3-none-any.whl",
    urls=[
        "https://github.com/explosion/spacy-models/releases/download/en_core_web_sm-3.8.0/"
        "en_core_web_sm-3.8.0-py3-none-any.whl"
    ],
    sha256="1932429db727d4bff3deed6b34cfc05df17794f4a52eeb26cf8928f7c1a0fb85",
)
SENTENCES = Archive(
    file="punkt_tab.zip",
    urls=["https://raw.githubusercontent.com/nltk/nltk_data/gh-pages/packages/tokenizers/punkt_tab.zip"],
    sha256=None,
)
TOOLS = "language"  # the folder of unpacked models, below the folder of data
_NOUNS, _ADJECTIVES = ("NN", "NNS", "NNP", "NNPS"), ("JJ", "JJR", "JJS")
_PUNCTUATION = re.compile(r'[.!"()*#:;~]')


def draw(root: Path, data: Path) -> None:
    """Write the files of those order tasks whose captions are there, unless they exist.

    Args:
        root: the folder of the suites' raw files.
        data: the folder of archives; spaCy's and NLTK's models are downloaded there unless they exist.

    Raises:
        DataError, DownloadError: no captions are there, or captions or models are not as published.
    """
    captions: dict[str, list[tuple[str, list[str]]]] = {}
    for name, source in SOURCES.items():
        if _file(root, name).exists():
            say(f"{_file(root, name)} exists; remove it to draw it again")
            continue
        form = source.__name__.rpartition(".")[2]
        files = SuiteFiles(root, form, form, form, source.LAYOUT.replace("<suite>", form))
        try:
            captions[name] = source.SPLIT.captions(files)
        except MissingFilesError as error:
            say(f"{name} is not drawn: {error.fault}")
    if captions:
        words, sentences = _models(data)
        for name, images in captions.items():
            write_json(_file(root, name), list(_test_cases(images, aro.ORDERS[name], words, sentences)))
            say(f"{_file(root, name)} is written")
    elif not any(_file(root, name).exists() for name in SOURCES):
        layout = "\n".join(source.LAYOUT for source in SOURCES.values()).replace("<suite>/", "")
        raise MissingFilesError(f"no captions are below {root}", layout, place=root)


class OrderShuffler:
    """The generators of the released code, in the state in which it starts on a data set."""

    def __init__(self, seed: int = SEED) -> None:
        self._arrays, self._lists = np.random.RandomState(seed), random.Random(seed)

    def shuffled(self, doc: "Doc", tokens: Sequence[str]) -> list[str]:
        """Return the four shuffled captions of a caption.

        Args:
            doc: the caption's words with their tags.
            tokens: its tokens by NLTK.
        """
        words = np.array([word.text for word in doc], dtype=np.str_)
        tags = np.array([word.tag_ for word in doc], dtype=np.str_)
        nouns, adjectives = np.isin(tags, _NOUNS), np.isin(tags, _ADJECTIVES)
        named = self._permuted(words, nouns, adjectives)
        others = self._permuted(words, ~(nouns | adjectives))
        within = [[*tokens[start : start + 3]] for start in range(0, len(tokens), 3)]
        threes = [[*three] for three in within]
        for three in within:
            self._lists.shuffle(three)
        self._lists.shuffle(threes)
        return [named, others, *(" ".join(token for three in row for token in three) for row in (within, threes))]

    def _permuted(self, words: np.ndarray, *selections: np.ndarray) -> str:
        """Return a caption whose words are permuted within each selection [words]."""
        permuted = words.copy()
        for selection in selections:
            permuted[selection] = self._arrays.permutation(permuted[selection])
        return " ".join(permuted)


def cut(caption: str) -> str:
    """Return a caption in lower case, without most punctuation, of at most 30 words.

    Example:
        >>> cut('A dog (small)  sits: "Oh!"\\n')
        'a dog small sits oh'
    """
    text = re.sub(r"\s{2,}", " ", _PUNCTUATION.sub(" ", caption.lower())).rstrip("\n").strip(" ")
    return " ".join(text.split(" ")[:MAX_WORDS])


def _file(root: Path, name: str) -> Path:
    return root / "aro" / aro.FILES[name]


def _test_cases(
    images: Sequence[tuple[str, list[str]]], folder: str, words: Path, sentences: Path
) -> Iterator[dict[str, str | list[str]]]:
    """Yield an item for each caption."""
    captions = [(path.removeprefix(f"{folder}/"), caption) for path, lines in images for caption in lines]
    texts = [caption for _, caption in captions]
    tokens = tokenize(texts, sentences)
    shuffler = OrderShuffler()
    for (path, caption), doc, row in zip(captions, analysis.annotate(texts, words), tokens, strict=True):
        options = [caption, *shuffler.shuffled(doc, row)]
        yield {"image": path, "caption_options": [cut(option) for option in options]}


def tokenize(captions: Sequence[str], folder: Path) -> list[list[str]]:
    """Return the tokens of captions as by NLTK's ``word_tokenize``, which splits each into sentences first.

    Args:
        captions: their texts.
        folder: with ``tokenizers/punkt_tab/english``, the model of sentences.

    Raises:
        DataError: the folder has no such model.
    """
    import nltk
    from nltk.tokenize import NLTKWordTokenizer, PunktTokenizer

    nltk.data.path.insert(0, str(folder.resolve()))
    try:
        sentences = PunktTokenizer()
    except (LookupError, ValueError):
        message = f"{folder} has no punkt_tab that NLTK can read; remove the folder to unpack {SENTENCES.file} again"
        raise DataError(message, code="no-model", place=folder) from None
    finally:
        nltk.data.path.pop(0)
    words = NLTKWordTokenizer()
    return [
        [token for sentence in sentences.tokenize(caption) for token in words.tokenize(sentence)]
        for caption in captions
    ]


def _models(data: Path) -> tuple[Path, Path]:
    """Return the folders of spaCy's model and of NLTK's data, downloaded and unpacked unless they exist."""
    words, sentences = data / TOOLS / "en_core_web_sm-3.8.0", data / TOOLS / "nltk"
    unpack_once(WORDS, data, words, analysis.unpack_model)
    unpack_once(SENTENCES, data, sentences / "tokenizers", extract)
    return words, sentences
