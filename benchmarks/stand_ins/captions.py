"""COCO's list of captions as NegCLIP's authors prepared it, with all that it needs, and suites of images and captions:
real captions and questions, drawn pictures, words told by a model that has learnt nothing.
"""

import csv
import io
import json
import tempfile
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from benchmarks.stand_ins.packing import pack
from benchmarks.stand_ins.pictures import Pictures
from recompose.files import write_text
from recompose.tracks.vlc.data.formats import coco, sugarcrepe
from recompose.tracks.vlc.data.negclip_list import LIST
from recompose.tracks.vlc.data.suite import files
from recompose.tracks.vlc.suites.catalogue import read_suite
from tests.tracks.vlc.data.published import contents, lexicon_files, save_model

ROWS = 110_000  # captions of the published list, about
SETS = {"train2014": 82_783, "val2014": 40_504}  # COCO's images
SIZE = (640, 480)
COUNTED = "recompose.tracks.vlc.data.acquire:ITEMS"
WHEEL, MODEL = "en_core_web_sm-3.8.0-py3-none-any.whl", "en_core_web_sm/en_core_web_sm-3.8.0"
LEXICON = "WNdb-3.0.tar.gz"
WORDS = {  # told by their letters alone: part of speech -> tag and words
    "NOUN": ("NN", "man woman person people dog cat table street train bus room plate food water field beach"),
    "ADJ": ("JJ", "large small white black red green blue young old two brown little wooden yellow"),
    "VERB": ("VBG", "sitting standing holding riding walking eating playing looking wearing flying"),
    "ADP": ("IN", "on in of with at near by under over"),
    "DET": ("DT", "a an the"),
}


def write(real: Path, share: float, archives: Path) -> dict[str, dict[str, int]]:
    """Write the archives of the corpus and the folder of suites where they are not there yet; return the counts of the
    suites' items, under the place of the constant that the published ones stand in.
    """
    folder, pictures = real / "vlc", Pictures(*SIZE)
    images = {name: _images(name, max(round(share * count), 1)) for name, count in SETS.items()}
    for name, names in images.items():
        pack(archives / f"{name}.zip", ((each, pictures.named(each)) for each in names))
    shown = [name for names in images.values() for name in names]
    if not (archives / LIST).exists():
        write_text(archives / LIST, _list(_captions(folder), shown, max(round(share * ROWS), 1)))
    pack(archives / WHEEL, ((f"{MODEL}/{name}", content) for name, content in _model().items()))
    pack(archives / LEXICON, ((f"dict/{name}", content) for name, content in lexicon_files().items()))
    return {COUNTED: _write_suites(folder, share, archives.parent / "vlc", pictures)}


# the corpus


def _images(name: str, count: int) -> list[str]:
    """The members of one of COCO's archives."""
    return [f"{name}/COCO_{name}_{number:012}.jpg" for number in range(1, count + 1)]


def _captions(folder: Path) -> list[str]:
    listed = json.loads((folder / "retrieval" / coco.FILE).read_text(encoding="utf-8"))
    return [caption for image in listed for caption in image["caption"] if caption.strip()]


def _list(captions: list[str], images: list[str], rows: int) -> str:
    """The table with tabs, as pandas writes it."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t", lineterminator="\n")
    writer.writerow(["", "title", "filepath", "neg_caption", "neg_image"])
    for number, (caption, image) in enumerate(islice(zip(cycle(captions), cycle(images), strict=False), rows)):
        writer.writerow([number, caption, f"coco/{image}", "[]", "[]"])
    return text.getvalue()


def _model() -> dict[str, bytes]:
    """The files of a spaCy pipeline of the published one's parts; it knows the words above, and guesses others."""
    with tempfile.TemporaryDirectory() as name:
        model = save_model(Path(name))
        ruler: Any = model.get_pipe("attribute_ruler")
        for part, (tag, words) in WORDS.items():
            ruler.add([[{"LOWER": word}] for word in words.split()], {"POS": part, "TAG": tag})
        model.to_disk(name)
        return contents(Path(name))


# suites


def _write_suites(real: Path, share: float, root: Path, pictures: Pictures) -> dict[str, int]:
    """Write annotation files and pictures of suites below a root; gives how many items count."""
    counts: dict[str, int] = {}
    for name, parts in _PARTS.items():
        for file, text, items in parts(real, share):
            write_text(root / name / file, text)
            counts |= items
    for name in _PARTS:
        for path in files([read_suite(name, root)]):
            place = root / path
            if not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(pictures.named(path))
    return counts


Part = tuple[str, str, dict[str, int]]  # an annotation file, its text, and sub-task -> items


def _some(count: int, share: float) -> int:
    return max(round(share * count), 1)


def _of_coco(real: Path, share: float) -> Iterator[Part]:
    listed = json.loads((real / "retrieval" / coco.FILE).read_text(encoding="utf-8"))
    yield coco.FILE, json.dumps(listed[: _some(len(listed), share)]), {}


def _of_sugarcrepe(real: Path, share: float) -> Iterator[Part]:
    for name in sugarcrepe.SETS:
        items = json.loads((real / "sugarcrepe" / f"{name}.json").read_text(encoding="utf-8"))
        first = dict(islice(items.items(), _some(len(items), share)))
        yield f"{name}.json", json.dumps(first), {f"sugarcrepe/{name}": len(first)}


_PARTS = {"coco": _of_coco, "sugarcrepe": _of_sugarcrepe}
