"""MIT-States: photographs of objects in states (Isola et al., 2015), in the natural compositional split."""

from pathlib import Path

from recompose.data.paths import find_folder
from recompose.tracks.czsl.data import compositional
from recompose.tracks.czsl.data.pairs import Statistics
from recompose.tracks.czsl.data.unpacked import move_images, move_split

# the row of the papers' table of data sets
STATISTICS = Statistics(115, 245, 1262, 30338, 300, 300, 10420, 400, 400, 12995)


def arrange(unpacked: Path, root: Path) -> None:
    """Move the unpacked archives into the common layout; the metadata has ``_`` for a space in the names of folders."""
    move_split(unpacked, "mit-states", root)
    images = find_folder(unpacked, "release_dataset/images")
    for folder in sorted(images.iterdir()):
        folder.rename(folder.with_name(folder.name.replace(" ", "_")))
    move_images(images, root)


def read(root: Path) -> compositional.PairData:
    """Read and check the data set."""
    return compositional.read(root, STATISTICS)
