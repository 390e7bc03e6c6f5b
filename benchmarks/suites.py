"""Time the evaluation of a CLIP on a suite beside scoring its items one by one with open_clip: ``make benchmarks``.

The suite is drawn, in SugarCrepe's shape: 4.8 items for an image, 1.6 texts for an item, of 11 words on average. The
model has random weights, which do not matter for the time. Both start from the same files and end with scores.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import open_clip
import torch
from PIL import Image
from torch.nn.functional import normalize

from benchmarks.machine import machine
from recompose.backbones.clip import Backbone, tokenizer_of
from recompose.harness.encoding import encode
from recompose.tracks.vlc.data.formats.suite_files import SuiteFiles
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.tasks import Choices

MODEL, ITEMS, IMAGES, TEXTS = "ViT-B-32", 72, 15, 114  # of 7,511 items, 1,560 images and 11,844 texts
REPEATS = 40  # of the texts, where they are only tokenized
SUBTASK = "sugarcrepe/replace_obj"
WORDS = ("a", "the", "man", "dog", "bus", "red", "small", "on", "under", "and", "two", "street", "table", "near", "old")
CPU = torch.device("cpu")


def drawn(root: Path) -> Suite:
    """Return a suite of SugarCrepe's shape, with its images."""
    rng, files = np.random.default_rng(0), SuiteFiles(root, "sugarcrepe", "sugarcrepe", "sugarcrepe", "")
    for number in range(IMAGES):
        pixels = Image.fromarray(rng.integers(0, 256, (12, 16, 3), dtype=np.uint8)).resize((640, 480))
        pixels.save(root / f"{number}.jpg", quality=90)
    texts = [" ".join(rng.choice(WORDS, rng.integers(8, 15))) for _ in range(TEXTS)]
    # true captions stand in several items, false ones in one
    true, false = texts[: TEXTS - ITEMS], texts[TEXTS - ITEMS :]
    items = [(f"{item % IMAGES}.jpg", [true[item % len(true)], false[item]], 0) for item in range(ITEMS)]
    return files.suite({SUBTASK.rpartition("/")[2]: files.choices("i2t", items)})


def one_by_one(
    model: open_clip.CLIP, preprocess: Callable, tokenizer: Callable, suite: Suite, root: Path
) -> np.ndarray:
    """Return scores [items, captions] in the plain way: an image and its captions at a time."""
    task = suite.tasks[SUBTASK]
    assert isinstance(task, Choices)
    scores = []
    for asked, offered in zip(task.asked, task.offered, strict=True):
        with Image.open(root / suite.images[asked].path) as image:
            pixels = preprocess(image).unsqueeze(0)
        ids = tokenizer([suite.texts[caption] for caption in offered])
        image_features = normalize(model.encode_image(pixels), dim=-1)
        scores.append((image_features @ normalize(model.encode_text(ids), dim=-1).T)[0].numpy())
    return np.stack(scores)


def ours(model: Backbone, preprocess: Callable, suite: Suite, root: Path) -> np.ndarray:
    """Return the same scores as the harness computes them."""
    with tempfile.TemporaryDirectory() as folder:
        encoded = encode(model, preprocess, model.tokenizer, [suite], root, Path(folder), CPU)
        return suite.scores(encoded.features(suite))[SUBTASK]


def timed(function: Callable[..., np.ndarray], *arguments: object) -> tuple[float, np.ndarray]:
    """Return the seconds that a call takes, and its result."""
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


@torch.no_grad()
def main() -> None:
    """Measure both in turn and print a Markdown table."""
    torch.manual_seed(0)
    plain, _, preprocess = open_clip.create_model_and_transforms(MODEL)
    plain, tokenizer = plain.eval(), open_clip.get_tokenizer(MODEL)
    copied = open_clip.create_model(MODEL)
    copied.load_state_dict(plain.state_dict())
    towers = Backbone(copied, tokenizer_of(MODEL)).eval()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        suite = drawn(root)
        plain.encode_image(preprocess(suite.images[0].open(root)).unsqueeze(0))  # the first pass is slower
        slow, expected = timed(one_by_one, plain, preprocess, tokenizer, suite, root)
        fast, scores = timed(ours, towers, preprocess, suite, root)
    texts = list(suite.texts) * REPEATS
    slow_ids, ids = timed(lambda: tokenizer(texts).numpy())
    fast_ids, own_ids = timed(lambda: towers.tokenizer(texts).numpy())
    if not np.array_equal(ids, own_ids):
        sys.exit("token ids differ")
    difference = float(np.abs(scores - expected).max())
    if difference > 1e-4:
        sys.exit(f"scores differ by {difference:.1e}: they have to agree")
    print(f"Measured with `make benchmarks` on {machine()}, one thread.\n")
    print("| what | measured | bound |\n| --- | ---: | ---: |")
    print(
        f"| {MODEL} in 32 bits, {ITEMS} items, {len(suite.images)} images, {len(suite.texts)} texts: one by one with "
        f"open_clip / ours, time | {slow:.1f} s / {fast:.1f} s = {slow / fast:.1f} | at least 3 |"
    )
    print(f"| the same, the largest difference of scores | {difference:.0e} | 1e-4 |")
    print(
        f"| {len(texts)} texts tokenized: open_clip / ours, time | {slow_ids:.2f} s / {fast_ids:.2f} s = "
        f"{slow_ids / fast_ids:.1f} | at least 4 |"
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
