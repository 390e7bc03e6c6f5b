"""The time that is left."""

import json
from datetime import UTC, datetime

import pytest

from recompose.costs import CostEstimate, Costs
from recompose.files import SCRATCH
from recompose.monitor.remaining import TimeLeft, processes, time_left
from recompose.plan import Recipe
from recompose.progress import FILE
from recompose.workspace import Workspace

pytestmark = pytest.mark.slow


class Known(Costs):
    """Costs that know of runs alone, a minute each."""

    def estimate(self, recipe: Recipe) -> CostEstimate | None:
        return CostEstimate(60.0) if recipe.kind == "runs" else None


KNOWN = Known([], list, lambda data: {})


@pytest.mark.parametrize(("cores", "threads", "side_by_side"), [(1, 1, 1), (4, 1, 4), (4, 2, 2), (1, 2, 1)])
def test_estimates_are_divided_by_what_goes_side_by_side_and_what_has_none_is_counted(
    work: Workspace, monkeypatch: pytest.MonkeyPatch, cores: int, threads: int, side_by_side: int
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    work = Workspace(work.root, (f"profiles.demo.trainer.threads={threads}",))
    assert processes(work) == side_by_side
    recipes = [*work.plan.of("runs")[:8], *work.plan.of("evaluations")[:3]]
    assert time_left(work, KNOWN, recipes) == TimeLeft(60 * 8 / side_by_side, 3)


def test_of_what_was_begun_the_rest_counts(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    begun, other = work.plan.of("runs")[:2]
    scratch = work.store.folder(begun) / SCRATCH
    scratch.mkdir(parents=True)
    written = {"unit": "epoch", "done": 3, "total": 4, "rate": None, "seconds_left": None, "metrics": ""}
    (scratch / FILE).write_text(json.dumps({**written, "at": datetime.now(UTC).isoformat()}))
    assert time_left(work, KNOWN, [begun, other]) == TimeLeft(60 / 4 + 60, 0)
