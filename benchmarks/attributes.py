"""What methods with attributes cost at the papers' scale: a training step at CUB's shapes beside TransZero's, and its
memory: ``make benchmarks``.

Features are random: they do not matter for the time. Steps are taken in turn, TransZero's and the method's, in one
process for each method, whose peak of memory holds both.
"""

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch.nn.functional import normalize

from benchmarks.machine import machine
from recompose.params import load_params
from recompose.tracks import FORMS
from recompose.tracks.building import TypedSettings, method_class
from recompose.tracks.gzsl.catalogue import METHODS
from recompose.tracks.gzsl.methods.base import ClassSpace, GridMethod

ROOT = Path(__file__).parent.parent
CLASSES, SEEN, ATTRIBUTES, WORDS, REGIONS, CHANNELS = 200, 150, 312, 300, 196, 2048
BATCH, STEPS = 64, 5
PLAIN = "transzero"  # what others are compared with
MEASURED = ("dazle", PLAIN, "crest")


def made(name: str) -> GridMethod:
    """A method with its settings on CUB."""
    section = load_params(ROOT / "params.yaml", FORMS, "paper").tracks["gzsl"]
    space = ClassSpace(
        normalize(torch.rand(CLASSES, ATTRIBUTES)), torch.randn(ATTRIBUTES, WORDS), torch.arange(CLASSES) < SEEN
    )
    settings = section.settings(name, "cub").document()  # type: ignore[attr-defined]
    document = {"class": METHODS[name].class_path, "settings": settings}
    method: GridMethod = method_class(document)(space, CHANNELS, TypedSettings(document).own)
    return method.train()


def step_of(method: GridMethod, grids: torch.Tensor, targets: torch.Tensor) -> Callable[[], None]:
    """A training step on a batch."""
    optimizer = torch.optim.Adam(method.parameters(), lr=1e-4)

    def step() -> None:
        optimizer.zero_grad()
        method.loss(grids, targets, 0)["loss"].backward()
        optimizer.step()

    return step


def measure(name: str) -> None:
    """Print seconds of a step of TransZero and of the method, medians of steps in turn, and GiB at the peak."""
    torch.manual_seed(0)
    grids, targets = torch.rand(BATCH, REGIONS, CHANNELS), torch.randint(SEEN, (BATCH,))
    steps = [step_of(made(each), grids, targets) for each in (PLAIN, name)]
    seconds: list[list[float]] = [[], []]
    for _ in range(1 + STEPS):
        for step, taken in zip(steps, seconds, strict=True):
            start = time.perf_counter()
            step()
            taken.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(*(statistics.median(taken[1:]) for taken in seconds), peak)


def main() -> None:
    """Measure everything and print a Markdown table."""
    print(f"Measured with `make benchmarks` on {machine()}, one thread, {BATCH} images.\n")
    print("| a training step at CUB's shapes | seconds | beside TransZero's in turn | peak of the process |")
    print("| --- | ---: | ---: | ---: |")
    for name in MEASURED:
        command = (sys.executable, "-m", "benchmarks.attributes", name)
        done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
        plain, own, peak = map(float, done.stdout.split())
        print(f"| {name} | {own:.2f} | {own / plain:.2f} | {peak:.1f} GiB |")


if __name__ == "__main__":
    torch.set_num_threads(1)
    measure(sys.argv[1]) if len(sys.argv) > 1 else main()
