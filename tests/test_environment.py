"""The facts of a machine that records keep."""

import subprocess
import sys

import pytest

from recompose.environment import environment


def test_a_process_with_torch_records_its_kernels_and_one_without_none(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    facts = environment()
    assert facts["instruction_set"] == torch.backends.cpu.get_cpu_capability().lower()
    assert facts["libraries"]
    monkeypatch.delitem(sys.modules, "torch")
    assert not {"instruction_set", "libraries"} & environment().keys()


def test_threads_that_wait_sleep() -> None:
    code = "import os, recompose; print(os.environ['OMP_WAIT_POLICY'], os.environ['GOMP_SPINCOUNT'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["PASSIVE", "0"]
