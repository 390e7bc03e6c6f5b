"""A corpus so small that tests train on it, a backbone with random weights, and stand-ins for what makes negatives."""

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import open_clip
import spacy
import torch
from safetensors.torch import save_file
from spacy.tokens import Doc

from recompose.backbones.clip import DESCRIPTION, Backbone, build
from recompose.backbones.pixels import PIXELS
from recompose.files import write_json
from recompose.tracks.vlc.batches import Maker
from recompose.tracks.vlc.data.captions import Captions, write_docs

ARCHITECTURE = "tiny-clip"
_CONFIG = {
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
    register()
    torch.manual_seed(seed)
    return build(ARCHITECTURE, "gelu").eval()


@cache
def register() -> None:
    """Tell open_clip of the architecture."""
    with TemporaryDirectory() as folder:
        (Path(folder) / f"{ARCHITECTURE}.json").write_text(json.dumps(_CONFIG))
        open_clip.add_model_config(folder)


def narrowed(architecture: str) -> str:
    """An architecture of open_clip with one narrow block in each tower, and all else as it is; its name."""
    config = open_clip.get_model_config(architecture)
    assert config is not None
    config["vision_cfg"] |= {"image_size": 32, "patch_size": 16, "layers": 1, "width": 64}
    config["text_cfg"] |= {"width": 16, "heads": 2, "layers": 1}
    with TemporaryDirectory() as folder:
        (Path(folder) / f"narrow-{architecture}.json").write_text(json.dumps(config | {"embed_dim": 16}))
        open_clip.add_model_config(folder)
    return f"narrow-{architecture}"


def activations(model: torch.nn.Module) -> set[str]:
    """What the blocks of a model do to -3, ..., 3."""
    x = torch.linspace(-3, 3, 7)
    known = {"gelu": torch.nn.functional.gelu(x), "quick_gelu": x * torch.sigmoid(1.702 * x)}
    result = [each(x) for name, each in model.named_modules() if name.endswith("mlp.gelu")]
    assert len(result) == 2  # a block in each tower
    return {name for name, expected in known.items() for each in result if torch.allclose(each, expected, atol=1e-6)}


def document(method: str, settings: dict[str, Any] = FULL, seed: int = 0, **training: Any) -> dict[str, Any]:
    """What a run is carried out by."""
    return {
        "class": f"recompose.tracks.vlc.methods.{method}",
        "settings": OWN[method] | settings | {"training": RATES | training},
        "seed": seed,
        "trainer": {"precision": "32-true", "threads": 1},
    }


def write(folder: Path, paths: Sequence[str] = PATHS, captions: Sequence[str] = CAPTIONS) -> dict[str, Path]:
    """The folders that a run needs."""
    needs = {name: folder / name for name in ("data", "pixels", "backbone")}
    for path in needs.values():
        path.mkdir(parents=True)
    Captions(tuple(paths), tuple(captions)).write(needs["data"])
    vocabulary = spacy.blank("en").vocab
    write_docs([Doc(vocabulary, caption.split()) for caption in captions], needs["data"])
    np.save(needs["pixels"] / PIXELS, images(len(set(paths))))
    write_json(
        needs["backbone"] / DESCRIPTION,
        {"architecture": ARCHITECTURE, "activation": "gelu", "weights": "weights.safetensors"},
    )
    save_file(backbone_of().model.state_dict(), needs["backbone"] / "weights.safetensors")
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
