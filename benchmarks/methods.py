"""Time a training step beside the released computation: ``make benchmarks``.

Weights are random: they do not matter for the time. The released computation is the one that parity tests hold methods
to, written from reading the released code.
"""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import open_clip
import torch
from torch import Tensor

from benchmarks.machine import machine
from benchmarks.stand_ins.project import ARCHITECTURES
from recompose.backbones.clip import build
from recompose.params.loading import load_params
from recompose.tracks import TRACKS
from recompose.tracks.building import TypedSettings, method_class
from recompose.tracks.czsl.catalogue import METHODS
from tests.tracks.czsl.methods import released

ROOT = Path(__file__).parent.parent
SAME = 1e-5  # how far losses may be apart, as a share


@dataclass(frozen=True)
class Scale:
    """The size at which a training step is measured: the text and image towers of a CLIP, and a batch."""

    described: str
    clip: str  # the architecture
    names: tuple[int, int]  # states and objects
    pairs: int
    images: int
    heads: int
    steps: int  # of each, in turn, after a first one


SCALES = {
    "demo": Scale("the demo's widths", "demo-widths", (16, 12), pairs=83, images=64, heads=2, steps=25),
    "large": Scale("ViT-L/14's widths, 4 blocks", "vit-l-14-widths", (20, 30), pairs=200, images=2, heads=12, steps=5),
}


def build_method(name: str, dataset: str, backbone: Any, counts: tuple[int, int], **changed: Any) -> Any:
    """Return a method with the settings of a data set, some of them changed, for so many states and objects."""
    params = load_params(ROOT / "params.yaml", TRACKS.forms)
    settings = params.tracks["czsl"].settings(name, dataset, changed).document()
    names = [[f"{kind} {index}" for index in range(count)] for kind, count in zip("so", counts, strict=True)]
    document = {"class": METHODS[name].class_path, "settings": settings}
    method = method_class(document)(backbone, *names, TypedSettings(document).own)
    return method.set_scoring(TypedSettings(document).scoring)


def step_ratio(name: str, scale: Scale) -> tuple[float, float, float]:
    """Return the milliseconds of the released training step and of ours, medians of steps in turn, and how far
    their losses are apart; the same parameters, batch and optimizer, without dropout.
    """
    torch.manual_seed(0)
    open_clip.add_model_config(ARCHITECTURES)
    backbone, clip = build(scale.clip, "quick_gelu").eval(), open_clip.get_model_config(scale.clip)
    dropout = dict.fromkeys(("attribute_dropout", "adapter_dropout", "disentangler_dropout"), 0.0)
    method = build_method(name, "shapes-pairs", backbone, scale.names, heads=scale.heads, **dropout).train()
    every = torch.cartesian_prod(*(torch.arange(count) for count in scale.names))
    pairs, targets = every[torch.randperm(len(every))[: scale.pairs]], torch.arange(scale.images)
    bytes_ = torch.randint(0, 256, (scale.images, 3, *backbone.image_size), dtype=torch.uint8)
    vision, text = clip["vision_cfg"], clip["text_cfg"]
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


def in_child(*arguments: str) -> list[float]:
    """Measure in a process of its own."""
    command = (sys.executable, "-m", "benchmarks.methods", *arguments)
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    return [float(word) for word in done.stdout.split()]


def main() -> None:
    """Measure everything and print a Markdown table."""
    print(f"Measured with `make benchmarks` on {machine()}, one thread.\n")
    print("| a training step, in turn with the released computation | released | ours | ratio |")
    print("| --- | ---: | ---: | ---: |")
    for name in ("msci", "troika"):
        for scale, size in SCALES.items():
            theirs, ours, apart = in_child(name, scale)
            if apart > SAME:
                sys.exit(f"{name}: losses of ours and of the released computation differ by {apart:.1e} of them")
            what = f"{name}, {size.described}, {size.images} images x {size.pairs} pairs"
            print(f"| {what} | {theirs:.0f} ms | {ours:.0f} ms | {theirs / ours:.2f} |")


if __name__ == "__main__":
    torch.set_num_threads(1)
    if len(sys.argv) > 1:
        print(*step_ratio(sys.argv[1], SCALES[sys.argv[2]]))
    else:
        main()
