"""What training on attribution costs at ViT-B/32, beside a training step of CLIP's own loss: seconds and memory:
``python -m benchmarks.attribution``.

A step is the contrast of images with captions and a loss of scores, whose derivatives are taken again, in parts that
are computed again as ``methods.parts.chunks`` does. Weights and captions are random: they do not matter for the time.
On a GPU the batch is the paper's, of 256; on a CPU it is two parts, each measurement in a process of its own: memory
does not grow with the number of parts but by what they give, and seconds are those of an image.
"""

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from benchmarks.machine import machine
from recompose.backbones.clip import Backbone, build
from recompose.tracks.vlc.attribution.by_attention import attention
from recompose.tracks.vlc.attribution.by_gradcam import gradcam
from recompose.tracks.vlc.attribution.by_gradient import gradient
from recompose.tracks.vlc.attribution.by_perturbation import perturbation
from recompose.tracks.vlc.losses import contrastive_loss

ROOT = Path(__file__).parent.parent
BATCH = 256
LENGTH = 32  # tokens of the longest caption of a batch; of COCO's most have 9 to 20
PERTURBATIONS = 6  # of a caption: two of each of three concepts
METHODS = ("none", "attention", "gradcam", "perturbation", "gradient")
CHUNKS = {"cuda": (256, 128, 64, 32), "cpu": (8, 16)}


def scores_of(method: str, backbone: Backbone, images: Tensor, ids: Tensor, perturbed: Tensor) -> Tensor:
    """Scores [n, LENGTH] of a part of a batch."""
    match method:
        case "attention":
            return attention(backbone, images, ids)
        case "gradcam":
            return gradcam(backbone, images, ids, create_graph=True)
        case "gradient":
            return gradient(backbone, images, ids, create_graph=True)
        case "perturbation":
            changed = torch.zeros(*perturbed.shape, dtype=torch.bool, device=ids.device)
            for number in range(PERTURBATIONS):
                changed[:, number, 1 + number % 3] = True
            return perturbation(backbone, images, ids, perturbed, changed)
    return torch.zeros(ids.shape, device=ids.device)


class Step(nn.Module):
    """A training step on a batch that is represented a part at a time."""

    def __init__(self, method: str, chunk: int, batch: int, device: str) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.method, self.chunk = method, chunk
        self.backbone = build("ViT-B-32", "quick_gelu").to(device).train()
        self.optimizer = torch.optim.AdamW(self.backbone.parameters(), lr=0.0)
        self.pixels = torch.randn(batch, 3, 224, 224, device=device)
        self.ids, self.perturbed = (captions(count * batch).to(device) for count in (1, PERTURBATIONS))
        self.perturbed = self.perturbed.view(batch, PERTURBATIONS, LENGTH)

    def represent(self, pixels: Tensor, ids: Tensor, perturbed: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Embeddings of images and of texts, and scores."""
        images = self.backbone.encode_image(pixels)
        return images, self.backbone.encode_text(ids), scores_of(self.method, self.backbone, images, ids, perturbed)

    def forward(self) -> None:
        """Take a step."""
        self.optimizer.zero_grad()
        batch = zip(*(each.split(self.chunk) for each in (self.pixels, self.ids, self.perturbed)), strict=True)
        if self.chunk < len(self.pixels):
            parts = [checkpoint(self.represent, *part, use_reentrant=False) for part in batch]
        else:
            parts = [self.represent(*part) for part in batch]
        images, texts, scores = (torch.cat(each) for each in zip(*parts, strict=True))
        loss = contrastive_loss(images, texts, self.backbone.logit_scale)
        (loss + (scores[:, 1] - scores[:, 2]).relu().mean()).backward()
        self.optimizer.step()


def captions(count: int) -> Tensor:
    """Token ids [count, LENGTH] of which the first is as long as can be."""
    ids = torch.randint(1000, 40000, (count, LENGTH))
    ids[:, 0] = 49406
    for row, end in enumerate([LENGTH - 1, *torch.randint(8, LENGTH, (count - 1,)).tolist()]):
        ids[row, end], ids[row, end + 1 :] = 49407, 0
    return ids


def measure(method: str, chunk: int) -> None:
    """Print seconds of a step, after a first one, and GiB at the peak."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    batch = BATCH if device == "cuda" else 2 * chunk
    step = Step(method, chunk, batch, device)
    step()
    start = seconds()
    step()
    taken = seconds() - start
    gpu = device == "cuda"
    peak = torch.cuda.max_memory_allocated() / 2**30 if gpu else 0.0
    print(taken / batch, peak or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)


def seconds() -> float:
    """Now, once all that was asked for is done; of a CPU those that the process had, which others share."""
    if not torch.cuda.is_available():
        return time.process_time()
    torch.cuda.synchronize()
    return time.perf_counter()


def main() -> None:
    """Measure everything and print a Markdown table."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    where = torch.cuda.get_device_name() if device == "cuda" else f"{machine()}, one thread"
    print(
        f"Measured with `python -m benchmarks.attribution` on {where}: ViT-B/32, captions of up to {LENGTH} tokens.\n"
    )
    print(f"| attribution | images of a part | ms an image | s a batch of {BATCH} | peak |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for method in METHODS:
        for chunk in CHUNKS[device]:
            command = (sys.executable, "-m", "benchmarks.attribution", method, str(chunk))
            done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT, env=os.environ)
            each, peak = map(float, done.stdout.split())
            print(f"| {method} | {chunk} | {1000 * each:.1f} | {BATCH * each:.1f} | {peak:.1f} GiB |", flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    measure(sys.argv[1], int(sys.argv[2])) if len(sys.argv) > 1 else main()
