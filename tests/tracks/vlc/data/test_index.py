"""What an index holds: suites of every kind as they were written, and the pictures of an index, each once."""

from pathlib import Path

import numpy as np
import pytest

from recompose.data.pictures import Picture
from recompose.tracks.vlc.data.captions import Captions
from recompose.tracks.vlc.data.index import pictures, read_suites, size, write_suites
from recompose.tracks.vlc.data.suite import Suite
from tests.tracks.vlc.tiny_suites import tiny_suites


@pytest.fixture
def suites() -> list[Suite]:
    return sorted(tiny_suites(), key=lambda suite: suite.name)  # as they lie in a folder


def test_suites_are_read_as_they_were_written(suites: list[Suite], tmp_path: Path) -> None:
    write_suites(suites[::-1], tmp_path)
    for found, suite in zip(read_suites(tmp_path), suites, strict=True):
        assert (found.name, found.images, found.texts) == (suite.name, suite.images, suite.texts)
        assert list(found.tasks) == list(suite.tasks)
        for name, task in suite.tasks.items():
            assert type(found.tasks[name]) is type(task)
            for field, value in vars(task).items():
                read = getattr(found.tasks[name], field)
                assert type(read) is type(value)
                if isinstance(value, np.ndarray):
                    np.testing.assert_array_equal(read, value)
                else:
                    assert read == value


def test_the_pictures_of_suites_are_theirs_each_once(suites: list[Suite], tmp_path: Path) -> None:
    write_suites(suites, tmp_path)
    expected: list[Picture] = []
    for suite in suites:
        expected += [picture for picture in suite.images if picture not in expected]
    assert pictures(tmp_path) == expected
    assert len(expected) == 8 + 3 + 8  # whole, cropped or of an array, and squeezed
    assert size(tmp_path) == {"test": len(expected)}


def test_the_pictures_of_a_corpus_are_those_of_its_rows_each_once(tmp_path: Path) -> None:
    Captions(("b.png", "a.png", "b.png"), ("a dog", "a cat", "two dogs")).write(tmp_path)
    assert pictures(tmp_path) == [Picture("b.png"), Picture("a.png")]
    assert read_suites(tmp_path) == []
    assert size(tmp_path) == {"train": 2}


@pytest.mark.parametrize("content", [None, "not JSON", '{"paths": []}'])
def test_an_index_that_is_not_there_yet_or_is_another_has_no_size(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "captions.json").write_text(content)
    assert size(tmp_path) == {}
