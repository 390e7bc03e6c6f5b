"""The items of a new suite, which its owner replaces: two squares beside each other, in the form of Winoground."""

import json
from pathlib import Path

from PIL import Image, ImageDraw

from recompose.files import write_text

COLOURS = ("red", "green", "blue", "yellow")
SIZE = 64  # pixels


def item_places(data: Path, suite: str) -> tuple[Path, Path]:
    """Return the folders of a suite's annotations and of its images, given that of all suites' raw files."""
    return data / suite, data / "images" / suite


def write_items(data: Path, suite: str) -> list[Path]:
    """Write an item for every two colours; its captions and its images differ in the sides of the squares.

    Args:
        data: the folder of all suites' raw files.
        suite: the name of the suite.
    """
    folder, images = item_places(data, suite)
    images.mkdir(parents=True)
    lines: list[str] = []
    paths = [folder / "examples.jsonl"]
    for first, second in [(a, b) for a in COLOURS for b in COLOURS if a < b]:
        item: dict[str, int | str] = {"id": len(lines)}
        for side, (left, right) in enumerate([(first, second), (second, first)]):
            name = f"{len(lines)}-{side}"
            item |= {f"image_{side}": name, f"caption_{side}": f"a {left} square left of a {right} square"}
            paths.append(images / f"{name}.png")
            _picture(left, right).save(paths[-1])
        lines.append(json.dumps(item))
    folder.mkdir()
    write_text(paths[0], "\n".join(lines) + "\n")
    return paths


def _picture(left: str, right: str) -> Image.Image:
    picture = Image.new("RGB", (SIZE, SIZE), "grey")
    for number, colour in enumerate((left, right)):
        corner = (4 + number * SIZE // 2, SIZE // 3)
        ImageDraw.Draw(picture).rectangle((*corner, corner[0] + SIZE // 3, corner[1] + SIZE // 3), fill=colour)
    return picture
