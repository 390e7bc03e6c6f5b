"""What `recompose decide` says to its user."""

from pathlib import Path

import pytest
from rich.console import Console

from recompose.monitor import decide as loop
from recompose.params.allocation import Observation, Stage
from recompose.terminal.decide import show_outcome, stage_text
from recompose.workspace import Workspace
from tests.allocation.studies import prepare_study, run

pytestmark = pytest.mark.slow


def observation(verdict: str) -> Observation:
    return Observation(
        paper="p", benchmark="d", comparison="a - b", replicates=3, difference=1, p=1, p_margin=1, verdict=verdict
    )


def test_a_stage_says_what_was_seen_and_what_comes() -> None:
    first = Stage(replicates={"t": {"a": 3, "b": 3}, "u": {"c": 2}}, core_seconds=7200, hours=3)
    assert stage_text(first) == (
        "next: 1 method or variant with 2 replicates, 2 methods and variants with 3 replicates; about 2.0 h of one core"
    )
    verdicts = ("undecided", "supported here", "undecided")
    second = first.model_copy(update={"seen": [observation(verdict) for verdict in verdicts]})
    assert stage_text(second).startswith("comparisons so far: 1 supported here, 2 undecided; next: ")


@pytest.mark.parametrize(("hours", "ending"), [(0.2, "More --hours continue"), (100, "Those that are undecided have")])
def test_the_outcome_says_whether_more_hours_can_go_on(
    hours: float, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = prepare_study(tmp_path, monkeypatch)
    stages = list(loop.decide(root, hours, lambda: run(root) and None))  # type: ignore[func-returns-value]
    show_outcome(Console(), Workspace(root))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("26 comparisons: ")
    assert lines[1].startswith(f"{len(stages)} stage")
    assert lines[2].startswith(ending)
