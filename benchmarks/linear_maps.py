"""Linear maps beside torch's own, on one thread, at shapes of the demo: ``make benchmarks``.

What was chosen for this processor may take no more than 1.03 of torch's own time at any shape; what oneDNN would take
stands beside it.
"""

import time
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.machine import machine
from recompose.backbones.linear import linear
from recompose.kernels import choose_linear, describe_linear
from recompose.machine import onednn_from
from recompose.probe import SHAPES

NAMES = (
    "texts of pairs that look at images",
    "tokens of captions, widened",
    "tokens of captions, narrowed",
    "tokens of captions, to queries, keys and values",
    "tokens of pairs",
)
TIMES = 40  # each, in turn
MOST = 1.03  # of torch's time


def milliseconds(step: Callable[[], object]) -> float:
    """Return what one call takes of the processor's time: others may be using the machine."""
    start = time.process_time()
    step()
    return 1000 * (time.process_time() - start)


def by(multiplications: int | None) -> Callable[..., Tensor]:
    """Return our linear map where oneDNN takes those of so many multiplications."""

    def mapped(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        choose_linear(multiplications)
        return linear(x, weight, bias)

    return mapped


def measure(rows: int, into: int, out: int, chosen: int | None) -> dict[str, list[float]]:
    """Return milliseconds by torch, by what was chosen and by oneDNN, forward alone and with gradients: of the fastest
    of calls in turn.
    """
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
        taken: dict[Callable[..., Tensor], list[float]] = {functional.linear: [], by(chosen): [], by(0): []}
        for _ in range(1 + TIMES):
            for function, times in taken.items():
                times.append(milliseconds(lambda step=step, function=function: step(function)))  # type: ignore[misc]
        measured[what] = [min(times[1:]) for times in taken.values()]
    return measured


def main() -> None:
    """Measure every shape and print a Markdown table."""
    torch.set_num_threads(1)
    chosen, worst = onednn_from("auto"), 0.0
    print(f"\nMeasured with `make benchmarks` on {machine()}, one thread; chosen: {describe_linear(chosen)}.\n")
    print("| a linear map | of shape | torch | chosen | ratio | oneDNN |\n| --- | --- | ---: | ---: | ---: | ---: |")
    for name, (rows, into, out) in zip(NAMES, SHAPES, strict=True):
        for what, (torchs, ours, onednn) in measure(rows, into, out, chosen).items():
            worst = max(worst, ours / torchs)
            times = f"{torchs:.2f} ms | {ours:.2f} ms | {ours / torchs:.2f} | {onednn:.2f} ms"
            print(f"| {name}, {what} | {rows} x {into} to {out} | {times} |")
    print(f"\nThe chosen kernel takes {worst:.2f} of torch's time at most; the limit is {MOST}.")


if __name__ == "__main__":
    main()
