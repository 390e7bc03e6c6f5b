"""CC3M's and LAION-COCO's 100k images with synthetic captions, as published by FSC-CLIP's authors in shards.

Each corpus is a repository of data sets at Hugging Face (``ytaek-oh/cc3m-subset-100k`` and
``ytaek-oh/laioncoco-subset-100k``, October 2024) of tars that img2dataset wrote: ``<key>.jpg`` with ``<key>.txt`` and
``<key>.json``. FSC-CLIP's loader (ytaek-oh/fsc-clip at 604015d, ``get_wds_dataset``) reads LAION-COCO's captions from
the ``.txt``. CC3M's there are web texts, and the loader reads the captions of CoCa instead: the first line of each
``coca_captions/<key>.txt`` of ``coca_captions.tar.gz``.

Unpacked, both have one form: an image and its caption have one name, and all captions lie in one folder. So missing
captions cannot lead to training on the wrong ones. Rows are in the order of the images' paths. An image without a
caption, which that loader skips, is an error here.
"""

from pathlib import Path

from recompose.data.paths import files_below, find_folder
from recompose.errors import DataError
from recompose.files import read_text
from recompose.tracks.vlc.data.captions import Captions
from recompose.tracks.vlc.data.formats.reading import missing_error

CAPTIONS = "captions"
MARK = CAPTIONS  # its presence means that a folder is complete
LAYOUT = (
    "images/<shard>/<key>.jpg (the tars 00000 to 00014 of huggingface.co/datasets/ytaek-oh/cc3m-subset-100k, or 00000 "
    "to 00013 of huggingface.co/datasets/ytaek-oh/laioncoco-subset-100k, each unpacked into a folder of its own), "
    f"{CAPTIONS}/<key>.txt (of cc3m-subset-100k the folder coca_captions of coca_captions.tar.gz, of "
    "laioncoco-subset-100k the .txt files of the tars)"
)
COCA = "coca_captions"
SUFFIXES = (".jpg", ".jpeg", ".png", ".webp")


def arrange(unpacked: Path, folder: Path) -> None:
    """Arrange the unpacked shards in the common form, with CoCa's captions if they exist.

    Raises:
        DataError: two captions have one name, or a file is missing.
    """
    coca = any(path.is_dir() for path in unpacked.rglob(COCA))
    if coca:
        find_folder(unpacked, COCA).rename(folder / CAPTIONS)
    (folder / CAPTIONS).mkdir(exist_ok=True)
    for file in files_below(unpacked):
        if file.suffix.lower() in SUFFIXES:
            shard = folder / "images" / file.relative_to(unpacked).parts[0].zfill(5)
            shard.mkdir(parents=True, exist_ok=True)
            _move(file, shard / file.name)
        elif file.suffix.lower() == ".txt" and not coca:
            _move(file, folder / CAPTIONS / file.name)


def annotation_files(root: Path) -> list[str]:
    """Return the files, beside images, that the corpus is read from."""
    return [path.relative_to(root).as_posix() for path in files_below(root / CAPTIONS) if path.suffix == ".txt"]


def read(root: Path) -> Captions:
    """Read and check the corpus.

    Args:
        root: the folder of the corpus, see ``LAYOUT``.

    Raises:
        DataError: there are no images or captions, or an image has no caption.
    """
    if not (root / CAPTIONS).is_dir():
        raise missing_error(root / CAPTIONS, "is missing", LAYOUT)
    images = [path for path in files_below(root / "images") if path.suffix.lower() in SUFFIXES]
    if not images:
        raise missing_error(root / "images", "holds no images", LAYOUT, "missing-image")
    captions = tuple(_caption(root / CAPTIONS / f"{path.stem}.txt", path) for path in images)
    return Captions(tuple(path.relative_to(root).as_posix() for path in images), captions)


def _caption(path: Path, image: Path) -> str:
    """Return the first line, with its end, as the released loader reads it."""
    try:
        caption = "".join(read_text(path).partition("\n")[:2])
    except FileNotFoundError:
        message = f"{path} is missing, the caption of {image}; put it there or remove the image"
        raise DataError(message, code="missing-file", place=path) from None
    if not caption.strip():
        message = f"{path} holds no caption; correct it, or remove it and {image}"
        raise DataError(message, code="empty-text", place=path)
    return caption


def _move(file: Path, place: Path) -> None:
    if place.exists():
        message = f"{place} exists already, where {file} belongs; the shards of two corpora may be mixed"
        raise DataError(message, code="duplicate-name", place=place)
    file.rename(place)
