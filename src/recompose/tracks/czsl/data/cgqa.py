"""C-GQA: objects with attributes cut from GQA's scenes (Naeem et al., 2021), in the natural compositional split."""

from pathlib import Path

from recompose.data.paths import find_folder
from recompose.tracks.czsl.data import compositional
from recompose.tracks.czsl.data.pairs import Statistics
from recompose.tracks.czsl.data.unpacked import move_split

STATISTICS = Statistics(
    states=413,
    objects=674,
    train_pairs=5592,
    train_images=26920,
    val_seen=1040,
    val_unseen=1252,
    val_images=7280,
    test_seen=888,
    test_unseen=923,
    test_images=5098,
)


def arrange(unpacked: Path, root: Path) -> None:
    """Move the unpacked archive, which has the common layout already."""
    move_split(unpacked, "cgqa", root)
    find_folder(unpacked, "cgqa/images").rename(root / "images")


def read(root: Path) -> compositional.PairData:
    """Read and check the data set."""
    return compositional.read(root, STATISTICS)
