"""The check of errors by what does not change when they are reworded."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from recompose.errors import RecomposeError


@contextmanager
def raises(
    error: type[RecomposeError], code: str | None = None, place: object = None
) -> Iterator[pytest.ExceptionInfo[RecomposeError]]:
    """Expect an error with this code, and with this text in its place."""
    with pytest.raises(error) as caught:
        yield caught
    if code is not None:
        assert caught.value.code == code, caught.value
    if place is not None:
        assert str(place) in (caught.value.place or ""), caught.value
