"""The choice of a stage against a plain one, which lists every part of every replicate and compares sets."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recompose.allocation.next_stage import LEAST, Budget, OpenComparison, first_stage, next_stage, too_dear
from recompose.inference.power import Question, predictive_probability
from recompose.inference.sequential import Looks
from recompose.params.allocation import Replicates, Stage

LOOKS = {"t": Looks((3, 6, 12)), "u": Looks((2, 4))}
COSTS = {
    "t": {
        "a": {"data": 2.0, "run a": 30.0, "score a": 1.0},
        "b": {"data": 2.0, "run b": 5.0, "score b": 1.0},
        "same": {"data": 2.0, "run a": 30.0, "score a": 1.0},  # a under another name
        "scored": {"data": 2.0, "run a": 30.0, "score again": 4.0},
        "c": {"data": 2.0, "run c": 100.0},
    },
    "u": {"d": {"data": 7.0, "run d": 3.0}, "e": {"data": 7.0, "run e": 8.0}},
}
BUDGET = Budget(COSTS)
counts = st.sampled_from(LOOKS["t"].sizes)


def pieces(replicates: Replicates) -> set[tuple[str, str, int]]:
    """Every part of every replicate, once."""
    return {
        (track, part, number)
        for track, of in replicates.items()
        for name, parts in COSTS[track].items()
        for part in parts
        for number in range(of.get(name, 1))
    }


def seconds(made: Iterable[tuple[str, str, int]]) -> float:
    price = {
        (track, part): cost for track, of in COSTS.items() for parts in of.values() for part, cost in parts.items()
    }
    return sum(price[track, part] for track, part, _ in made)


def stage(replicates: Replicates, core_seconds: float = 0.0) -> Stage:
    return Stage(replicates=replicates, core_seconds=core_seconds, hours=1.0)


def everything(size: int = 3) -> dict[str, dict[str, int]]:
    return {"t": dict.fromkeys(COSTS["t"], size), "u": dict.fromkeys(COSTS["u"], 2)}


def comparison(
    name: str, *methods: str, difference: float = 1.0, spread: float = 1.0, track: str = "t"
) -> OpenComparison:
    return OpenComparison(name, track, methods, difference, Question(spread, 0.1, 0.01, 0.01), LOOKS[track].sizes[0])


def chance(of: OpenComparison, size: int) -> float:
    """The probability of a decision at a later look, by the definition of its share."""
    if size <= of.seen:
        return 0.0
    looks = LOOKS[of.track]
    share, plain = dict(zip(looks.sizes, looks.shares, strict=True))[size], of.question
    question = Question(plain.spread, plain.margin, plain.level * share, plain.margin_level * share, plain.is_kept)
    return predictive_probability(question, of.difference, of.seen, size)


def chosen_plainly(comparisons: Sequence[OpenComparison], before: Replicates, left: float) -> Replicates:
    """The greedy choice, on sets of pieces."""

    def raised(of: OpenComparison, size: int, replicates: Replicates) -> Replicates:
        more = {name: max(size, count) if name in of.methods else count for name, count in replicates[of.track].items()}
        return {**replicates, of.track: more}

    def next_looks(of: OpenComparison) -> list[int]:
        return [size for size in LOOKS[of.track].sizes if any(before[of.track][name] < size for name in of.methods)]

    replicates, tried = before, set()
    while True:
        best: tuple[float, str, OpenComparison] | None = None
        for of in comparisons:
            sizes = next_looks(of)
            if of.name in tried or not sizes or chance(of, LOOKS[of.track].sizes[-1]) < LEAST:
                continue
            if pieces(raised(of, sizes[0], replicates)) == pieces(replicates):
                continue
            ratios = []
            for size in sizes:
                cost = seconds(pieces(raised(of, size, replicates)) - pieces(replicates))
                ratios.append(chance(of, size) / cost if cost else inf)
            rank = float(f"{max(ratios):.9g}"), of.name, of
            best = rank if best is None or rank[:2] > best[:2] else best
        if best is None:
            return replicates
        tried.add(best[1])
        candidate = raised(best[2], next_looks(best[2])[0], replicates)
        if seconds(pieces(candidate) - pieces(before)) <= left:
            replicates = candidate


@pytest.mark.slow
@given(of_t=st.dictionaries(st.sampled_from([*COSTS["t"]]), counts), of_u=st.dictionaries(st.just("d"), st.just(4)))
def test_what_several_share_costs_once(of_t: dict[str, int], of_u: dict[str, int]) -> None:
    replicates = {"t": of_t, "u": of_u}
    assert BUDGET.core_seconds(replicates) == pytest.approx(seconds(pieces(replicates)))


def test_one_run_under_two_names_costs_nothing_more() -> None:
    both, one = everything() | {"t": dict.fromkeys(["a", "same"], 6)}, everything() | {"t": {"a": 6}}
    assert BUDGET.core_seconds(both) == BUDGET.core_seconds(one)


drawn = st.builds(
    lambda number, methods, difference, spread: comparison(
        f"c{number}", *methods, difference=difference, spread=spread, track="u" if "d" in methods else "t"
    ),
    st.integers(0, 99),
    st.one_of(
        st.lists(st.sampled_from([*COSTS["t"]]), min_size=1, max_size=4, unique=True),
        st.permutations([*COSTS["u"]]),
    ),
    st.floats(-3, 3),
    st.floats(0.2, 3),
)


@pytest.mark.slow
@settings(max_examples=40)
@given(
    comparisons=st.lists(drawn, max_size=6, unique_by=lambda of: of.name),
    before=st.fixed_dictionaries(dict.fromkeys(COSTS["t"], counts)),
    left=st.floats(0, 3_000),
)
def test_the_choice_is_the_greedy_one_and_within_the_hours(
    comparisons: list[OpenComparison], before: dict[str, int], left: float
) -> None:
    replicates = {"t": before, "u": {"d": 2, "e": 2}}
    spent = seconds(pieces(replicates))
    hours = (spent + left) / 3600
    result = next_stage(comparisons, LOOKS, BUDGET, [stage(replicates, spent)], hours)
    plain = chosen_plainly(comparisons, replicates, left)
    if pieces(plain) == pieces(replicates):
        assert result is None or pieces(result.replicates) == pieces(replicates)
        return
    assert result is not None
    assert pieces(result.replicates) == pieces(plain)
    assert result.core_seconds == pytest.approx(seconds(pieces(plain) - pieces(replicates)), abs=0.01)
    assert spent + result.core_seconds <= 3600 * hours + 1e-6
    assert next_stage(comparisons[::-1], LOOKS, BUDGET, [stage(replicates, spent)], hours) == result


def test_the_first_stage_is_the_first_look_of_all_and_costs_what_they_make() -> None:
    first = first_stage({"t": {"b", "a"}, "u": ["d"]}, LOOKS, BUDGET, 2.0)
    assert first.replicates == {"t": {"a": 3, "b": 3}, "u": {"d": 2}}
    assert first.core_seconds == pytest.approx(seconds(pieces(first.replicates)))
    assert (first.hours, first.seen, first.too_dear) == (2.0, [], [])


def test_a_comparison_moves_by_one_look_and_others_of_its_methods_come_along() -> None:
    result = next_stage([comparison("one", "a", "b")], LOOKS, BUDGET, [stage(everything())], 100)
    assert result is not None
    assert result.replicates == everything() | {"t": everything()["t"] | {"a": 6, "b": 6}}


def test_what_has_had_its_last_look_or_is_too_dear_gets_nothing() -> None:
    hopeless, last = (
        comparison("hopeless", "a", "c", difference=0.05),
        comparison("last", "d", "e", difference=9.0, track="u"),
    )
    start = everything() | {"u": {"d": 4, "e": 4}}
    last = replace(last, seen=4)  # its last look is over
    assert chance(hopeless, 12) < LEAST
    assert too_dear([hopeless, last], LOOKS) == ["hopeless", "last"]
    assert next_stage([hopeless, last], LOOKS, BUDGET, [stage(start)], 100) is None
    result = next_stage([hopeless, last, comparison("b", "b")], LOOKS, BUDGET, [stage(start)], 100)
    assert result is not None
    assert result.too_dear == ["hopeless", "last"]
    assert result.replicates == start | {"t": everything()["t"] | {"b": 6}}


def test_of_two_that_are_equally_likely_the_cheaper_one_is_paid_first() -> None:
    both = [comparison("x", "c"), comparison("y", "b")]
    enough = 3 * (5 + 1 + 2)  # three more replicates of b with their data
    for left, raised in (
        (enough - 1, None),
        (enough, {"b": 6}),
        (enough + 299, {"b": 6}),
        (enough + 300, {"b": 6, "c": 6}),
    ):
        result = next_stage(both, LOOKS, BUDGET, [stage(everything())], left / 3600)
        assert (result and result.replicates) == (raised and everything() | {"t": everything()["t"] | raised})


def test_hours_count_from_the_beginning() -> None:
    stages = [stage(everything(), 3000.0), stage(everything(), 595.0)]
    assert next_stage([comparison("y", "b")], LOOKS, BUDGET, stages, 1.0) is None
    assert next_stage([comparison("y", "b")], LOOKS, BUDGET, stages, 1.01) is not None


def test_a_look_without_a_share_decides_nothing() -> None:
    assert comparison("x", "a").probability(Looks((2, 1000)), 2) == 0.0


@pytest.mark.parametrize("costs", [{}, {"t": {}}])
def test_what_costs_nothing_comes_first_even_without_time(
    costs: Mapping[str, Mapping[str, Mapping[str, float]]],
) -> None:
    result = next_stage([comparison("x", "a")], LOOKS, Budget(costs), [stage(everything())], 0)
    assert result is not None
    assert result.core_seconds == 0
