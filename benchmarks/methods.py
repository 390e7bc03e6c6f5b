"""What methods cost: throughput on the demo's backbone, a training step beside the released computation, and memory at
the papers' scale: ``make benchmarks``.

Weights are random: they do not matter for the time. Memory is that of a process of its own. The released computation
is the one that parity tests hold methods to, written from reading the released code.
"""

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import open_clip
import torch
from torch import Tensor

from benchmarks.machine import machine
from recompose.backbones.clip import build, outline
from recompose.params import load_params
from recompose.tracks import FORMS
from recompose.tracks.building import TypedSettings, method_class
from recompose.tracks.czsl.catalogue import METHODS
from recompose.tracks.czsl.methods.base import PairMethod, TrainingPrior
from recompose.tracks.czsl.methods.three_path import Views
from tests.tracks.czsl.methods import released

ROOT = Path(__file__).parent.parent
BATCH, BATCHES = 64, 4
STATES, OBJECTS, TRAIN_PAIRS = 16, 12, 83
MIT_STATES = (115, 245)  # all of their pairs: the open world
PATCHES, WIDTH = 257, 768
IMAGES = 2
LIMIT = 4.0  # GiB
SAME = 1e-5  # how far losses may be apart, as a share


@dataclass(frozen=True)
class Scale:
    """At what size a training step is measured; text and image towers of a CLIP as the released ones are."""

    described: str
    clip: dict[str, Any]
    names: tuple[int, int]  # states and objects
    pairs: int
    images: int
    heads: int
    steps: int  # of each, in turn, after a first one


SCALES = {
    "demo": Scale(
        "the demo's widths, 64 images x 83 pairs",
        {
            "embed_dim": 64,
            "vision_cfg": {"image_size": 32, "patch_size": 8, "layers": 4, "width": 128, "head_width": 32},
            "text_cfg": {"context_length": 24, "vocab_size": 49408, "width": 128, "heads": 4, "layers": 3},
        },
        names=(STATES, OBJECTS),
        pairs=TRAIN_PAIRS,
        images=BATCH,
        heads=2,
        steps=25,
    ),
    "large": Scale(
        "ViT-L/14's widths, towers of 4 blocks, 2 images x 200 pairs",
        {
            "embed_dim": 768,
            "vision_cfg": {"image_size": 224, "patch_size": 14, "layers": 4, "width": 1024, "head_width": 64},
            "text_cfg": {"context_length": 24, "vocab_size": 49408, "width": 768, "heads": 12, "layers": 4},
        },
        names=(20, 30),
        pairs=200,
        images=2,
        heads=12,
        steps=5,
    ),
}


def made(method: str, backbone: Any, states: int, objects: int, **changed: Any) -> PairMethod:
    """A method with the demo's settings, some of them changed."""
    entry = METHODS[method]
    settings = (
        load_params(ROOT / "params.yaml", FORMS).tracks["czsl"].settings(method, "shapes-pairs", changed).document()
    )
    names = [f"state {index}" for index in range(states)], [f"object {index}" for index in range(objects)]
    document = {"class": entry.class_path, "settings": settings}
    built: PairMethod = method_class(document)(backbone, *names, TypedSettings(document).own)
    return built.set_scoring(TypedSettings(document).scoring)


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
    towers = rate(lambda: _sum(method.encode_images(inputs), method.encode_texts([seen])).backward())
    method.eval()
    with torch.no_grad():
        texts = method.encode_texts([pairs])
        testing = rate(lambda: list(method.scores(inputs, texts, "closed")))
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


def step_ratio(name: str, scale: Scale) -> tuple[float, float, float]:
    """Milliseconds of the released computation's training step and of ours, medians of steps in turn, and how far
    their losses are apart; the same parameters, batch and optimizer, without dropout.
    """
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "as-released.json").write_text(json.dumps(scale.clip))
        open_clip.add_model_config(folder)
        backbone = build("as-released", "quick_gelu").eval()
    dropout = dict.fromkeys(("attribute_dropout", "adapter_dropout", "disentangler_dropout"), 0.0)
    method = made(name, backbone, *scale.names, heads=scale.heads, **dropout).train()
    every = torch.cartesian_prod(*(torch.arange(count) for count in scale.names))
    pairs, targets = every[torch.randperm(len(every))[: scale.pairs]], torch.arange(scale.images)
    bytes_ = torch.randint(0, 256, (scale.images, 3, *backbone.image_size), dtype=torch.uint8)
    vision, text = scale.clip["vision_cfg"], scale.clip["text_cfg"]
    sizes = released.Sizes(scale.names[0], vision["width"] // vision["head_width"], text["heads"])
    forward = {"troika": released.troika, "msci": released.msci}[name]
    count = len(method.interactions) if name == "troika" else method.settings.aggregated
    tensors = released.tensors_of(method)
    optimizer = torch.optim.Adam([p for p in method.parameters() if p.requires_grad], lr=0.0)

    def theirs() -> Tensor:
        logits = forward(tensors, bytes_, pairs, sizes, heads=scale.heads, layers=count, training=True)
        return released.three_losses(logits, targets, pairs, [1.0, 1.0, 1.0])

    def ours() -> Tensor:
        return method.loss(bytes_, targets, pairs)

    seconds: dict[Callable[[], Tensor], list[float]] = {theirs: [], ours: []}
    for _ in range(1 + scale.steps):
        for loss, taken in seconds.items():
            start = time.perf_counter()
            optimizer.zero_grad()
            loss().backward()
            optimizer.step()
            taken.append(time.perf_counter() - start)
    expected, found = (float(loss().detach()) for loss in seconds)
    return (*(1000 * statistics.median(taken[1:]) for taken in seconds.values()), abs(found / expected - 1))


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
    """Measure everything and print three Markdown tables."""
    print(f"Measured with `make benchmarks` on {machine()}, one thread.\n")
    print("| method | training, images/s | of that in the towers | evaluation, images/s | of that in the image tower |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name in METHODS:
        if METHODS[name].needs_seed and METHODS[name].needs_backbone:
            training, testing, towers, tower = in_child("throughput", name)
            print(f"| {name} | {training:.0f} | {towers:.0%} | {testing:.0f} | {tower:.0%} |")
    print("\n| a training step, in turn with the released computation | released | ours | ratio |")
    print("| --- | ---: | ---: | ---: |")
    for name in ("msci", "troika"):
        for scale, size in SCALES.items():
            theirs, ours, apart = in_child("step", name, scale)
            if apart > SAME:
                sys.exit(f"{name}: losses of ours and of the released computation differ by {apart:.1e} of them")
            print(f"| {name}, {size.described} | {theirs:.0f} ms | {ours:.0f} ms | {theirs / ours:.2f} |")
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
        case ["step", name, scale]:
            print(*step_ratio(name, SCALES[scale]))
        case ["memory", name, world]:
            memory(name, world)
        case _:
            main()
