"""What starts a command is light."""

import subprocess
import sys

import pytest

from recompose.recipes.fingerprint import ROOT

pytestmark = pytest.mark.slow

COMPUTING = ("backbones", "harness", "synthetic", "tracks", "training", "worker")  # folders that may import torch
MODULES = sorted(
    "recompose." + path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")
    for path in ROOT.rglob("*.py")
    if path.relative_to(ROOT).parts[0] not in COMPUTING and path.stem not in ("__main__", "mat_fields")
)


def imported(modules: list[str], heavy: tuple[str, ...]) -> str:
    """Return which heavy packages a process has after it imported these modules."""
    code = f"import {', '.join(modules)}, sys; print([name for name in {heavy!r} if name in sys.modules])"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_nothing_that_plans_reports_or_audits_imports_torch() -> None:
    heavy = (".figures", ".data.transports", ".portable")  # imported on use
    light = [name for name in MODULES if not any(part in name for part in heavy)]
    assert imported(light, ("torch", "pytorch_lightning", "open_clip", "torchvision")) == "[]"


def test_all_commands_start_without_what_draws() -> None:
    assert imported(["recompose.main"], ("matplotlib", "pandas", "scipy", "torch")) == "[]"
