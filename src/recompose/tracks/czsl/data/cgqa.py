"""C-GQA: objects with attributes cut from GQA's scenes (Naeem et al., 2021), in the natural compositional split."""

from pathlib import Path

from recompose.data.paths import find_folder
from recompose.tracks.czsl.data import compositional
from recompose.tracks.czsl.data.pairs import Statistics
from recompose.tracks.czsl.data.unpacked import move_images, move_split

# the row of the papers' table of data sets
STATISTICS = Statistics(413, 674, 5592, 26920, 1040, 1252, 7280, 888, 923, 5098)


def arrange(unpacked: Path, root: Path) -> None:
    """Move the unpacked archive, which has the common layout already."""
    move_split(unpacked, "cgqa", root)
    move_images(find_folder(unpacked, "cgqa/images"), root)


def read(root: Path) -> compositional.PairData:
    """Read and check the data set."""
    return compositional.read(root, STATISTICS)
