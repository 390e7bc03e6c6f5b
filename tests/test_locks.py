"""Locks: one writer of a folder, and one maker of what several processes need."""

from pathlib import Path
from threading import Event, Thread

import pytest

from recompose.errors import BusyError
from recompose.recipes.locks import make_once, sole_writer
from tests.errors import raises


def test_a_folder_has_one_writer_at_a_time_and_one_that_failed_holds_nothing(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), sole_writer(tmp_path / "out"):
        with raises(BusyError, "busy", tmp_path / "out") as caught, sole_writer(tmp_path / "out"):
            pytest.fail("two writers")
        assert "\n" not in str(caught.value)
        with sole_writer(tmp_path / "other"):
            raise ZeroDivisionError
    for folder in ("out", "other"):
        with sole_writer(tmp_path / folder):
            pass


def test_of_two_that_need_a_folder_one_makes_it_and_the_other_finds_it_whole(tmp_path: Path) -> None:
    began, makers, found = Event(), list[str](), list[str]()

    def call(name: str) -> None:
        def make() -> None:
            makers.append(name)
            folder = tmp_path / "sets" / "pairs"
            folder.mkdir(parents=True)
            began.set()
            folder.joinpath("half").touch()
            late.join(0.2)  # the other one would be through, if it did not wait
            folder.joinpath("whole").touch()

        make_once(tmp_path, tmp_path / "sets" / "pairs" / "whole", make)
        found.append("whole" if (tmp_path / "sets" / "pairs" / "whole").exists() else "half")

    late = Thread(target=lambda: began.wait(5) and call("late"))
    early = Thread(target=call, args=("early",))
    for thread in (late, early):
        thread.start()
    for thread in (early, late):
        thread.join()
    assert makers == ["early"] and found == ["whole", "whole"]


def test_what_exists_is_found_without_a_lock_as_in_a_read_only_folder(tmp_path: Path) -> None:
    (tmp_path / "pairs").mkdir()
    make_once(tmp_path, tmp_path / "pairs", lambda: pytest.fail("made again"))
    assert [path.name for path in tmp_path.iterdir()] == ["pairs"]
