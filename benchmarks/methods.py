"""What methods cost: throughput on the demo's backbone, and memory at the papers' scale: ``make benchmarks``.

Weights are random: they do not matter for the time. Memory is that of a process of its own.
"""

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks.machine import machine
from recompose.backbones.clip import build, outline
from recompose.params import load_params
from recompose.tracks import FORMS
from recompose.tracks.czsl.building import method_class, own_settings
from recompose.tracks.czsl.catalogue import METHODS
from recompose.tracks.czsl.methods.parts.pair_method import PairMethod, TrainingPrior
from recompose.tracks.czsl.methods.parts.three_path import Views

ROOT = Path(__file__).parent.parent
BATCH, BATCHES = 64, 4
STATES, OBJECTS, TRAIN_PAIRS = 16, 12, 83
MIT_STATES = (115, 245)  # all of their pairs: the open world
PATCHES, WIDTH = 257, 768
IMAGES = 2
LIMIT = 4.0  # GiB


def made(method: str, backbone: Any, states: int, objects: int, **changed: Any) -> PairMethod:
    """A method with the demo's settings, some of them changed."""
    entry = METHODS[method]
    settings = load_params(ROOT / "params.yaml", FORMS).tracks["czsl"].settings(method, "shapes-pairs", changed)
    names = [f"state {index}" for index in range(states)], [f"object {index}" for index in range(objects)]
    built: PairMethod = method_class({"class": entry.class_path})(backbone, *names, **own_settings(settings))
    return built.scored_with(**settings.get("scoring", {}))


def rate(step: Callable[[], object]) -> float:
    """Images per second of a step on a batch, once warm."""
    step()
    start = time.perf_counter()
    for _ in range(BATCHES):
        step()
    return BATCH * BATCHES / (time.perf_counter() - start)


def throughput(name: str) -> tuple[float, float, float, float]:
    """Images per second in training and in closed-world evaluation, and the share of each spent in the towers."""
    torch.manual_seed(0)
    method = made(name, build("shapes-clip", "gelu").eval(), STATES, OBJECTS)
    pairs = torch.cartesian_prod(torch.arange(STATES), torch.arange(OBJECTS))
    seen = pairs[torch.randperm(len(pairs))[:TRAIN_PAIRS]]
    method.prepare(TrainingPrior(pairs, torch.randn(len(seen), method.backbone.width), seen))
    bytes_ = torch.randint(0, 256, (BATCH, 3, 32, 32), dtype=torch.uint8)
    inputs = bytes_ if method.sees == "pixels" else torch.randn(BATCH, method.backbone.width)
    targets = torch.randint(0, len(seen), (BATCH,))
    method.train()
    training = rate(lambda: method.loss(inputs, targets, seen).backward())
    towers = rate(lambda: _sum(method.encode_images(inputs), method.encode_world([seen], "closed")).backward())
    method.eval()
    with torch.no_grad():
        world = method.encode_world([pairs], "closed")
        testing = rate(lambda: list(method.scores(inputs, world)))
        tower = rate(lambda: method.encode_images(inputs)) if method.sees == "pixels" else float("inf")
    return training, testing, training / towers, testing / tower


def _sum(*encoded: Any) -> Tensor:
    """One number that everything encoded goes into, so that gradients go back through the towers."""
    found = [part for each in encoded for part in _tensors(each) if part.requires_grad]
    return torch.stack([part.sum() for part in found]).sum()


def _tensors(encoded: Any) -> list[Tensor]:
    if isinstance(encoded, Tensor):
        return [encoded]
    parts = encoded if isinstance(encoded, (list, tuple)) else list(getattr(encoded, "__dict__", {}).values())
    return [tensor for part in parts for tensor in _tensors(part)]


def memory(name: str, world: str) -> None:
    """Look with the texts of all pairs of MIT-States at images, at the widths of ViT-L/14; prints GiB at the peak."""
    torch.manual_seed(0)
    method = made(name, outline("ViT-L-14", "quick_gelu"), *MIT_STATES, heads=12)
    method.backbone.model.logit_scale = torch.nn.Parameter(torch.tensor(4.6), requires_grad=False)
    stages = len(method.layers())
    texts = torch.randn(MIT_STATES[0] * MIT_STATES[1], WIDTH)
    features = tuple(torch.randn(IMAGES, PATCHES, WIDTH) for _ in range(stages))
    view = torch.randn(IMAGES, WIDTH)
    views = Views(view, view, view, features)
    if world == "training":
        method.train().logits("pair", views, texts).logsumexp(dim=1).sum().backward()
    else:
        with torch.no_grad():
            method.eval().logits("pair", views, texts)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)


def in_child(*arguments: str) -> list[float]:
    """Measure in a process of its own."""
    command = (sys.executable, "-m", "benchmarks.methods", *arguments)
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    return [float(word) for word in done.stdout.split()]


def main() -> None:
    """Measure everything and print two Markdown tables."""
    print(f"Measured with `make benchmarks` on {machine()}, one thread.\n")
    print("| method | training, images/s | of that in the towers | evaluation, images/s | of that in the image tower |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name in METHODS:
        if METHODS[name].needs_seed and METHODS[name].needs_backbone:
            training, testing, towers, tower = in_child("throughput", name)
            print(f"| {name} | {training:.0f} | {towers:.0%} | {testing:.0f} | {tower:.0%} |")
    print("\n| 28,175 pairs at ViT-L/14 widths, texts that look at images: peak of the process | measured | bound |")
    print("| --- | ---: | ---: |")
    for name in ("msci", "troika"):
        for world in ("evaluation", "training"):
            (peak,) = in_child("memory", name, world)
            print(f"| {name}, {world} | {peak:.2f} GiB | {LIMIT:.0f} GiB |")


if __name__ == "__main__":
    torch.set_num_threads(1)
    match sys.argv[1:]:
        case ["throughput", name]:
            print(*throughput(name))
        case ["memory", name, world]:
            memory(name, world)
        case _:
            main()
