"""MIT-States: photographs of objects in states (Isola et al., 2015), in the natural compositional split."""

from pathlib import Path

from recompose.data.paths import find_folder
from recompose.tracks.czsl.data.compositional import SPLIT_NAME, move_images, move_split, read

__all__ = ["arrange", "read"]


def arrange(unpacked: Path, root: Path) -> None:
    """Move the unpacked archives into the common layout; the metadata has ``_`` for a space in the names of folders."""
    move_split(unpacked, f"mit-states/{SPLIT_NAME}", root)
    images = find_folder(unpacked, "release_dataset/images")
    for folder in sorted(images.iterdir()):
        folder.rename(folder.with_name(folder.name.replace(" ", "_")))
    move_images(images, root)
