"""Images and their captions, each to retrieve by the other among all, as Karpathy's test splits list them.

They are read in the form that BLIP published and that the loaders of ARO and others read: a list of images with their
original captions.
"""

from dataclasses import dataclass

from recompose.tracks.vlc.data.formats.reading import check_distinct
from recompose.tracks.vlc.data.formats.suite_files import Suite, SuiteFiles

FORM = '[{"image": "<folder>/<file>", "caption": [...]}, ...]'


@dataclass(frozen=True)
class KarpathySplit:
    """The file of one of Karpathy's test splits, and the folder of its images."""

    file: str
    images: str

    def read(self, files: SuiteFiles) -> Suite:
        """Read the suite.

        Raises:
            DataError: the file is absent or not as published, or an image is repeated.
        """
        return files.suite({"": files.pool(self.captions(files))})

    def captions(self, files: SuiteFiles) -> list[tuple[str, list[str]]]:
        """Return the path of each image and its captions, in the order of the file.

        Raises:
            DataError: as of ``read``.
        """
        images = files.items(self.file)
        check_distinct(images, "image")
        return [(image.path("image", self.images), image.texts("caption")) for image in images]
