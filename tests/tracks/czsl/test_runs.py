"""The recipes of runs: which precision they train in."""

import pytest

from recompose.plan import Plan, Planner
from recompose.tracks import TRACKS
from tests.configuration import params_text, parse_params

TEXT = params_text()


def precisions(*edits: str) -> dict[str, set[str]]:
    """Method -> the precision of its runs, and whether their settings name it, too."""
    params = parse_params(TEXT, edits=edits)
    plan = Plan({"czsl": TRACKS["czsl"].plan(params, Planner(params), TRACKS["czsl"].variants)})
    actual: dict[str, set[str]] = {}
    for run in plan.of("runs"):
        assert "precision" not in run.document["settings"]["training"]
        actual.setdefault(str(run.labels["method"]), set()).add(run.document["trainer"]["precision"])
    return actual


def digests(*edits: str) -> set[str]:
    params = parse_params(TEXT, edits=edits)
    plan = Plan({"czsl": TRACKS["czsl"].plan(params, Planner(params), TRACKS["czsl"].variants)})
    return {run.digest for run in plan.of("runs")}


@pytest.mark.slow
def test_a_method_s_own_precision_stands_above_the_trainer_s() -> None:
    paper = precisions("profile=paper")
    assert {method for method, actual in paper.items() if actual == {"32-true"}} == {"troika", "msci"}
    assert all(actual == {"bf16-mixed"} for method, actual in paper.items() if method not in ("troika", "msci"))
    fast = precisions("profile=paper", "czsl.methods.msci.per_dataset.ut-zappos.training.precision=bf16-mixed")
    assert fast["msci"] == {"32-true", "bf16-mixed"}


def test_runs_of_one_precision_are_the_same_however_it_was_said() -> None:
    edit = "czsl.methods.duplex.training.precision=32-true"
    assert digests("profile=demo", edit) == digests("profile=demo")
    assert digests("profile=demo", "czsl.methods.duplex.training.precision=bf16-mixed") != digests("profile=demo")
