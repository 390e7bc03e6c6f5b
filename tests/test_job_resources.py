"""What jobs ask of a scheduler."""

import pytest

from recompose import job_resources
from recompose.costs import SIMILAR, CostEstimate
from recompose.plan import Recipe


def took(seconds: float, memory: int | None = None) -> CostEstimate:
    return CostEstimate(seconds, ("h, d",), memory)


RUN, EVALUATION = (Recipe(kind, kind, {}) for kind in ("runs", "evaluations"))


def test_a_job_may_take_twice_as_long_as_others_like_it_took() -> None:
    assert job_resources.minutes([RUN, EVALUATION], [took(3600), took(90)]) == 10 + 120 + 3
    assert job_resources.minutes([EVALUATION], [took(0)]) == 10


def test_what_is_like_none_that_was_measured_may_take_a_day_or_an_hour_where_it_only_scores() -> None:
    assert job_resources.minutes([RUN], [None]) == 1440
    assert job_resources.minutes([RUN, EVALUATION], [took(600), None]) == 10 + 20 + 60
    assert job_resources.minutes([RUN, EVALUATION], [None, None]) == 1440
    assert job_resources.minutes([RUN, EVALUATION], [took(86_400), None]) == 2880


def test_what_is_only_similar_sets_no_limit() -> None:
    similar = CostEstimate(30, ("h, d",), basis=SIMILAR)
    assert job_resources.minutes([RUN], [similar]) == job_resources.minutes([RUN], [None])


@pytest.mark.parametrize(("minutes", "times"), [(30, [30, 60, 90]), (1000, [1000, 1440, 1440]), (2000, [2000, 2000])])
def test_later_attempts_may_take_longer_but_for_that_no_longer_than_a_day(minutes: int, times: list[int]) -> None:
    assert [job_resources.longer(minutes, attempt) for attempt in range(1, len(times) + 1)] == times


def run_on(backbone: Recipe) -> Recipe:
    features = Recipe("features", "features", {}, {"backbone": backbone})
    return Recipe("runs", "run", {}, {"features": features})


OWN, OTHERS = {"architecture": {"embed_dim": 64}}, {"architecture": "ViT-L-14"}  # ours stand in the recipe
DRAWN = Recipe("backbones", "small", OWN, {"corpus": Recipe("data", "scenes", {})})
BUNDLED = Recipe("backbones", "small", OWN)
RELEASED = Recipe("backbones", "large", OTHERS)


def test_memory_follows_the_backbone_and_what_was_measured_on_cpu() -> None:
    assert (
        job_resources.memory([run_on(DRAWN)], [None], 0) == job_resources.memory([run_on(BUNDLED)], [None], 0) == 4096
    )
    assert job_resources.memory([run_on(DRAWN)], [took(1, 2**30), took(1, 2**31), took(1)], 0) == 4096 + 3072
    assert job_resources.memory([run_on(DRAWN), run_on(RELEASED)], [None, None], 0) == 16384


def test_of_a_job_on_gpus_each_process_takes_the_nodes_memory_and_the_gpus_is_measured() -> None:
    assert job_resources.memory([run_on(RELEASED)], [took(1, 2**34)], 1) == 16384
    assert job_resources.memory([run_on(RELEASED)], [took(1, 2**34)], 4) == 4 * 16384


def test_grids_of_somebody_else_are_large_and_a_download_is_not() -> None:
    given = Recipe("grids", "given", {}, {"data": Recipe("data", "cub", {})})
    assert job_resources.memory([Recipe("runs", "run", {}, {"grids": given})], [None], 0) == 16384
    assert job_resources.memory([RELEASED], [None], 0) == 4096
