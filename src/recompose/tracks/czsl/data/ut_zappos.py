"""UT-Zappos: shoes by material and kind (Yu and Grauman, 2014), in the natural compositional split."""

from pathlib import Path

from recompose.data.paths import files_below, find_folder, is_inside, spelling
from recompose.errors import DataError
from recompose.tracks.czsl.data import compositional
from recompose.tracks.czsl.data.layout import METADATA
from recompose.tracks.czsl.data.pairs import Statistics
from recompose.tracks.czsl.data.unpacked import move_split

# the row of the papers' table of data sets
STATISTICS = Statistics(16, 12, 83, 22998, 15, 15, 3214, 18, 18, 2914)


def arrange(unpacked: Path, root: Path) -> None:
    """Move the unpacked archives into the common layout; the metadata's ``_image`` is an image's path upstream."""
    move_split(unpacked, "ut-zap50k", root)
    upstream = find_folder(unpacked, "ut-zap50k-images")
    files = {spelling(path.relative_to(upstream).as_posix()): path for path in files_below(upstream)}
    metadata = root / METADATA
    for number, record in enumerate(compositional.read_metadata(metadata)):
        if not isinstance(record.get("_image"), str):
            raise compositional.record_error(
                "no-upstream-name", metadata, number, "_image, its place upstream, is missing"
            )
        source, target = record["_image"], record["image"]
        if not (is_inside(source) and is_inside(target)):
            fault = f"{source!r} or {target!r} leads out of its folder"
            raise compositional.record_error("outside-path", metadata, number, fault)
        file = upstream / source if (upstream / source).is_file() else files.get(spelling(source))
        if file is None:
            message = f"{upstream} lacks {source}, which {metadata} names in record {number}"
            raise DataError(message, code="missing-image", place=upstream / source)
        place = root / "images" / target
        place.parent.mkdir(parents=True, exist_ok=True)
        place.hardlink_to(file)  # two records may have the same upstream image


def read(root: Path) -> compositional.PairData:
    """Read and check the data set."""
    return compositional.read(root, STATISTICS)
