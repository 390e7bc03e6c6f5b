"""What a machine has, against what a profile asks for."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from recompose.commands.plan import PlannedItem
from recompose.costs import CostEstimate
from recompose.monitor.doctor.check import FINE, STOPS, WARNING
from recompose.monitor.doctor.machine import (
    Gpu,
    SystemInfo,
    check_gpu_memory,
    check_gpus,
    check_packages,
    check_python,
    check_scheduler,
    gpu_partitions,
    locked_versions,
    slurm_gpus,
)
from recompose.params import Trainer
from recompose.plan import Recipe

SMALL = Gpu("small", 24 * 10**9, bf16=True)
HERE = SystemInfo((3, 12, 1), {"torch": "2.13.0+cu130"}, "13.0", (SMALL,), slurm=None, plugin=False)
TRAINER = Trainer(precision="32-true", threads=1, accelerator="auto", devices=1)


def run(precision: str = "32-true") -> Recipe:
    return Recipe("runs", "a run", {"trainer": {"precision": precision}})


def needed(memory: int | None, method: str = "csp", there: bool = False) -> PlannedItem:
    estimate = CostEstimate(1, ("h",), memory) if memory is not None else None
    return PlannedItem("runs", "f", "f" * 64, f"{method} on d", method, "d", method, (), False, there, estimate)


def test_an_old_python_stops() -> None:
    assert check_python(HERE).state == FINE
    assert check_python(replace(HERE, python=(3, 10, 9))).state == STOPS


def test_packages_are_compared_with_those_that_are_locked(tmp_path: Path) -> None:
    lines = ["torch==2.13.0 \\", "    --hash=sha256:00", "    # via x", "numpy==2.1 ; python_version < '3.12' \\"]
    lines += ["numpy==2.2 ; python_version >= '3.12' \\"]
    (tmp_path / "requirements.lock").write_text("\n".join(lines))
    pins = locked_versions(tmp_path)
    assert pins == {"torch": ["2.13.0"], "numpy": ["2.1", "2.2"]}
    assert check_packages(HERE, pins).state == FINE
    assert check_packages(replace(HERE, packages={"numpy": "2.1"}), pins).state == FINE
    differing = check_packages(HERE, {"torch": ["2.12.0"]})
    assert (differing.state, "torch 2.12.0" in differing.remedy) == (WARNING, True)
    assert check_packages(replace(HERE, packages={"torch": None}), pins).state == STOPS
    assert locked_versions(tmp_path / "elsewhere") == {}


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
        ({"gpus": (), "slurm": "GPUs in main (1 x gpu:2)"}, {"accelerator": "gpu"}, "32-true", WARNING),
        ({"gpus": (), "slurm": ""}, {"accelerator": "gpu"}, "32-true", STOPS),
    ],
)
def test_gpus_are_those_that_training_asks_for(
    here: dict[str, object], trainer: dict[str, object], precision: str, state: str
) -> None:
    machine, asked = replace(HERE, **here), TRAINER.model_copy(update=trainer)  # type: ignore[arg-type]
    check = check_gpus(machine, asked, [run(precision)])
    assert check.state == state
    assert bool(check.remedy) == (state != FINE)


def test_the_largest_run_has_to_fit() -> None:
    fits = check_gpu_memory(HERE, TRAINER, [needed(20 * 10**9), needed(90 * 10**9, there=True)])
    assert fits and (fits.state, fits.finding) == (FINE, "24.0 GB; csp on d needs 20.0 GB")
    large = check_gpu_memory(HERE, TRAINER, [needed(20 * 10**9), needed(25 * 10**9, "troika"), needed(None)])
    assert large and (large.state, "of troika," in large.remedy) == (STOPS, True)
    partly = check_gpu_memory(HERE, TRAINER, [needed(20 * 10**9), needed(None)])
    assert partly and (partly.state, "unknown for 1 of 2 runs" in partly.finding) == (WARNING, True)
    unknown = check_gpu_memory(HERE, TRAINER, [needed(None)])
    assert unknown and (unknown.state, "first run" in unknown.remedy) == (WARNING, True)
    assert check_gpu_memory(HERE, TRAINER.model_copy(update={"accelerator": "cpu"}), [needed(1)]) is None
    assert check_gpu_memory(replace(HERE, gpus=()), TRAINER, [needed(1)]) is None
    assert check_gpu_memory(HERE, TRAINER, []) is None


def test_where_slurm_has_gpus_is_said_and_what_it_lacks() -> None:
    assert check_scheduler(HERE).finding == "none: jobs run on this machine"
    there = replace(HERE, slurm="GPUs in main (1 x gpu:2)")
    assert (check_scheduler(there).state, "[slurm]" in check_scheduler(there).remedy) == (WARNING, True)
    fine = check_scheduler(replace(there, plugin=True))
    assert (fine.state, "main (1 x gpu:2)" in fine.finding) == (FINE, True)
    silent = check_scheduler(replace(HERE, slurm="", plugin=True, slurm_fault="no route"))
    assert (silent.state, "no route" in silent.finding) == (WARNING, True)


def test_partitions_with_gpus_are_named_and_of_many_the_first() -> None:
    assert gpu_partitions("cpu|40|(null)\nrest|2|lustre:1\n") == gpu_partitions("") == "no GPUs"
    many = "".join(f"p{number}|2|gpu:h100:8(S:0-1)\n" for number in range(5))
    assert gpu_partitions(many) == "GPUs in p0 (2 x gpu:h100:8), p1 (2 x gpu:h100:8), p2 (2 x gpu:h100:8) and 2 more"


def test_a_slurm_that_does_not_answer_is_none_to_count_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert slurm_gpus() == (None, "")
    for name, does in (("sbatch", "exit 0"), ("sinfo", "echo unable to contact >&2; exit 1")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / name).chmod(0o755)
    assert slurm_gpus() == ("", "sinfo: unable to contact")


def test_torch_that_cannot_be_imported_stops_the_workflow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    machine = SystemInfo.here()
    check = check_packages(machine, {})
    assert (check.state, machine.gpus) == (STOPS, ())
    assert "torch absent" in check.finding
