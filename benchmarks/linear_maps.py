"""Linear maps beside torch's own, on one thread, at shapes of the demo: ``make benchmarks``."""

import statistics
import time
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.machine import machine
from recompose.backbones.linear import linear

SHAPES = {
    "texts of pairs that look at images": (64 * 83, 64, 256),
    "tokens of captions, widened": (256 * 17, 128, 512),
    "tokens of captions, narrowed": (256 * 17, 512, 128),
    "tokens of captions, to queries, keys and values": (256 * 17, 128, 384),
    "tokens of pairs": (3 * 83, 128, 512),
}  # rows, features of each, features they are mapped to
TIMES = 40  # each, in turn


def milliseconds(step: Callable[[], object]) -> float:
    """What one call takes."""
    start = time.perf_counter()
    step()
    return 1000 * (time.perf_counter() - start)


def measure(rows: int, into: int, out: int) -> dict[str, tuple[float, float]]:
    """Milliseconds by torch and by ours, forward alone and with gradients: medians of calls in turn."""
    torch.manual_seed(0)
    x, weight, bias = (torch.randn(*shape, requires_grad=True) for shape in ((rows, into), (out, into), (out,)))
    gradient = torch.randn(rows, out)

    def forward(function: Callable[..., Tensor]) -> None:
        with torch.no_grad():
            function(x, weight, bias)

    def both(function: Callable[..., Tensor]) -> None:
        torch.autograd.grad(function(x, weight, bias), (x, weight, bias), gradient)

    measured = {}
    for what, step in (("forward", forward), ("with gradients", both)):
        taken: dict[Callable[..., Tensor], list[float]] = {functional.linear: [], linear: []}
        for _ in range(1 + TIMES):
            for function, times in taken.items():
                times.append(milliseconds(lambda step=step, function=function: step(function)))  # type: ignore[misc]
        theirs, ours = (statistics.median(times[1:]) for times in taken.values())
        measured[what] = theirs, ours
    return measured


def main() -> None:
    """Measure every shape and print a Markdown table."""
    torch.set_num_threads(1)
    print(f"\nMeasured with `make benchmarks` on {machine()}, one thread.\n")
    print("| a linear map | of shape | torch | ours | ratio |\n| --- | --- | ---: | ---: | ---: |")
    for name, (rows, into, out) in SHAPES.items():
        for what, (theirs, ours) in measure(rows, into, out).items():
            print(
                f"| {name}, {what} | {rows} x {into} to {out} | {theirs:.2f} ms | {ours:.2f} ms | {theirs / ours:.2f} |"
            )


if __name__ == "__main__":
    main()
