"""The items of a new suite, which its owner replaces: two squares beside each other, in the form of Winoground."""

import json
from itertools import combinations
from pathlib import Path

from PIL import Image

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
    folder.mkdir()
    paths, lines = [folder / "examples.jsonl"], list[str]()
    for colours in combinations(COLOURS, 2):
        item: dict[str, int | str] = {"id": len(lines)}
        for side, (left, right) in enumerate((colours, colours[::-1])):
            name = f"{len(lines)}-{side}"
            item |= {f"image_{side}": name, f"caption_{side}": f"a {left} square left of a {right} square"}
            picture = Image.new("RGB", (SIZE, SIZE), "grey")
            for place, colour in ((4, left), (4 + SIZE // 2, right)):
                picture.paste(colour, (place, SIZE // 3, place + SIZE // 3, SIZE - SIZE // 3))
            paths.append(images / f"{name}.png")
            picture.save(paths[-1])
        lines.append(json.dumps(item))
    write_text(paths[0], "\n".join(lines) + "\n")
    return paths
