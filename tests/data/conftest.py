"""Servers for tests of downloads, which neither wait nor ask a proxy."""

from collections.abc import Callable, Iterator

import pytest

from recompose.data import download
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
def no_waiting_and_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "_RETRY_WAITS_S", (0.0, 0.0))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
