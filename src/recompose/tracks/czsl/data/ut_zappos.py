"""UT-Zappos: shoes by material and kind (Yu and Grauman, 2014), in the natural compositional split."""

from pathlib import Path

from recompose.data.paths import files_below, find_folder, is_inside, spelling
from recompose.errors import DataError
from recompose.tracks.czsl.data.compositional import METADATA, SPLIT_NAME, move_split, read, read_metadata, record_error

__all__ = ["arrange", "read"]


def arrange(unpacked: Path, root: Path) -> None:
    """Move the unpacked archives into the common layout; the metadata's ``_image`` is an image's path upstream."""
    move_split(unpacked, f"ut-zap50k/{SPLIT_NAME}", root)
    upstream = find_folder(unpacked, "ut-zap50k-images")
    files = {spelling(path.relative_to(upstream).as_posix()): path for path in files_below(upstream)}
    metadata = root / METADATA
    for number, record in enumerate(read_metadata(metadata)):
        source, target = record.get("_image", ""), record["image"]
        if not (is_inside(source) and is_inside(target)):
            fault = f"{source!r}, its _image upstream, or {target!r} leads to no file of its folder"
            raise record_error("outside-path", metadata, number, fault)
        file = upstream / source if (upstream / source).is_file() else files.get(spelling(source))
        if file is None:
            message = f"{upstream} lacks {source}, which {metadata} names in record {number}"
            raise DataError(message, code="missing-image", place=upstream / source)
        place = root / "images" / target
        place.parent.mkdir(parents=True, exist_ok=True)
        place.hardlink_to(file)  # two records may have the same upstream image
