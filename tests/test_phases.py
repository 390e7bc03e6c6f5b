"""A batch in which a run fails."""

from pathlib import Path

import pytest

from recompose import phases
from recompose.workspace import Workspace
from tests.conftest import ROOT


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    (tmp_path / "params.yaml").write_text((ROOT / "params.yaml").read_text())
    return Workspace(tmp_path)


def test_a_run_that_fails_keeps_no_other_from_its_end(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = next(batch for batch in work.plan.batches if not batch.needs_backbone)
    bad = batch.runs[1]

    def execute(run, inputs, folder: Path) -> None:  # type: ignore[no-untyped-def]
        if run == bad:
            raise RuntimeError("out of memory")
        (folder / "metrics.json").write_text("{}")

    monkeypatch.setattr(phases, "_execute", execute)
    with pytest.raises(phases.FailedRunsError) as error:
        phases.carry_out(work, batch)
    said = str(error.value)
    assert said.startswith(f"1 of {len(batch.runs)} runs failed:")
    assert f"recompose train {bad.folder}" in said
    assert [run for run in batch.runs if not work.runs.is_complete(run)] == [bad]
    assert "out of memory" in (work.runs.folder(bad) / "error.txt").read_text()


def test_a_helper_of_a_run_on_several_devices_takes_no_lock_and_leaves_no_record(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_RANK", "1")
    monkeypatch.setattr(phases, "_execute", lambda run, inputs, folder: None)
    batch = work.plan.batches[0]
    with work.runs.making(batch.runs[0]):  # by the process that it helps
        phases.carry_out(work, batch)
    assert not list(work.runs.root.glob("*/error.txt"))
    monkeypatch.delenv("LOCAL_RANK")
    assert all(not work.runs.is_complete(run) for run in batch.runs[1:])
