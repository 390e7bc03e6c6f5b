"""The acquisition of raw data, and its index in the common format.

A synthetic data set is generated in ``data/<name>-<digest>``. A published one is unpacked into ``data/<name>``, from
archives in ``data/archives``, which are downloaded if they are absent. A folder that is already there is used as it is,
and checked all the same.
"""

from pathlib import Path

from recompose.data.raw import draw_once, unpack
from recompose.params import Section
from recompose.plan import Recipe
from recompose.progress import say
from recompose.tracks.catalogue import Adapters, load_adapter, read_raw
from recompose.tracks.czsl.catalogue import ADAPTERS
from recompose.tracks.czsl.data.compositional import METADATA, SPLIT_NAME
from recompose.tracks.czsl.data.pairs import SPLITS, PairData

LAYOUT = f"images/, {METADATA}, {SPLIT_NAME}/"


def acquire(recipe: Recipe, section: Section, data: Path, root: Path, adapters: Adapters = ADAPTERS) -> Path:
    """Bring a data set's raw files onto this disk if they are absent; return their folder.

    Raises:
        DataError, DownloadError: the files, present or downloaded, are not the data set.
    """
    adapter = load_adapter(adapters, recipe.document)
    archives = getattr(section, "archives", None)
    if archives is None:
        draw_once(adapter.draw, recipe, root)
    elif not (root / METADATA).exists():
        unpack(archives, data, root, adapter.arrange, METADATA, LAYOUT)
    return root


def write_index(recipe: Recipe, root: Path, folder: Path, adapters: Adapters = ADAPTERS) -> list[str]:
    """Write a data set's index into a folder; return the raw files that were read and checked."""
    pairs: PairData = read_raw(adapters, recipe.document, root)
    say(f"{recipe.name}: {len(pairs.samples)} images read; taking their digests", detail=True)
    pairs.write(folder)
    lists = [f"{SPLIT_NAME}/{split}_pairs.txt" for split in SPLITS]
    return [METADATA, *lists, *(sample.path for sample in pairs.samples)]
