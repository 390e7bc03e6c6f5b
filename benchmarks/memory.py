"""The memory of a training step on C-GQA with CLIP ViT-L/14, counted: ``python -m benchmarks.memory``.

A step of the settings that papers use, in 32 bits, is carried out on tensors without contents (torch's device
``meta``), and the bytes of all that live at a time are summed: weights, gradients, the optimizer's state, and what the
backward pass needs. Attention counts as the fused one that GPUs have. CUDA itself takes some 0.5 GiB more, and its
allocator cannot use all that it takes.

Duplex' prototypes and graphs depend on labels: they are counted apart, on random features of a batch, and added.
"""

import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor
from torch.nn.functional import normalize
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from benchmarks.methods import build_method
from recompose.backbones import attention as self_attention
from recompose.backbones.clip import outline
from recompose.tracks.czsl.methods import attention as cross_attention
from recompose.tracks.czsl.methods.base import TrainingPrior
from recompose.tracks.czsl.methods.duplex import Duplex
from recompose.tracks.czsl.methods.three_path import Views

NAMES, SEEN, CLOSED = (413, 674), 5592, 7767  # of C-GQA: states and objects, pairs of training, of the closed world
COUNTED = ("troika", "msci", "duplex")
BATCH, BOUND = 48, 24.0  # images; GiB of the GPU
GIB = 2**30


class Living(TorchDispatchMode):
    """Counts the bytes of the tensors that operations give, for as long as these live."""

    def __init__(self) -> None:
        super().__init__()
        self.now = self.peak = 0
        self._known: set[int] = set()

    def add(self, tensor: Tensor) -> None:
        """Count a tensor; those that share its memory are counted once."""
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key not in self._known:
            self._known.add(key)
            self.now += storage.nbytes()
            self.peak = max(self.peak, self.now)
            weakref.finalize(storage, self._gone, key, storage.nbytes())

    def _gone(self, key: int, count: int) -> None:
        self._known.discard(key)
        self.now -= count

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Carry out an operation, and count what it gives."""
        made = function(*args, **(kwargs or {}))
        for each in tree_leaves(made):
            if isinstance(each, Tensor):
                self.add(each)
        return made


def fused(queries: Tensor, keys: Tensor, values: Tensor, attn_mask: Tensor | None = None) -> Tensor:
    """Attention that keeps no weights, which torch would not choose for tensors without contents."""
    attend = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    attended: Tensor = attend(queries, keys, values, 0.0, False, attn_mask=attn_mask)[0]
    return attended


@contextmanager
def without_contents() -> Iterator[None]:
    """What torch lacks for tensors without contents."""
    with (
        patch.object(self_attention, "scaled_dot_product_attention", fused),
        patch.object(cross_attention, "scaled_dot_product_attention", fused),
        patch.object(torch, "autocast", lambda *_, **__: nullcontext()),
    ):
        yield


def counted(method: Any, batch: int) -> tuple[float, float]:
    """GiB of a method and its backbone, and at the peak of a step."""
    method = method.to("meta").train()
    living = Living()
    for tensor in (*method.parameters(), *method.buffers()):
        living.add(tensor)
    held = living.now
    pixels = torch.empty(batch, 3, 224, 224, dtype=torch.uint8, device="meta")
    targets = torch.empty(batch, dtype=torch.long, device="meta")
    pairs = torch.empty(SEEN, 2, dtype=torch.long, device="meta")
    with without_contents(), living:
        trained = [parameter for parameter in method.parameters() if parameter.requires_grad]
        moments = [torch.zeros_like(parameter) for parameter in trained for _ in range(2)]  # Adam's, fused
        method.loss(pixels, targets, pairs).backward()
    assert len(moments) == 2 * len(trained)
    return held / GIB, living.peak / GIB


def prototypes(method: Duplex, batch: int) -> float:
    """GiB that prototypes of the closed world and a batch's graph take, forward and backward; leaves the method
    without both.
    """
    torch.manual_seed(0)
    width, living = method.backbone.width, Living()
    every = torch.cartesian_prod(*(torch.arange(count) for count in NAMES))
    method.prepare(TrainingPrior(every[torch.randperm(len(every))[:CLOSED]], torch.randn(9, width), every[:9]))
    method.backbone.model.logit_scale = torch.nn.Parameter(torch.tensor(4.6), requires_grad=False)
    with living:
        drawn = [normalize(torch.randn(batch, width), dim=-1).requires_grad_() for _ in range(3)]
        posteriors = [torch.randn(batch, count).softmax(dim=-1) for count in NAMES]
        views = Views(*drawn, tokens=())
        labels = method.target[torch.randint(CLOSED, (batch,))]
        refined, _ = method.refine(views, labels, *posteriors)
        method.prototype_logits(views, refined).logsumexp(dim=1).sum().backward()
    method.loss_weights = [*method.loss_weights[:3], 0.0]
    return living.peak / GIB


def main(batch: int) -> None:
    """Count, and print a Markdown table."""
    print(f"| a step on {batch} images x {SEEN:,} pairs, ViT-L/14, 32 bits | weights and buffers | peak | bound |")
    print("| --- | ---: | ---: | ---: |")
    for name in COUNTED:
        method = build_method(name, "cgqa", outline("ViT-L-14", "quick_gelu"), NAMES)
        more = prototypes(method, batch) if isinstance(method, Duplex) else 0.0
        held, peak = counted(method, batch)
        print(f"| {name} | {held:.1f} GiB | {peak + more:.1f} GiB | {BOUND:.0f} GiB |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else BATCH)
