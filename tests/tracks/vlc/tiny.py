"""A corpus so small that tests train on it, a backbone with random weights, and stand-ins for what makes negatives."""

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import spacy
from spacy.tokens import Doc

from recompose.backbones.clip import Backbone
from recompose.backbones.pixels import PIXELS
from recompose.tracks.vlc.batches import Maker
from recompose.tracks.vlc.data.captions import Captions, write_docs
from tests.clips import random_clip, write_backbone
from tests.tracks import documents

ARCHITECTURE = "tiny-clip"
CONFIG = {
    "embed_dim": 64,
    "stem": "convolutional",
    "vision_cfg": {"image_size": 32, "patch_size": 8, "layers": 2, "width": 64, "head_width": 32},
    "text_cfg": {"context_length": 24, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 2},
}
FULL: dict[str, Any] = {"tuning": "full", "lora": {"lr": 1e-2, "rank": 4, "alpha": 1.0}}
LORA = FULL | {"tuning": "lora"}
CLIP_FT, NEGCLIP = "clip:ClipFt", "negclip:NegClip"
CE_CLIP, FSC_CLIP = "negclip:CeClip", "fsc_clip:FscClip"
KINDS = ["negclip", "replace", "bigram_shuffle"]
OWN: dict[str, dict[str, Any]] = {  # class -> what it is set to besides
    CLIP_FT: {},
    NEGCLIP: {},
    CE_CLIP: {
        **{"negatives": KINDS[:2], "rank_weight": 0.2, "contrast_weight": 0.3},
        **{"threshold": 10.0, "intra_modal_target": "first"},
    },
    FSC_CLIP: {
        **{"negatives": KINDS, "global_weight": 0.5, "local_weight": 0.2},
        **{"gamma": 2.0, "beta": 0.02, "missing": "zero", "weights": "minmax"},
    },
}
METHODS = list(OWN)
RATES: dict[str, Any] = {
    "lr": 1e-3,
    "weight_decay": 0.1,
    "warmup_steps": 2,
    "batch_size": 4,
    "chunk": None,
    "epochs": 3,
}
PATHS = ["a.png", "b.png", "a.png", "c.png", "d.png", "b.png", "e.png", "f.png", "g.png"]  # a row each
CAPTIONS = [
    "a red circle above a blue square",
    "two green stars",
    "a red circle",
    "a small striped triangle left of a large ring",
    "three squares",
    "stars",
    "a blue cross inside a ring",
    "a dotted square and a plain square",
    "a circle below a triangle",
]


def backbone_of(seed: int = 0) -> Backbone:
    """A backbone with random weights."""
    return random_clip(seed, ARCHITECTURE, config=CONFIG)


def document(method: str, settings: dict[str, Any] = FULL, **training: Any) -> dict[str, Any]:
    """What a run is carried out by."""
    own = OWN[method] | settings | {"training": RATES | training}
    return documents.document(f"recompose.tracks.vlc.methods.{method}", own)


def write(folder: Path, paths: Sequence[str] = PATHS, captions: Sequence[str] = CAPTIONS) -> dict[str, Path]:
    """The folders that a run needs."""
    needs = {name: folder / name for name in ("data", "pixels", "backbone")}
    for path in needs.values():
        path.mkdir(parents=True)
    Captions(tuple(paths), tuple(captions)).write(needs["data"])
    vocabulary = spacy.blank("en").vocab
    write_docs([Doc(vocabulary, caption.split()) for caption in captions], needs["data"])
    np.save(needs["pixels"] / PIXELS, images(len(set(paths))))
    write_backbone(backbone_of(), needs["backbone"], ARCHITECTURE)
    return needs


def images(count: int) -> np.ndarray:
    """Bytes [count, 3, 32, 32]."""
    return np.random.default_rng(3).integers(0, 256, (count, 3, 32, 32), dtype=np.uint8)


def swapped(doc: Doc, rng: Random) -> str | None:
    """A caption with two of its words swapped; one word alone has no negative."""
    words = [token.text for token in doc]
    if len(words) < 2:
        return None
    first, second = rng.sample(range(len(words)), 2)
    words[first], words[second] = words[second], words[first]
    return " ".join(words)


def replaced(doc: Doc, rng: Random) -> str | None:
    """A caption with one of its words replaced, if it has more than two."""
    words = [token.text for token in doc]
    if len(words) < 3:
        return None
    words[rng.randrange(len(words))] = rng.choice(["cube", "yellow", "behind"])
    return " ".join(words)


MAKERS = {"negclip": swapped, "replace": replaced, "bigram_shuffle": swapped}


def stand_ins(kinds: Sequence[str], _: Path, docs: Sequence[Doc], __: object = ()) -> list[Maker]:
    """In place of ``batches.makers``."""
    return [of_rows(MAKERS[kind], docs) for kind in kinds]


def of_rows(rule: Callable[[Doc, Random], str | None], docs: Sequence[Doc]) -> Maker:
    """The maker that applies a rule to a row's caption."""
    return lambda row, rng: rule(docs[row], rng)
