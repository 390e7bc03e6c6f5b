"""Arrays of many images: written in parts, ended at any image, gone on with, and read."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from recompose.backbones import arrays
from recompose.backbones.arrays import ArrayWriter, StoredArray
from recompose.errors import DataError
from recompose.files import SCRATCH
from tests.errors import raises

IMAGES, BLOCK = 23, 4
FILE = "array.npy"
VALUES = np.random.default_rng(0).normal(size=(IMAGES, 3, 2)).astype(np.float32)


class Ended(BaseException):
    """What ends a process at once."""


def write(folder: Path, stop: int = IMAGES, file: str = FILE, images: int = IMAGES) -> int:
    """Write images up to one at which the process is ended; gives where it had begun."""
    with ArrayWriter(folder / file, (images, 3, 2), "float16") as array:
        begun = array.done
        for start in range(begun, images, BLOCK):
            if start + BLOCK > stop and stop < images:
                raise Ended
            array.append(VALUES[start : min(start + BLOCK, images)])
    return begun


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.npy")}


@pytest.mark.parametrize("stop", [0, 9])
def test_whoever_is_ended_at_an_image_leaves_what_was_written_to_the_next(tmp_path: Path, stop: int) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    for folder in (whole, broken):
        folder.mkdir()
    write(whole)
    with pytest.raises(Ended):
        write(broken, stop)
    with (broken / FILE).open("ab") as file:
        file.write(b"\xff" * 17)  # of an image that was not noted
    assert write(broken) == stop // BLOCK * BLOCK
    assert content(broken) == content(whole)
    assert write(broken) == IMAGES  # ended behind its last image
    assert content(broken) == content(whole)


KILLED = """
import sys
from pathlib import Path
import numpy as np
from recompose.backbones import arrays
arrays.FLUSH_EVERY = 0
with arrays.ArrayWriter(Path(sys.argv[1], "array.npy"), (23, 3, 2), "float16") as array:
    for image in np.load(sys.argv[2])[array.done :]:
        array.append(image[np.newaxis])
        print(array.done, flush=True)
        if array.done == int(sys.argv[3]):
            sys.stdin.read()
"""


def test_a_process_that_is_killed_leaves_whole_images(tmp_path: Path) -> None:
    np.save(tmp_path / "values.npy", VALUES)
    folder = tmp_path / "folder"
    folder.mkdir()
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", KILLED, folder, tmp_path / "values.npy", "13"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        while process.stdout.readline() not in ("13\n", ""):
            pass
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert write(folder) in (12, 13)  # the last image may not have been noted
    np.testing.assert_array_equal(StoredArray(folder / FILE)[:], VALUES.astype(np.float16))


def test_images_are_noted_once_they_are_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def note(_: Path, document: dict[str, Any]) -> None:
        assert document["images"] == IMAGES
        np.testing.assert_array_equal(np.load(tmp_path / FILE), VALUES.astype(np.float16))

    monkeypatch.setattr(arrays, "write_json", note)
    write(tmp_path)


@pytest.mark.parametrize("damage", ["another array", "no note", "a shorter file"])
def test_what_is_not_whole_is_begun_anew(tmp_path: Path, damage: str) -> None:
    with pytest.raises(Ended):
        write(tmp_path, 12)
    path = tmp_path / FILE
    match damage:
        case "another array":
            with ArrayWriter(tmp_path / FILE, (IMAGES - 1, 3, 2), "float16") as array:
                assert array.done == 0
        case "no note":
            (tmp_path / SCRATCH / arrays.WRITTEN).write_text("{")
        case _:
            path.write_bytes(path.read_bytes()[:-1])
    assert write(tmp_path) == 0
    np.testing.assert_array_equal(StoredArray(path)[:], VALUES.astype(np.float16))


def test_what_is_there_needs_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def leave_free(images: float) -> None:
        usage = SimpleNamespace(free=int(images * 12))
        monkeypatch.setattr("recompose.files.shutil.disk_usage", lambda _: usage)

    with pytest.raises(Ended):
        write(tmp_path, 16)
    leave_free(7)
    write(tmp_path)
    leave_free(22.9)
    with pytest.raises(OSError):
        write(tmp_path, images=IMAGES, file="other.npy")


@pytest.mark.parametrize(("value", "row"), [(np.nan, 6), (1e6, 0)])
def test_what_16_bits_cannot_say_is_an_error_that_names_the_image(tmp_path: Path, value: float, row: int) -> None:
    values = VALUES.copy()
    values[row, 1, 1] = value
    with (
        raises(DataError, "not-finite", place=f"image {row}"),
        ArrayWriter(tmp_path / FILE, (IMAGES, 3, 2), "float16") as array,
    ):
        for start in range(0, IMAGES, BLOCK):
            array.append(values[start : start + BLOCK])
    assert write(tmp_path) == row // BLOCK * BLOCK


# reading


@pytest.fixture
def stack(tmp_path: Path) -> StoredArray:
    write(tmp_path)
    return StoredArray(tmp_path / FILE)


@pytest.mark.parametrize("images", [0, slice(3, 11), np.array([22, 0, 9, 9, 10, 4, 5]), np.array([[1, 8], [21, 3]])])
def test_indexing_gives_what_it_gives_of_an_array_in_memory(stack: StoredArray, images: object) -> None:
    expected = VALUES.astype(np.float16)[images]  # type: ignore[index]
    found = stack[images]
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(found, expected)
