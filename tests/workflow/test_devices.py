"""A run on several devices, in a job of the workflow."""

import pytest

from recompose.workspace import Workspace
from tests.conftest import Project

pytestmark = pytest.mark.engines


def test_a_job_of_the_server_starts_the_other_processes_of_a_run(trained: Project) -> None:
    """Lightning starts them as the job's own process seems to have been started."""
    trained.set({"profiles.smoke.trainer.devices": 2})
    work = Workspace(trained.root)
    run = work.plan.of("runs")[0]  # another one, as the number of devices is part of its identity
    made = trained.recompose("make", run.key)
    assert work.store.verify(run).kind == "runs"
    assert "MEMBER: 2/2" in made.stderr, made.stderr  # as Lightning says of the second one
