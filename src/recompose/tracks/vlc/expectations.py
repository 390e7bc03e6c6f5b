"""Expectations of tuning on captions that hold on any data."""

from collections.abc import Iterator

from recompose.tables.expectations import Expectation, is_above
from recompose.tables.results import Results


def expectations(results: Results) -> Iterator[Expectation]:
    """Yield the expectation that fine-tuning raises the mean over suites of compositionality."""
    yield from is_above(results, "vlc", "test/comp", ["clip-ft"], "clip", "fine-tuning raises Comp")
