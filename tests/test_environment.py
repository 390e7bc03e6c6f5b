"""The facts of a machine that records keep."""

import platform
import subprocess
import sys
from pathlib import Path

import pytest

from recompose.environment import environment, processor_name
from recompose.records import BuildInfo


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            "processor\t: 0\nmodel\t\t: 17\nmodel name\t: A B @ 2 GHz\nflags\t\t: fma\n\nmodel name\t: C\n",
            "A B @ 2 GHz",
        ),
        ("processor : 0\nBogoMIPS : 50\n", platform.machine()),  # as on ARM
        (None, platform.machine()),
    ],
)
def test_the_processor_has_the_name_that_the_system_gives_it(
    monkeypatch: pytest.MonkeyPatch, text: str | None, name: str
) -> None:
    def read_text(path: Path) -> str:
        if text is None:
            raise FileNotFoundError(path)
        return text

    monkeypatch.setattr(Path, "read_text", read_text)
    assert processor_name() == name


def test_a_process_with_torch_records_its_kernels_and_one_without_none(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    facts = environment()
    assert facts["instruction_set"] == torch.backends.cpu.get_cpu_capability().lower()
    assert facts["libraries"]
    monkeypatch.delitem(sys.modules, "torch")
    assert not {"instruction_set", "libraries"} & environment().keys()


def test_records_of_before_stay_valid() -> None:
    made = {"started": "", "seconds": 1.0, "attempts": 1, "host": "h", "commit": None, "dirty": None, "device": "d"}
    BuildInfo.model_validate({**made, "packages": {}})
    BuildInfo.model_validate({**made, **environment()})
    assert BuildInfo.model_validate({**made, "packages": {}, "linear": "torch"}).plain()["linear"] == "torch"


def test_threads_that_wait_sleep() -> None:
    code = "import os, recompose; print(os.environ['OMP_WAIT_POLICY'], os.environ['GOMP_SPINCOUNT'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["PASSIVE", "0"]
