"""The plan of retrainings: the same replicates with other seeds of training."""

from pathlib import Path

import pytest

from recompose.errors import PlanError
from recompose.monitor.retraining import FAR, plan_retrainings
from recompose.workspace import Workspace
from tests.configuration import new_workspace
from tests.errors import raises


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    return new_workspace(tmp_path, "smoke")


def test_only_the_seed_of_the_run_differs(work: Workspace) -> None:
    retrainings = plan_retrainings(work, ["csp"], 1, 2)
    assert {retraining.method for retraining in retrainings} == {"csp"}
    for retraining in retrainings:
        before = retraining.evaluation
        run = before.needs["run"]
        assert len({evaluation.digest for evaluation in retraining.evaluations}) == 3
        for number, after in enumerate(retraining.again, start=1):
            again = after.needs["run"]
            assert again.document == run.document | {"seed": run.document["seed"] + number * FAR}
            assert (again.needs, again.code) == (run.needs, run.code)
            assert after.document == before.document
            assert {role: need for role, need in after.needs.items() if role != "run"} == {
                role: need for role, need in before.needs.items() if role != "run"
            }


def test_all_trained_methods_are_retrained_and_untrained_ones_are_not(work: Workspace) -> None:
    plan = work.plan
    methods = {retraining.method for retraining in plan_retrainings(work, [], 1, 1)}
    trained = {run.labels["method"] for run in plan.of("runs")}
    assert methods <= trained
    assert not methods & {"clip", "chance"}
    planned = {recipe.digest for recipe in plan.recipes}
    assert not planned & {again.digest for each in plan_retrainings(work, [], 1, 1) for again in each.again}


def test_an_unknown_method_is_refused(work: Workspace) -> None:
    with raises(PlanError, "unknown-method") as error:
        plan_retrainings(work, ["cps"], 1, 1)
    assert error.value.place == "cps"
