"""Rows of parquet files, the form in which data sets of captions with their images are published today."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from recompose.data.foreign_files import reason_of
from recompose.errors import DataError
from recompose.tracks.vlc.data.formats.reading import AnnotationItem, fault

_ROWS = 16  # that are in memory at a time, with their images


def parquet_rows(path: Path, columns: Sequence[str]) -> Iterator[AnnotationItem]:
    """Yield the rows of a parquet file with these columns; those that it lacks are missing fields.

    Raises:
        DataError: pyarrow is not installed, or the file is damaged.
    """
    try:
        import pyarrow
        from pyarrow.parquet import ParquetFile
    except ModuleNotFoundError:
        message = f"{path} is read with pyarrow, which is not installed; `.venv/bin/uv pip install pyarrow` installs it"
        raise DataError(message, code="missing-package", place=path) from None
    try:
        with ParquetFile(path) as table:
            batches = table.iter_batches(batch_size=_ROWS, columns=list(columns))
            for number, row in enumerate((row for batch in batches for row in batch.to_pylist()), start=1):
                yield AnnotationItem(path, f"row {number}", row)
    except (pyarrow.ArrowException, OSError) as error:
        raise fault(path, "no-parquet", f"not parquet, or damaged ({reason_of(path, error)})") from None


def image_bytes(row: AnnotationItem, column: str) -> bytes:
    """Return the file of an image, which a column holds as a structure with its ``bytes``.

    Raises:
        DataError: the column holds something else.
    """
    content = row.part(column, dict).value("bytes")
    if not isinstance(content, bytes):
        raise row.field_fault(column, "wrong-kind", "holds no bytes of a file")
    return content
