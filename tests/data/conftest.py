"""Servers for tests of downloads, which neither wait nor ask a proxy."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from tests.data.mirror import Mirror


@pytest.fixture
def start_mirror() -> Iterator[Callable[[], Mirror]]:
    mirrors: list[Mirror] = []

    def start() -> Mirror:
        mirrors.append(Mirror())
        return mirrors[-1]

    yield start
    for mirror in mirrors:
        mirror.close()


@pytest.fixture
def mirror(start_mirror: Callable[[], Mirror]) -> Mirror:
    return start_mirror()


@pytest.fixture
def second(start_mirror: Callable[[], Mirror]) -> Mirror:
    return start_mirror()


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that pooch would have waited between its attempts."""
    waited: list[float] = []
    monkeypatch.setattr("pooch.core.time", SimpleNamespace(sleep=waited.append))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return waited
