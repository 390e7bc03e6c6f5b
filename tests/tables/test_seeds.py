"""The seeds in which methods are compared."""

from recompose.plan import Recipe
from recompose.tables.rows import shared_replicates


def planned(*seeds: int, worlds: bool = True, trains: bool = True) -> list[Recipe]:
    """The evaluations of a method with these seeds, of which each may draw a world."""
    run = {"run": Recipe("runs", "m", {})} if trains else {}
    return [
        Recipe("evaluations", "m", {}, {"data": data_of(seed if worlds else 0), **run}, labels={"seed": seed})
        for seed in seeds
    ]


def data_of(world: int) -> Recipe:
    return Recipe("data", "d", {"world": world})


def shared(*compared: list[Recipe]) -> list[list[int]]:
    by_method = shared_replicates({str(number): each for number, each in enumerate(compared)})
    return [[each.labels["seed"] for each in evaluations] for evaluations in by_method.values()]


def test_methods_are_compared_in_the_worlds_that_all_have() -> None:
    assert shared(planned(0, 1, 2), planned(1, 2, 3), planned(2, 1)) == [[1, 2], [1, 2], [2, 1]]
    assert shared(planned(0, 1, 2), planned(0)) == [[0], [0]]
    assert shared(planned(0, 1, 2)) == [[0, 1, 2]]
    assert shared() == []


def test_what_trains_nothing_and_was_evaluated_once_restricts_no_other() -> None:
    assert shared(planned(0, 1, 2), planned(1, 2), planned(1, trains=False)) == [[1, 2], [1, 2], [1]]
    assert shared(planned(0, 1, 2), planned(1, 2), planned(0, trains=False)) == [[1, 2], [1, 2], [0]]
    assert shared(planned(0, 1, 2), planned(0, 1, trains=False)) == [[0, 1], [0, 1]]
    assert shared(planned(0, trains=False)) == [[0]]


def test_where_they_share_none_all_stay() -> None:
    assert shared(planned(0, 1), planned(2)) == [[0, 1], [2]]


def test_where_all_seeds_are_of_the_same_data_none_is_given_up() -> None:
    several, one = planned(0, 1, 2, worlds=False), planned(0, worlds=False)
    assert shared(several, one) == [[0, 1, 2], [0]]
