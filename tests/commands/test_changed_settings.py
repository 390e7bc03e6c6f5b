"""A changed setting behind the numbers of a rerun, in a small project whose makers are replaced."""

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from recompose import phases
from recompose.commands.against import compare, show_comparison
from recompose.plan import closure
from recompose.workspace import Workspace
from tests.audit.worlds import edit_json
from tests.commands import test_verify as small
from tests.conftest import commit_files

made, work = small.made, small.work  # fixtures


@pytest.mark.slow
def test_a_changed_setting_is_named_before_all_numbers(work: Workspace) -> None:
    small.publish(work)
    commit_files(work.root, "reports")
    rates: list[float] = []

    def change(document: dict[str, Any]) -> None:
        training = document["czsl"]["methods"]["csp"]["training"]
        rates.extend([float(training["lr"]), 1.2 * float(training["lr"])])
        training["lr"] = rates[1]

    edit_json(work.root / "params.yaml", change)
    now = Workspace(work.root)
    phases.make(now, closure(small.evaluations_of(now)))
    small.publish(now)
    comparison = compare(now.reports, now.papers, "HEAD")
    (setting,) = comparison.settings
    assert setting.endswith(f"training.lr was {rates[0]} and is {rates[1]} now")
    assert comparison.settings[setting] == len(small.SEEDS)
    assert comparison.other_recipes == 2
    console = Console(width=200, record=True, file=StringIO())
    show_comparison(console, comparison)
    assert setting in console.export_text().splitlines()[1]
