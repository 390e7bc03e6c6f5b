"""Files of a hub, from a stand-in on the loopback: cache, token, other endpoint, offline mode."""

import hashlib
from pathlib import Path

import pytest
from huggingface_hub import constants

from recompose.data.upstream import Expected, download
from recompose.errors import DownloadError
from tests.data.mirror import CONTENT, OF_A_HUB, Mirror
from tests.errors import raises

PAGE = "https://huggingface.co/datasets/somebody/something"
URL = f"{PAGE}/resolve/main/data/file.bin"


@pytest.fixture
def hub(mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mirror:
    """A stand-in of the hub; the library reads HF_ENDPOINT and its kin when it is imported."""
    mirror.headers = dict(OF_A_HUB)
    monkeypatch.setattr(constants, "ENDPOINT", mirror.address)
    monkeypatch.setattr(
        constants, "HUGGINGFACE_CO_URL_TEMPLATE", mirror.address + "/{repo_id}/resolve/{revision}/{filename}"
    )
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda seconds: None)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    return mirror


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "data" / "mine.bin"


def test_a_file_comes_once_and_then_from_the_cache(hub: Mirror, target: Path, tmp_path: Path) -> None:
    download([URL], target, Expected(hashlib.sha256(CONTENT).hexdigest()))
    assert target.read_bytes() == CONTENT
    assert hub.paths == ["/datasets/somebody/something/resolve/main/data/file.bin"] * 2
    target.unlink()
    download([URL], target)
    assert target.read_bytes() == CONTENT
    assert len(hub.paths) == 3  # the last one asks for the version
    (blob,) = (tmp_path / "cache").rglob("blobs/one")
    assert target.samefile(blob)


def test_a_gated_file_without_a_token_names_the_page_and_the_variable(hub: Mirror, target: Path) -> None:
    hub.headers["X-Error-Code"] = "GatedRepo"
    hub.statuses = [401] * 9
    with raises(DownloadError, "no-delivery", target) as caught:
        download([URL], target)
    (line,) = str(caught.value).splitlines()
    assert "gated" in line and f"{PAGE}," in line and "HF_TOKEN" in line
