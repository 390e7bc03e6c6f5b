"""What a machine has, against what a profile asks for."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from recompose.costs import Estimate
from recompose.monitor.doctor.check import FINE, STOPS, WARNING
from recompose.monitor.doctor.machine import Gpu, Machine, gpu_memory, gpus, locked, packages, python, scheduler
from recompose.monitor.outlook import Needed
from recompose.params import Trainer
from recompose.plan import Recipe

SMALL = Gpu("small", 24 * 10**9, bf16=True)
HERE = Machine((3, 12, 1), {"torch": "2.13.0+cu130"}, "13.0", (SMALL,), slurm=False, plugin=False)
TRAINER = Trainer(precision="32-true", threads=1, accelerator="auto", devices=1)


def run(precision: str = "32-true") -> Recipe:
    return Recipe("runs", "a run", {"trainer": {"precision": precision}})


def needed(memory: int | None, method: str = "csp", there: bool = False) -> Needed:
    estimate = Estimate(1, ("h",), (), memory) if memory is not None else None
    return Needed("runs", "f", "f" * 64, f"{method} on d", method, "d", method, (), False, there, estimate)


def test_an_old_python_stops() -> None:
    assert python(HERE).state == FINE
    assert python(replace(HERE, python=(3, 10, 9))).state == STOPS


def test_packages_are_compared_with_those_that_are_locked(tmp_path: Path) -> None:
    lines = ["torch==2.13.0 \\", "    --hash=sha256:00", "    # via x", "numpy==2.1 ; python_version >= '3.11' \\"]
    (tmp_path / "requirements.lock").write_text("\n".join(lines))
    pins = locked(tmp_path)
    assert pins == {"torch": "2.13.0", "numpy": "2.1"}
    assert packages(HERE, pins).state == FINE
    differing = packages(HERE, {"torch": "2.12.0"})
    assert (differing.state, "torch 2.12.0" in differing.remedy) == (WARNING, True)
    assert packages(replace(HERE, packages={"torch": None}), pins).state == STOPS
    assert locked(tmp_path / "elsewhere") == {}


@pytest.mark.parametrize(
    ("here", "trainer", "precision", "state"),
    [
        ({}, {}, "16-mixed", FINE),
        ({}, {"devices": 2}, "32-true", STOPS),
        ({}, {"devices": "auto"}, "32-true", FINE),
        ({"gpus": (replace(SMALL, bf16=False),)}, {}, "bf16-mixed", WARNING),
        ({"gpus": ()}, {"accelerator": "cpu"}, "32-true", FINE),
        ({"gpus": ()}, {}, "32-true", WARNING),
        ({"gpus": ()}, {}, "16-mixed", STOPS),
        ({"gpus": ()}, {"accelerator": "gpu"}, "32-true", STOPS),
        ({"gpus": (), "slurm": True}, {"accelerator": "gpu"}, "32-true", WARNING),
    ],
)
def test_gpus_are_those_that_training_asks_for(
    here: dict[str, object], trainer: dict[str, object], precision: str, state: str
) -> None:
    machine, asked = replace(HERE, **here), TRAINER.model_copy(update=trainer)  # type: ignore[arg-type]
    check = gpus(machine, asked, [run(precision)])
    assert check.state == state
    assert bool(check.remedy) == (state != FINE)


def test_the_largest_run_has_to_fit() -> None:
    fits = gpu_memory(HERE, TRAINER, [needed(20 * 10**9), needed(90 * 10**9, there=True)])
    assert fits and (fits.state, fits.found) == (FINE, "24.0 GB; csp on d needs 20.0 GB")
    large = gpu_memory(HERE, TRAINER, [needed(20 * 10**9), needed(25 * 10**9, "troika"), needed(None)])
    assert large and (large.state, "of troika," in large.remedy) == (STOPS, True)
    partly = gpu_memory(HERE, TRAINER, [needed(20 * 10**9), needed(None)])
    assert partly and (partly.state, "1 of 2 runs are unknown" in partly.found) == (WARNING, True)
    unknown = gpu_memory(HERE, TRAINER, [needed(None)])
    assert unknown and (unknown.state, "recompose calibrate" in unknown.remedy) == (WARNING, True)
    assert gpu_memory(HERE, TRAINER.model_copy(update={"accelerator": "cpu"}), [needed(1)]) is None
    assert gpu_memory(replace(HERE, gpus=()), TRAINER, [needed(1)]) is None
    assert gpu_memory(HERE, TRAINER, []) is None


def test_slurm_without_the_plugin_is_said() -> None:
    assert scheduler(HERE).found == "none: jobs run on this machine"
    assert scheduler(replace(HERE, slurm=True)).state == WARNING
    assert scheduler(replace(HERE, slurm=True, plugin=True)).state == FINE


def test_torch_that_cannot_be_imported_stops_the_workflow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    machine = Machine.here()
    check = packages(machine, {})
    assert (check.state, machine.gpus) == (STOPS, ())
    assert "torch absent" in check.found
