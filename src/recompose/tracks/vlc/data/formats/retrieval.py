"""Images and their captions, each to be found by the other among all, as Karpathy's test splits list them.

They are read in the form that BLIP published and the loaders of ARO and others take, a list of images with their
captions, or in Karpathy's own, an object of the images of all splits; both have the captions as people wrote them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from recompose.tracks.vlc.data.formats.reading import Item, distinct, filled, items, read_document, read_items
from recompose.tracks.vlc.data.suite import Collector, Pool, Suite

FORMS = (
    '[{"image": "<folder>/<file>", "caption": [...]}, ...] or, in Karpathy\'s own form, {"images": [{"filepath": '
    '"<folder>" (COCO only), "filename": "<file>", "split", "sentences": [{"raw"}, ...]}, ...]}'
)


@dataclass(frozen=True)
class KarpathySplit:
    """Where the captions and images of one of Karpathy's test splits are."""

    name: str  # of the suite, and of its folder of annotation files
    file: str  # in BLIP's form, taken where both are there
    own: str  # in Karpathy's own form
    images: str  # the folder of its images
    folder: str  # the one in it of images that Karpathy's own form names no folder of
    layout: str

    def read(self, root: Path) -> Suite:
        """Read the suite below a root of raw files.

        Raises:
            DataError: there is neither file, it is not as published, or an image stands in it twice.
        """
        file, own, collector = root / self.name / self.file, root / self.name / self.own, Collector()
        captions = self._own(own) if own.exists() and not file.exists() else self._blip(file)
        return collector.suite(self.name, {self.name: pool(captions, collector)})

    def _blip(self, path: Path) -> list[tuple[str, list[str]]]:
        found = read_items(path, self.layout)
        distinct(found, "image")
        return [(one.path("image", self.images), one.texts("caption")) for one in found]

    def _own(self, path: Path) -> list[tuple[str, list[str]]]:
        document = Item(path, "the file", {"content": read_document(path, self.layout)}).part("content", dict)
        listed = items(document.get("images", list), path, "images")
        tested = filled([one for one in listed if one.text("split") == "test"], path, "split 'test'")
        distinct(tested, "filename")
        return [(one.path("filename", self._folder(one)), _sentences(one)) for one in tested]

    def _folder(self, image: Item) -> str:
        return image.path("filepath", self.images) if "filepath" in image.fields else f"{self.images}/{self.folder}"


def pool(captions: Iterable[tuple[str, Iterable[str]]], collector: Collector) -> Pool:
    """Images and their captions, in their order.

    Args:
        captions: of each image, which stands before them by its path.
        collector: numbers images and texts.
    """
    images, texts, image_of = [], [], []
    for place, (path, lines) in enumerate(captions):
        images.append(collector.image(path))
        for line in lines:
            texts.append(collector.text(line))
            image_of.append(place)
    return Pool(*(np.array(numbers, dtype=np.int64) for numbers in (images, texts, image_of)))


def _sentences(image: Item) -> list[str]:
    return [one.text("raw") for one in items(image.get("sentences", list), image.file, image.name)]
