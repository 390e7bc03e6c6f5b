"""The probe of a machine: a process that prints the times of a training step and of linear maps as JSON.

A kernel that a processor does not support ends the process, so nothing else imports this module.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional

from recompose.backbones.linear import linear
from recompose.kernels import choose_linear
from recompose.machine import SPEED_ALONE, WITHOUT_ONEDNN

# rows, input features, output features: those of the demo, see benchmarks/linear_maps.py
SHAPES = ((64 * 83, 64, 256), (256 * 17, 128, 512), (256 * 17, 512, 128), (256 * 17, 128, 384), (3 * 83, 128, 512))
STEP, MAP = 1.0, 0.2  # seconds of measurement of the step, and of each map
FEWEST = 3  # measurements of each, however long they take


def seconds(steps: dict[str, Callable[[], object]], budget: float) -> dict[str, float]:
    """Return the fastest time of each step, measured in turn.

    The processor's time is measured, since wall-clock time on a shared machine includes other processes.
    """
    times: dict[str, list[float]] = {name: [] for name in steps}
    for step in steps.values():
        step()
    end, rounds = time.perf_counter() + budget, 0
    while rounds < FEWEST or time.perf_counter() < end:
        for name, step in steps.items():
            start = time.process_time()
            step()
            times[name].append(time.process_time() - start)
        rounds += 1
    return {name: min(measurements) for name, measurements in times.items()}


def training_step() -> Callable[[], object]:
    """Return a step of a transformer of two blocks on 64 sequences of 17 tokens, 128 wide."""
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(128, 4, 512, 0.0, "gelu", batch_first=True, norm_first=True)
    blocks = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    optimizer = torch.optim.AdamW(blocks.parameters(), lr=1e-4)
    tokens = torch.randn(64, 17, 128)

    def step() -> None:
        optimizer.zero_grad()
        blocks(tokens).square().mean().backward()
        optimizer.step()

    return step


def map_step(function: Callable[..., Tensor], rows: int, into: int, out: int) -> Callable[[], object]:
    """Return a step that computes a linear map and its gradients by a function."""
    torch.manual_seed(0)
    x, weight, bias = (torch.randn(*shape, requires_grad=True) for shape in ((rows, into), (out, into), (out,)))
    gradient = torch.randn(rows, out)
    return lambda: torch.autograd.grad(function(x, weight, bias), (x, weight, bias), gradient)


def maps(*, with_onednn: bool) -> Iterator[dict[str, float | int]]:
    """Measure each map by torch's own function and, with ``with_onednn``, by oneDNN."""
    choose_linear(0)  # our function uses oneDNN for all maps
    for rows, into, out in SHAPES:
        functions = {"torch_seconds": functional.linear} | ({"onednn_seconds": linear} if with_onednn else {})
        steps = {name: map_step(function, rows, into, out) for name, function in functions.items()}
        yield {"rows": rows, "into": into, "out": out, **seconds(steps, MAP)}


def main() -> None:
    """Measure, and print the results."""
    torch.set_num_threads(1)
    step = seconds({"step": training_step()}, STEP)["step"]
    of_maps = [] if SPEED_ALONE in sys.argv else [*maps(with_onednn=WITHOUT_ONEDNN not in sys.argv)]
    print(json.dumps({"step_seconds": step, "maps": of_maps}))


if __name__ == "__main__":
    main()
