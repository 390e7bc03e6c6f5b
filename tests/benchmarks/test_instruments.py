"""What the benchmarks measure with: mutants, a count of memory, and stand-ins of published data."""

import subprocess
import sys
from collections import Counter

import pytest
import torch

from benchmarks.memory import Living
from benchmarks.mutants import mutants
from benchmarks.mutation import ROOMS, SOURCES, TESTS
from benchmarks.stand_ins.sharing import kept
from tests.conftest import ROOT, environment


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("x < 1", {"x <= 1", "x < 2"}),
        ("a and b", {"a or b"}),
        ("a + -b", {"a - -b", "a + +b"}),
        ("not a", {"not not a"}),
        ("a if b else c", {"a if not b else c"}),
        ("[a for a in b if c]", {"[a for a in b if not c]"}),
        ("x = True", {"x = False"}),
        (
            "def f(a: int | None=None) -> int | None:\n    return a",
            {"def f(a: int | None=None) -> int | None:\n    return None"},
        ),
        ("x: int | None = y", set()),
        ("x = 'text'", set()),
        ("raise ValueError(f'{x + 1}')", set()),
    ],
)
def test_every_part_that_computes_is_changed_once(source: str, changed: set[str]) -> None:
    assert {mutant.source for mutant in mutants(source)} == changed


def test_every_room_has_sources_and_tests() -> None:
    for places in ROOMS.values():
        assert all((SOURCES / place).exists() for place in places)
        assert all((TESTS / name).exists() for names in places.values() for name in names)


@pytest.mark.slow
def test_the_measurement_tells_killed_from_all() -> None:
    command = [sys.executable, "-m", "benchmarks.mutation", "losses", "--sample", "1"]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=True)
    (row,) = (line for line in done.stdout.splitlines() if line.startswith("| losses |"))
    assert row.endswith("/ 1 |")


def test_bytes_are_counted_for_as_long_as_tensors_live() -> None:
    living = Living()
    with living:
        first = torch.zeros(1000, device="meta")  # 4,000 bytes
        view = first.view(10, 100).T
        doubled = view * 2
        assert living.now == 8000
        del doubled
        assert (living.now, living.peak) == (4000, 8000)
        del first
        assert living.now == 4000  # the view still needs it
        del view
    assert (living.now, living.peak) == (0, 8000)


def test_a_share_keeps_every_label_of_every_group() -> None:
    groups = ["train"] * 10 + ["test"] * 3
    labels = ["a"] * 8 + ["b", "c"] + ["a", "b", "c"]
    places = kept(groups, labels, 0.5)
    assert places == sorted(set(places))
    assert Counter(groups[place] for place in places) == {"train": 5, "test": 3}
    assert {(groups[place], labels[place]) for place in places} == set(zip(groups, labels, strict=True))
