"""Compares the released small CLIPs with ones pretrained here from nothing, by accuracy without tuning.

Usage: ``python -m benchmarks.backbones [NAME ...] [--seeds 3] [--folder FOLDER]``. Pretraining takes from two to twelve
minutes for each seed and backbone on one core; what is there from an earlier call is not made again.
"""

import argparse
from pathlib import Path
from statistics import mean, stdev

import numpy as np
import torch
from torch.nn.functional import normalize

from recompose.backbones.clip import Backbone, load
from recompose.files import SCRATCH
from recompose.params import Pretrained
from recompose.plan import CORPORA
from recompose.tracks.track import function
from recompose.training.hardware import Hardware
from recompose.workspace import Workspace

NAMES = ("shapes-clip", "shapes-resnet", "shapes-clip-fine", "shapes-clip-sentences")
HELD_OUT = 2000  # scenes that no pretraining has seen
HELD_OUT_SEED = 99_991
AMONG = 100  # captions that an image has to be told from
CPU = Hardware("32-true", "cpu", 1)


def main() -> None:
    """Print, for each backbone, the accuracy of the released weights and of those made here."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES, help="backbones that are released")
    parser.add_argument("--seeds", type=int, default=3, help="pretrainings of each")
    parser.add_argument("--folder", type=Path, default=Path("results/benchmarks/backbones"))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    work = Workspace(Path.cwd())
    for name in arguments.names:
        section = work.params.backbones[f"{name}-from-scratch"]
        assert isinstance(section, Pretrained)
        images, captions = _held_out(section, arguments.folder)
        asset = work.params.backbones[name].asset  # type: ignore[union-attr]
        released = _accuracy(load(section.architecture, section.activation, work.assets / asset.file), images, captions)
        made = [
            _accuracy(_pretrained(section, seed, arguments.folder / name / str(seed)), images, captions)
            for seed in range(arguments.seeds)
        ]
        spread = stdev(made) if len(made) > 1 else float("nan")
        print(
            f"{name}: released {released:.2f} %, made here {mean(made):.2f} % +- {spread:.2f} (n = {len(made)}): "
            f"{', '.join(f'{value:.2f}' for value in made)}; "
            f"{'within' if min(made) - spread <= released <= max(made) + spread else 'OUTSIDE'} the spread of seeds",
            flush=True,
        )


def _pretrained(section: Pretrained, seed: int, folder: Path) -> Backbone:
    from recompose.training.pretraining import WEIGHTS, pretrain

    if not (folder / WEIGHTS).exists():
        (folder / SCRATCH).mkdir(parents=True, exist_ok=True)
        corpus = folder.parent / f"corpus-{seed}"
        if not corpus.exists():
            _write_corpus(section, corpus, section.scenes, seed)
        budget = section.model_dump(include={"epochs", "batch_size", "lr", "weight_decay"})
        pretrain(section.architecture, section.activation, corpus, folder, CPU, seed=seed, **budget)
    return load(section.architecture, section.activation, folder / WEIGHTS)


def _write_corpus(section: Pretrained, folder: Path, scenes: int, seed: int) -> None:
    function(f"{CORPORA[section.corpus]}:write_corpus")(folder, scenes=scenes, seed=seed)


def _held_out(section: Pretrained, folder: Path) -> tuple[torch.Tensor, list[str]]:
    """Return images [scenes, 3, height, width] as bytes and their captions, of scenes that nothing was trained on."""
    from recompose.synthetic.scenes import read_corpus

    corpus = folder / f"held-out-{section.corpus}"
    if not corpus.exists():
        corpus.parent.mkdir(parents=True, exist_ok=True)
        _write_corpus(section, corpus, HELD_OUT, HELD_OUT_SEED)
    pictures, captions = zip(*read_corpus(corpus), strict=True)
    pixels = torch.from_numpy(np.stack([np.asarray(picture) for picture in pictures])).permute(0, 3, 1, 2)
    return pixels, list(captions)


@torch.no_grad()
def _accuracy(backbone: Backbone, images: torch.Tensor, captions: list[str]) -> float:
    """Return how often, in percent, an image is nearest to its own caption among those of a block of scenes."""
    right = 0
    for start in range(0, len(captions) - AMONG + 1, AMONG):
        block = slice(start, start + AMONG)
        seen = normalize(backbone.encode_image(backbone.from_bytes(images[block])), dim=-1)
        texts = normalize(backbone.encode_text(backbone.tokens(captions[block])), dim=-1)
        right += int((seen @ texts.T).argmax(dim=1).eq(torch.arange(AMONG)).sum())
    return 100 * right / (len(captions) // AMONG * AMONG)


if __name__ == "__main__":
    main()
