"""What exact evaluation costs beside the field's way, in time and memory: ``make benchmarks``.

Each measurement is a process of its own, so that peaks of memory do not mix. The reference holds the whole matrix of
scores and asks for the best pair at each bias of the field's evaluator: the straightforward way, without that
evaluator's dozen copies.
"""

import resource
import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from benchmarks.machine import machine
from recompose.tracks.czsl.metrics.czsl import Evaluator, report_of
from recompose.tracks.czsl.metrics.feasibility import LadderBuilder
from recompose.tracks.czsl.metrics.thresholds import best_threshold
from recompose.tracks.czsl.metrics.worlds import IMAGE_BLOCK, PAIR_BLOCK

MIT_STATES = {"images": 3_000, "states": 115, "objects": 245, "seen": 1_262, "width": 16}
MIT_STATES_VAL = MIT_STATES | {"images": 10_420}
CGQA_TEST = {"images": 5_098, "states": 413, "objects": 674, "seen": 5_592, "width": 768}
REPEATS = 3


class Problem:
    """Generated embeddings in which an image is near its pair's text, and a pair's text near those of its state and
    object.
    """

    def __init__(self, images: int, states: int, objects: int, seen: int, width: int) -> None:
        draw = torch.Generator().manual_seed(0)
        self.states, self.objects = (
            torch.randn(states, width, generator=draw),
            torch.randn(objects, width, generator=draw),
        )
        self.pairs = states * objects
        self.seen = np.zeros(self.pairs, dtype=bool)
        self.seen[torch.randperm(self.pairs, generator=draw)[:seen].numpy()] = True
        self.feasibility = torch.rand(self.pairs, generator=draw, dtype=torch.float64).numpy()
        kinds = [torch.from_numpy(np.flatnonzero(self.seen == kind)) for kind in (True, False)]
        drawn = [kind[torch.randint(len(kind), (images // 2,), generator=draw)] for kind in kinds]
        self.targets = torch.cat(drawn).numpy()
        noise = torch.randn(len(self.targets), width, generator=draw)
        self.images = self.texts(self.targets) + noise / 2

    def texts(self, pairs: np.ndarray) -> Tensor:
        """Embeddings [pairs, width], as a text tower would give them for a block."""
        state, name = np.divmod(pairs, len(self.objects))
        return self.states[state] + self.objects[name]

    def blocks(self) -> Iterator[tuple[Tensor, np.ndarray, np.ndarray]]:
        """Scores, images and pairs, block by block."""
        order = np.lexsort((-self.feasibility, ~self.seen))
        for start in range(0, self.pairs, PAIR_BLOCK):
            pairs = order[start : start + PAIR_BLOCK]
            texts = self.texts(pairs)
            for first in range(0, len(self.images), IMAGE_BLOCK):
                images = np.arange(first, min(first + IMAGE_BLOCK, len(self.images)))
                yield self.images[images] @ texts.T, images, pairs


def reference(problem: Problem) -> float:
    """AUC by the whole matrix and the best pair at each of the field's biases."""
    scores = problem.images @ problem.texts(np.arange(problem.pairs)).T
    targets, seen = torch.from_numpy(problem.targets), torch.from_numpy(problem.seen)
    shown = seen[targets]

    def accuracies(bias: float) -> tuple[float, float]:
        right = (scores + bias * ~seen).topk(1, dim=1).indices[:, 0] == targets
        return float(right[shown].float().mean()), float(right[~shown].float().mean())

    highest = (scores + 1e3 * ~seen).topk(1, dim=1).indices[:, 0] == targets
    best_seen = scores[:, seen].topk(1, dim=1).values[:, 0]
    true = scores.gather(1, targets[:, None])[:, 0]
    turns = (best_seen - true)[~shown & highest].sort().values - 1e-4
    biases = [*turns[:: max(len(turns) // 20, 1)].tolist(), 1e3]
    points = [accuracies(bias) for bias in biases]
    return float(np.trapezoid([seen for seen, _ in points], [unseen for _, unseen in points]))


def ours(problem: Problem) -> float:
    """AUC over the same biases from blocks."""
    return report_of(_fed(problem).best(), "field").auc


def _fed(problem: Problem) -> Evaluator:
    evaluator = Evaluator(problem.targets, problem.seen)
    for block in problem.blocks():
        evaluator.update(*block)
    return evaluator


def dense(problem: Problem) -> float:
    """AUC over every bias from blocks."""
    return report_of(_fed(problem).best()).auc


def search(problem: Problem) -> float:
    """The threshold of feasibility with the best AUC, over all of them."""
    builder = LadderBuilder(problem.targets, problem.seen, problem.feasibility)
    for block in problem.blocks():
        builder.update(*block)
    return best_threshold(builder.ladder())


PROBLEMS = {"mit-states": MIT_STATES, "mit-states-val": MIT_STATES_VAL, "cgqa": CGQA_TEST}
MEASURED = {function.__name__: function for function in (reference, ours, dense, search)}


def peak() -> float:
    """The most memory that this process has held, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def child(name: str, problem: str) -> None:
    """Measure in this process: prints seconds, MiB in all, MiB beyond what the problem itself holds, and the result."""
    given = Problem(**PROBLEMS[problem])
    before, seconds = peak(), []
    for _ in range(REPEATS):
        start = time.perf_counter()
        result = MEASURED[name](given)
        seconds.append(time.perf_counter() - start)
    print(min(seconds), peak(), peak() - before, result)


def measure(name: str, problem: str) -> tuple[float, float, float, float]:
    """Measure in a process of its own."""
    command = (sys.executable, "-m", "benchmarks.evaluation", name, problem)
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds, total, beyond, result = map(float, done.stdout.split())
    return seconds, total, beyond, result


def main() -> None:
    """Measure everything and print a Markdown table."""
    slow, fast = measure("reference", "mit-states"), measure("ours", "mit-states")
    once, found = measure("dense", "mit-states-val"), measure("search", "mit-states-val")
    large = measure("dense", "cgqa")
    images = CGQA_TEST["images"] / large[0]
    if abs(slow[3] - fast[3]) > 1e-4:
        sys.exit(f"the reference's AUC is {slow[3]}, ours {fast[3]}: they have to agree")
    rows = [
        (
            "MIT-States open world, 3,000 images x 28,175 pairs, the field's biases: reference / ours, time",
            f"{slow[0]:.2f} s / {fast[0]:.2f} s = {slow[0] / fast[0]:.0f}",
            "at least 20",
        ),
        (
            "the same, memory beyond the embeddings: ours / reference",
            f"{fast[2]:.0f} MiB / {slow[2]:.0f} MiB = {fast[2] / slow[2]:.3f}",
            "at most 0.1",
        ),
        (
            "C-GQA open world, 5,098 images x 278,362 pairs, width 768, scores included: peak of the process",
            f"{large[1] / 1024:.2f} GiB, {images:.0f} images/s",
            "2 GiB",
        ),
        (
            "MIT-States validation, 10,420 images: exact search of the threshold / one evaluation, time",
            f"{found[0]:.2f} s / {once[0]:.2f} s = {found[0] / once[0]:.2f}",
            "3",
        ),
    ]
    print(f"Measured with `make benchmarks` on {machine()}.\n")
    print("| what | measured | bound |\n| --- | ---: | ---: |")
    for row in rows:
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    child(*sys.argv[1:]) if sys.argv[1:] else main()
