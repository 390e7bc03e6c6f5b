"""params.yaml as an experiment of DVC writes it."""

import difflib
from pathlib import Path

import pytest
import yaml
from dvc.utils.hydra import apply_overrides

from tests.configuration import SHIPPED

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("overrides", "lines"),
    [
        (["profile=smoke"], ["-profile: demo", "+profile: smoke"]),
        (["czsl.methods.csp.training.lr=0.01"], ["-        lr: 5e-3", "+        lr: 0.01"]),
        (["profiles.large.gzsl.seeds=[0, 1, 2, 3, 4]"], ["+      - 4"]),
    ],
)
def test_an_experiment_changes_no_line_but_its_own(tmp_path: Path, overrides: list[str], lines: list[str]) -> None:
    """DVC drops comments below lists, and writes all places of an anchor if one of them changes."""
    path = tmp_path / "params.yaml"
    path.write_text(SHIPPED.read_text())
    apply_overrides(path, overrides)
    before, after = SHIPPED.read_text().splitlines(), path.read_text().splitlines()
    changed = [
        line for line in difflib.unified_diff(before, after, n=0, lineterm="") if line[:2] not in ("--", "++", "@@")
    ]
    assert changed == lines


def test_no_part_is_shared() -> None:
    """An experiment writes each place of an anchor in turn, so that the last one wins."""
    assert not [event for event in yaml.parse(SHIPPED.read_text()) if getattr(event, "anchor", None)]
