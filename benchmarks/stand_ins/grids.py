"""Grids of regions as TransZero's authors keep them, drawn: ``python -m benchmarks.stand_ins.grids FILE IMAGES``."""

import sys
from pathlib import Path

import h5py
import numpy as np

from recompose.backbones.grids import FEATURE_MAP

SHAPE = (2048, 14, 14)  # of an image: channels and regions of a ResNet-101 that sees 448 pixels
DRAWN = 16  # different maps; each image has one of them, its channels moved on


def write_grids(path: Path, images: int, shape: tuple[int, int, int] = SHAPE) -> None:
    """Write an HDF5 file with maps of this many images, no two alike, whole or not at all; half of the numbers are
    zero, as after a rectifier.
    """
    rng = np.random.default_rng(0)
    drawn = np.maximum(rng.standard_normal((DRAWN, *shape), dtype=np.float32), 0).astype(np.float16)
    partial = path.with_name(path.name + ".partial")
    path.parent.mkdir(parents=True, exist_ok=True)
    with h5py.File(partial, "w") as file:
        maps = file.create_dataset(
            FEATURE_MAP, (images, *shape), np.float32, chunks=(1, *shape), compression="gzip", compression_opts=1
        )
        for image in range(images):
            maps[image] = np.roll(drawn[image % DRAWN], image // DRAWN, axis=0)
    partial.rename(path)


if __name__ == "__main__":
    write_grids(Path(sys.argv[1]), int(sys.argv[2]))
