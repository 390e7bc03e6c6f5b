"""What the benchmarks measure with: mutants."""

import pytest

from benchmarks.mutants import mutants
from benchmarks.mutation import ROOMS, SOURCES, TESTS


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
