"""Stored evaluations of drawn pictures."""

from collections.abc import Iterable
from pathlib import Path

from PIL import Image

from recompose.plan import Recipe
from recompose.tracks.vlc.data.index import write_suites
from recompose.tracks.vlc.data.suite import Suite


class StoredPictures:
    """The results of methods on one benchmark, a suite of two pictures, with a folder for each method."""

    def __init__(self, folder: Path, suite: Suite, names: Iterable[str]) -> None:
        self.place, self.data = folder, Recipe("data", "shapes-suites", {"adapter": "shapes-suites"})
        self.names = list(names)
        write_suites([suite], folder / "index")
        (folder / "raw").mkdir()
        for number, colour in enumerate(("red", "blue")):
            Image.new("RGB", (40, 30), colour).save(folder / "raw" / f"{number}.png")
        for name in self.names:
            (folder / name).mkdir()

    def benchmarks(self, track: str) -> list[str]:
        return ["d"]

    def planned(self, track: str, name: str, benchmark: str) -> list[Recipe]:
        labels = {"method": name, "dataset": benchmark, "seed": 0}
        return [Recipe("evaluations", name, {"of": name}, {"suites-shapes-suites": self.data}, labels=labels)]

    def is_complete(self, recipe: Recipe) -> bool:
        return recipe.name in self.names

    def folder(self, recipe: Recipe) -> Path:
        return self.place / "index"

    def raw(self, data: Recipe) -> Path:
        return self.place / "raw"

    def file(self, recipe: Recipe, name: str) -> Path:
        return self.place / recipe.name / name
