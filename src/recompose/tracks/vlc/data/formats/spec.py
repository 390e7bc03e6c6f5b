"""SPEC: generated images that differ in one thing, and captions that distinguish them (Peng et al., 2024).

Read like ``spec/dataset.py`` of wjpoom/SPEC at ad982a4: items have a ``query``, candidates ``keys`` in the order of the
file, and ``label``, the position of the right one. In ``image2text.json`` the query is an image, in
``text2image.json`` the keys are.
"""

from recompose.tracks.vlc.data.formats.reading import AnnotationItem, Question
from recompose.tracks.vlc.data.formats.sources import archive
from recompose.tracks.vlc.data.formats.suite_files import Suite, SuiteFiles
from recompose.tracks.vlc.suites.subtasks import macro, subtasks, suite
from recompose.tracks.vlc.suites.tasks import WAYS, Task

SUBSETS = ("absolute_size", "relative_size", "absolute_spatial", "relative_spatial", "existence", "count")
SUBTASKS = tuple(  # argmax, with the true candidate anywhere
    task for way in WAYS for task in subtasks("spec", {f"{way}/{name}": None for name in SUBSETS}, way, "first")
)
MEANS = (suite(macro("spec", *(macro(way, *(f"{way}/{subset}" for subset in SUBSETS)) for way in WAYS))),)
LICENCE = "unknown"  # of annotations, as its repository or its paper states
STATE = "published"
LAYOUT = f"""\
<suite>/<subset>/image2text.json, <suite>/<subset>/text2image.json, subsets {", ".join(SUBSETS)}: data.zip of \
huggingface.co/datasets/wjpoom/SPEC
images/<suite>/<subset>/...: the images there"""

SOURCES = (
    archive(
        "spec",
        "https://huggingface.co/datasets/wjpoom/SPEC/resolve/main/data.zip",
        {
            rf"((?:{'|'.join(SUBSETS)})/(?:image2text|text2image)\.json)": "spec",
            rf"((?:{'|'.join(SUBSETS)})/.+\.(?:jpg|jpeg|png))": "images/spec",  # beside the annotations there
        },
    ),
)


def read(files: SuiteFiles) -> Suite:
    """Read the suite.

    Raises:
        DataError: a file is absent or not as published.
    """
    tasks: dict[str, Task] = {}
    for subset in SUBSETS:
        images = f"{files.images}/{subset}"
        of_images = [_image_query(item, images) for item in files.items(f"{subset}/image2text.json")]
        of_texts = [_text_query(item, images) for item in files.items(f"{subset}/text2image.json")]
        tasks |= {f"i2t/{subset}": files.choices("i2t", of_images), f"t2i/{subset}": files.choices("t2i", of_texts)}
    return files.suite(tasks)


def _image_query(item: AnnotationItem, images: str) -> Question:
    captions = item.texts("keys")
    return item.path("query", images), captions, item.whole("label", len(captions))


def _text_query(item: AnnotationItem, images: str) -> Question:
    paths = [item.image_path(images, name) for name in item.texts("keys")]
    return item.text("query"), paths, item.whole("label", len(paths))
