"""What is left, and how a session corrects it."""

from datetime import UTC, datetime, timedelta

import pytest

from recompose.costs import CostEstimate
from recompose.monitor.remaining import ENOUGH, Forecast, RemainingJob, Span, session_start, wall_seconds
from recompose.plan import Recipe

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
NEW, KNOWN = Recipe("runs", "new", {}), Recipe("runs", "known", {})


def spans(*minutes: tuple[int, int]) -> list[Span]:
    return [Span(KNOWN, NOON + timedelta(minutes=a), 60 * (b - a), 1) for a, b in minutes]


@pytest.mark.parametrize(
    ("done", "running", "expected"),
    [
        ([], [], 0),
        ([(-20, -10)], [], 0),  # long over
        ([(-20, -1), (-21, -15)], [], -21),
        ([(-60, -50), (-20, -1)], [], -20),  # a pause of half an hour
        ([(-60, -50)], [-48], -60),  # the one that runs began two minutes after
        ([(-60, -50)], [-30], -30),
        ([(-90, -40), (-60, -50)], [-41], -90),  # side by side
    ],
)
def test_a_session_reaches_back_to_the_last_pause(
    done: list[tuple[int, int]], running: list[int], expected: int
) -> None:
    began = session_start(spans(*done), [NOON + timedelta(minutes=m) for m in running], NOON)
    assert began == NOON + timedelta(minutes=expected)


def left(seconds: float, threads: int = 1, gpus: int = 0, name: str = "", phase: str = "runs") -> RemainingJob:
    return RemainingJob(phase, name or f"{seconds}-{threads}-{id(object())}", seconds, threads, gpus)


def several(count: int, *of: float, **given: int) -> list[RemainingJob]:
    return [left(*of, name=str(number), **given) for number in range(count)]


@pytest.mark.parametrize(
    ("wanted", "seconds"),
    [
        ([], 0),
        (several(1, 10), 10),
        (several(2, 10), 10),
        ([left(10, name="a"), left(2, name="b"), left(3, name="c")], 10),
        (several(4, 10), 20),
        (several(2, 10, threads=2), 20),
        (several(1, 10, threads=8), 10),  # it gets the cores that there are
        (several(2, 10, gpus=1), 20),
        ([left(10, name="a"), left(10, name="a")], 20),  # one process
        ([left(10, name="a", phase="backbones"), left(10, name="b")], 20),  # one after the other
    ],
)
def test_work_goes_side_by_side_as_far_as_cores_and_the_gpu_allow(wanted: list[RemainingJob], seconds: float) -> None:
    assert wall_seconds(wanted, cores=2) == pytest.approx(seconds)


class Known:
    """Costs that know of one recipe, and since the session began of another."""

    def __init__(self, **seconds: float) -> None:
        self._seconds = seconds

    def until(self, moment: datetime) -> "Known":
        assert moment < NOON
        return Known(known=self._seconds["known"])

    def estimate(self, recipe: Recipe) -> CostEstimate | None:
        seconds = self._seconds.get(recipe.name)
        return None if seconds is None else CostEstimate(seconds, ("h",), ())


def forecast() -> Forecast:
    return Forecast(Known(known=30.0, new=7.0), NOON)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("took", "expected"),
    [([], 1.0), ([50.0], 1.0), ([50.0, 40.0], 1.5), ([ENOUGH], 2.0), ([15.0] * 4, 0.5)],
)
def test_finished_jobs_say_how_a_session_goes(took: list[float], expected: float) -> None:
    assert forecast().ratio(Span(KNOWN, NOON, seconds, 1) for seconds in took) == pytest.approx(expected)


def test_of_what_was_resumed_or_is_new_nothing_follows() -> None:
    assert forecast().ratio([Span(KNOWN, NOON, 500, 2), Span(NEW, NOON, 500, 1)]) == 1.0


def test_only_what_was_known_before_is_corrected() -> None:
    """What is like nothing but jobs of this session took what it took in this session."""
    assert [forecast().seconds(recipe, 2.0) for recipe in (KNOWN, NEW, Recipe("runs", "other", {}))] == [60, 7, None]
