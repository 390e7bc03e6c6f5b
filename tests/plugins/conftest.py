"""What tests of plugins share: a process without a trace of the plugins of other tests."""

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def no_trace() -> Iterator[None]:
    """Leave no package of a plugin."""
    path, modules = [*sys.path], {*sys.modules}
    yield
    sys.path[:] = path
    for name in {*sys.modules} - modules:
        if name.startswith("my_"):
            del sys.modules[name]
