"""Shards of images with their captions, as img2dataset writes them."""

from pathlib import Path

import pytest

from recompose.data.archives import extract
from recompose.errors import DataError
from recompose.tracks.vlc.data.caption_list import LAYOUT, annotation_files, arrange, read
from tests.errors import raises
from tests.tracks.vlc.data.published import pack


def shard(*keys: str) -> dict[str, bytes]:
    """Files of a shard: an image, what the web said of it, and facts that nobody needs."""
    return {
        f"{key}{suffix}": content
        for key in keys
        for suffix, content in ((".jpg", b"JPEG"), (".txt", f"web {key}".encode()), (".json", b"{}"))
    }


def unpacked(folder: Path, *archives: tuple[str, dict[str, bytes]]) -> Path:
    for number, (name, files) in enumerate(archives):
        extract(pack(folder.with_name("archives") / name, files), folder / str(number))
    return folder


def arranged(folder: Path, *archives: tuple[str, dict[str, bytes]]) -> Path:
    root = folder / "root"
    root.mkdir()
    arrange(unpacked(folder / "unpacked", *archives), root)
    return root


def test_shards_as_laion_coco_is_published(tmp_path: Path) -> None:
    root = arranged(tmp_path, ("00000.tar", shard("000001", "000000")), ("00001.tar", shard("000100")))
    one = read(root)
    assert one.paths == ("images/00000/000000.jpg", "images/00000/000001.jpg", "images/00001/000100.jpg")
    assert one.captions == ("web 000000", "web 000001", "web 000100")
    assert annotation_files(root) == [f"captions/{key}.txt" for key in ("000000", "000001", "000100")]


def test_captions_of_coca_stand_for_those_of_the_web(tmp_path: Path) -> None:
    coca = {"coca_captions/000000.txt": b"a dog .\nmore", "coca_captions/000001.txt": b"a cat"}
    root = arranged(tmp_path, ("00000.tar", shard("000000", "000001")), ("coca_captions.tar.gz", coca))
    assert read(root).captions == ("a dog .\n", "a cat")  # the first line, with its end


def test_a_caption_of_the_web_does_not_stand_in_for_one_of_coca(tmp_path: Path) -> None:
    root = arranged(tmp_path, ("0.tar", shard("0", "1")), ("coca.tgz", {"coca_captions/0.txt": b"a dog"}))
    with raises(DataError, "missing-file", root / "captions/1.txt") as caught:
        read(root)
    assert str(root / "images/00000/1.jpg") in str(caught.value)


@pytest.mark.parametrize(("content", "code"), [(b"\xff", "no-utf-8"), (b" \n", "empty-text")])
def test_captions_that_are_none(tmp_path: Path, content: bytes, code: str) -> None:
    root = arranged(tmp_path, ("0.tar", shard("0")))
    (root / "captions/0.txt").write_bytes(content)
    with raises(DataError, code, root / "captions/0.txt") as caught:
        read(root)
    assert "\n" not in str(caught.value)


def test_what_macos_adds_is_neither_image_nor_caption(tmp_path: Path) -> None:
    root = arranged(tmp_path, ("0.tar", shard("0")))
    (root / "images/00000/._0.jpg").touch()
    (root / "captions/._0.txt").touch()
    assert read(root).paths == ("images/00000/0.jpg",)
    assert annotation_files(root) == ["captions/0.txt"]


def test_nothing_there(tmp_path: Path) -> None:
    with raises(DataError, "missing-file", tmp_path / "captions") as caught:
        read(tmp_path)
    assert LAYOUT in str(caught.value)
    (tmp_path / "captions").mkdir()
    with raises(DataError, "missing-image", tmp_path / "images"):
        read(tmp_path)


def test_two_corpora_are_not_mixed(tmp_path: Path) -> None:
    with raises(DataError, "duplicate-name", "captions/0.txt"):
        arranged(tmp_path, ("00000.tar", shard("0")), ("00001.tar", shard("0")))
    folder = unpacked(
        tmp_path / "more", ("1.tgz", {"coca_captions/0.txt": b""}), ("2.tgz", {"coca_captions/0.txt": b""})
    )
    with raises(DataError, "not-one-folder", "coca_captions"):
        arrange(folder, tmp_path)
