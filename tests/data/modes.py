"""Small images of every mode that a file may have, for Pillow."""

from pathlib import Path

import numpy as np
from PIL import Image

IN_FILES = ("1", "CMYK", "F", "I", "I;16", "I;16B", "L", "LA", "LAB", "P", "PA", "RGB", "RGBA", "YCbCr")


def in_mode(mode: str, width: int = 70, height: int = 40) -> Image.Image:
    """An image of noise, transparent in its left half where it can be, with values of bytes whatever may be stored."""
    image = Image.fromarray(np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8))
    if mode == "LAB":
        return Image.frombytes(mode, image.size, image.tobytes())
    if mode == "F" or mode.startswith("I"):
        return image.convert("L").convert("I" if mode.startswith("I;") else mode).convert(mode)
    if mode in ("LA", "PA", "RGBA"):
        image.putalpha(Image.fromarray((np.arange(width) >= width // 2) * np.full((height, 1), 255, dtype=np.uint8)))
    return image.convert(mode)


def write_every_mode(folder: Path) -> dict[str, Path]:
    """Write an image of each mode, and palettes that say what is transparent, into a folder; return them by name."""
    files = {mode: folder / f"{mode.replace(';', '-')}.tif" for mode in IN_FILES}
    for mode, path in files.items():
        in_mode(mode).save(path)
        with Image.open(path) as image:
            assert image.mode == mode
    for name, transparency in (("one colour", 3), ("all colours", bytes(range(256)))):
        files[f"P, {name}"] = folder / f"{name}.png"
        in_mode("P").save(files[f"P, {name}"], transparency=transparency)
    return files
