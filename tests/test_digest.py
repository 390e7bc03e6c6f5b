"""Digests of documents and files."""

import hashlib
import math
from pathlib import Path

import pytest

from recompose.digest import digest, sha256_files


def test_the_order_of_keys_does_not_count_and_that_of_lists_does() -> None:
    assert digest({"a": 1, "b": [1, 2]}) == digest({"b": [1, 2], "a": 1})
    assert digest([1, 2]) != digest([2, 1])


@pytest.mark.parametrize("value", [math.nan, math.inf, {1, 2}, Path("x")])
def test_what_json_cannot_say_is_refused(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        digest({"value": value})


def test_digests_of_many_files_are_in_their_order(tmp_path: Path) -> None:
    paths = [tmp_path / str(number) for number in range(40)]
    for number, path in enumerate(paths):
        path.write_bytes(bytes([number]) * (40 - number) * 5_000)
    assert sha256_files(paths[::-1]) == [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths[::-1]]
    with pytest.raises(FileNotFoundError):
        sha256_files([*paths, tmp_path / "none"])
