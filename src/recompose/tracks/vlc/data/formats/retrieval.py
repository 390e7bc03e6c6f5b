"""Images and their captions, each to retrieve by the other among all, as Karpathy's test splits list them.

They are read in the form that BLIP published and that the loaders of ARO and others read, a list of images with their
captions, or in Karpathy's own form, an object of the images of all splits. Both have the original captions.
"""

from dataclasses import dataclass

from recompose.tracks.vlc.data.formats.reading import AnnotationItem, check_distinct, items, read_object, require_items
from recompose.tracks.vlc.data.formats.suite_files import Suite, SuiteFiles

FORMS = (
    '[{"image": "<folder>/<file>", "caption": [...]}, ...] or, in Karpathy\'s own form, {"images": [{"filepath": '
    '"<folder>" (COCO only), "filename": "<file>", "split", "sentences": [{"raw"}, ...]}, ...]}'
)


@dataclass(frozen=True)
class KarpathySplit:
    """The files and folders of one of Karpathy's test splits."""

    file: str  # in BLIP's form, preferred where both exist
    original: str  # in Karpathy's own form
    images: str  # the folder of its images
    folder: str  # the one in it of images without a folder in Karpathy's own form

    def read(self, files: SuiteFiles) -> Suite:
        """Read the suite.

        Raises:
            DataError: there is neither file, it is not as published, or an image is repeated.
        """
        return files.suite({"": files.pool(self.captions(files))})

    def captions(self, files: SuiteFiles) -> list[tuple[str, list[str]]]:
        """Return the path of each image and its captions, in the order of the file.

        Raises:
            DataError: there is neither file, it is not as published, or an image is repeated.
        """
        in_original = files.path(self.original).exists() and not files.path(self.file).exists()
        return self._read_original(files) if in_original else self._read_blip(files)

    def _read_blip(self, files: SuiteFiles) -> list[tuple[str, list[str]]]:
        images = files.items(self.file)
        check_distinct(images, "image")
        return [(image.path("image", self.images), image.texts("caption")) for image in images]

    def _read_original(self, files: SuiteFiles) -> list[tuple[str, list[str]]]:
        path = files.path(self.original)
        images = items(read_object(path, files.layout).get("images", list), path, "images")
        test_images = require_items([image for image in images if image.text("split") == "test"], path, "split 'test'")
        check_distinct(test_images, "filename")
        return [(image.path("filename", self._folder(image)), _sentences(image)) for image in test_images]

    def _folder(self, image: AnnotationItem) -> str:
        return image.path("filepath", self.images) if "filepath" in image.fields else f"{self.images}/{self.folder}"


def _sentences(image: AnnotationItem) -> list[str]:
    return [sentence.text("raw") for sentence in items(image.get("sentences", list), image.file, image.name)]
