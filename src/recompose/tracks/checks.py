"""Checks of a data set that hold in any format: its counts, as papers print them, and its images."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from recompose.errors import DataError


def check_counts(counts: Mapping[str, int], expected: Mapping[str, int] | None, root: Path) -> None:
    """Check those counts of a data set that are known.

    Raises:
        DataError: one is another, or is none of its counts.
    """
    wrong = [name for name, right in (expected or {}).items() if counts.get(name) != right]
    if expected and wrong:
        faults = "; ".join(f"{name}: {counts.get(name)} instead of {expected[name]}" for name in wrong)
        message = (
            f"{root} is not the data set it should be ({faults}). Is this another release, or another split of it? "
            "The counts are those of params.yaml."
        )
        raise DataError(message, code="wrong-counts", place=f"{root}: {', '.join(wrong)}")


def check_images(paths: Sequence[str], root: Path) -> None:
    """Check that images exist at these paths below a data set's folder.

    Raises:
        DataError: one is missing.
    """
    # os.path.isfile, because it never raises
    missing = [path for path in paths if not os.path.isfile(root / path)]  # noqa: PTH113
    if missing:
        message = f"{root} lacks {len(missing)} of {len(paths)} images, the first is {missing[0]}"
        raise DataError(message, code="missing-image", place=root / missing[0])
