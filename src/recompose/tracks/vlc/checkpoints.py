"""The weights of CLIPs as people have them: files, tags of open_clip, and runs of ours; and models that are loaded with
them.

The activation of a model is part of it and stands in no checkpoint: weights trained with QuickGELU still load with
GELU, and score several points lower without a word. So what weights are known to be trained with goes with them.
"""

import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, cast, get_args

import open_clip
import torch
from open_clip.convert import convert_state_dict
from open_clip.transform import PreprocessCfg, image_transform_v2
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from recompose.backbones.clip import ARCHITECTURES, DESCRIPTION, Activation, Backbone, build
from recompose.digest import sha256_file
from recompose.errors import DataError
from recompose.files import read_json
from recompose.params.mistakes import nearest
from recompose.plan import recipe_of
from recompose.store import RECORD, Store
from recompose.tracks.vlc.building import CHECKPOINT, Tokenizer, restored
from recompose.tracks.vlc.suites.encoding import Preprocess

TORCHSCRIPT_CONSTANTS = ("input_resolution", "context_length", "vocab_size")  # that OpenAI's archives hold as weights
ACTIVATIONS = ("auto", "gelu", "quick_gelu")
PREPROCESSING = ("mean", "std", "interpolation", "resize_mode")  # that a tag may have of its own
TRAINED_WITH: Mapping[str, Activation] = {  # by what stands in a file's name: released without a word of it
    r"negclip": "quick_gelu",
    r"(?<![a-z])ce[-_]?clip": "quick_gelu",
    r"(?<![a-z])gnm": "quick_gelu",
    r"(?<![a-z])openai(?![a-z])": "quick_gelu",
}


@dataclass(frozen=True)
class Weights:
    """Where the weights of a model are, and what is known of them."""

    name: str
    file: Path
    sha256: str
    trained_with: Activation | None  # None where nobody knows
    tag: Mapping[str, Any] = field(default_factory=dict)  # open_clip's settings of a tag; of a file none
    run: "Run | None" = None


@dataclass(frozen=True)
class Run:
    """A run of ours."""

    document: Mapping[str, Any]
    needs: Mapping[str, Path]  # the verified folders ``run`` and ``backbone``


@dataclass(frozen=True)
class Loaded:
    """A model that can be evaluated."""

    model: nn.Module
    preprocess: Preprocess
    tokenizer: Tokenizer
    activation: Activation
    weights: Weights


def find_weights(model: str, name: str) -> Weights:
    """The weights of this name: a file, the folder of a run of ours, or a tag of open_clip, which downloads it.

    Raises:
        DataError: there is none of these, or the download fails.
        DamagedError: the run's files were changed.
    """
    path = Path(name)
    if path.is_file():
        sha256 = sha256_file(path)
        return Weights(name, path, sha256, _trained_with(path, sha256))
    if path.is_dir():
        return _of_run(model, path)
    config = open_clip.get_pretrained_cfg(model, name)
    if not config:
        tags = open_clip.list_pretrained_tags_by_model(model)
        known = f"of {model}: {', '.join(tags)}" if tags else f"{model} has none"
        raise DataError(f"weights '{name}' are no file and no tag of open_clip{nearest(name, tags)} ({known})")
    try:
        file = Path(open_clip.download_pretrained(config))
    except (OSError, RuntimeError, ValueError) as error:
        raise DataError(f"open_clip cannot get '{name}' of {model}: {str(error).splitlines()[0]}") from None
    trained = "quick_gelu" if config.get("quick_gelu") else "gelu"
    return Weights(name, file, sha256_file(file), cast(Activation, trained), config)


def _of_run(model: str, folder: Path) -> Weights:
    """The weights that a run left in its folder, and the backbone's beside it in the store."""
    try:
        recipe = recipe_of(read_json(folder / RECORD))
        store, backbone = Store(folder.resolve().parents[1]), recipe.needs["backbone"]
        checkpoint = store.file(recipe, CHECKPOINT)
        store.verify(recipe_of(read_json(store.folder(backbone) / RECORD)))  # its weights may be code
        description = read_json(store.file(backbone, DESCRIPTION))
    except (OSError, ValueError, KeyError, TypeError):
        raise DataError(f"{folder} is a folder, and no run of ours: name the file with the weights in it") from None
    if description["architecture"] != model:
        raise DataError(f"{folder} is a run of {description['architecture']}, not of {model}")
    run = Run(recipe.document, {"run": checkpoint.parent, "backbone": store.folder(backbone)})
    name = f"the run {recipe.name}"
    return Weights(name, checkpoint, sha256_file(checkpoint), description["activation"], run=run)


def choose_activation(model: str, weights: Weights, asked: str) -> tuple[Activation, tuple[str, ...]]:
    """The activation that a model runs with, and what one has to know of it.

    Raises:
        DataError: there is no such activation.

    Example:
        >>> negclip = Weights("negclip.pth", Path("negclip.pth"), "", "quick_gelu")
        >>> choose_activation("shapes-clip", negclip, "auto")
        ('quick_gelu', ())
        >>> choose_activation("shapes-clip", negclip, "gelu")[1]
        ('negclip.pth was trained with quick_gelu and runs with gelu: its scores are not those of the model',)
    """
    if asked not in ACTIVATIONS:
        raise DataError(f"there is no activation '{asked}': {', '.join(ACTIVATIONS)}")
    own = cast(Activation, "quick_gelu" if config_of(model).get("quick_gelu") else "gelu")
    chosen = cast(Activation, asked) if asked != "auto" else weights.trained_with or own
    trained = weights.trained_with
    if trained is None and asked == "auto":
        return chosen, (
            f"what {weights.name} was trained with is not known: it runs with {chosen}, as {model} does by default; "
            f"weights that descend from OpenAI's want --activation quick_gelu",
        )
    if trained is not None and trained != chosen:
        return chosen, (
            f"{weights.name} was trained with {trained} and runs with {chosen}: its scores are not those of the model",
        )
    return chosen, ()


def config_of(model: str) -> dict[str, Any]:
    """The settings of an architecture.

    Raises:
        DataError: there is none of this name.
    """
    open_clip.add_model_config(ARCHITECTURES)
    config = open_clip.get_model_config(model)
    if config is None:
        raise DataError(f"there is no architecture '{model}'{nearest(model, open_clip.list_models())}")
    return dict(config)


def load_model(model: str, weights: Weights, activation: Activation, alpha: float = 1.0) -> Loaded:
    """A model with its weights, and what its towers take of images and texts.

    A text tower that is causal computes no padding; others compute what open_clip does.

    Args:
        model: its architecture.
        weights: its weights.
        activation: what it runs with.
        alpha: of a run of ours, see ``building.restored``.

    Raises:
        DataError: the file does not hold weights of this architecture, or what is asked for is for runs alone.
    """
    if weights.run is not None:
        if activation != weights.trained_with:
            raise DataError(f"{weights.name} runs with {weights.trained_with}, as it was trained, alone")
        tuned = restored(weights.run.document, weights.run.needs, alpha)
        return Loaded(tuned, tuned.preprocess, open_clip.get_tokenizer(model), activation, weights)
    if alpha != 1:
        raise DataError("--alpha goes between the weights before and after a run of ours: name its folder as --weights")
    towers, tokenizer = _random(model, activation), open_clip.get_tokenizer(model)
    built: Any = towers.model if isinstance(towers, Backbone) else towers
    try:
        if weights.tag and not _is_torchscript(weights.file):
            open_clip.load_checkpoint(built, str(weights.file), weights_only=True)  # knows the forms of all its tags
        else:
            built.load_state_dict(convert_state_dict(built, read_state(weights)))
    except RuntimeError as error:
        if isinstance(error, DataError):
            raise
        told = " ".join(" ".join(str(error).splitlines()[1:2]).split())
        raise DataError(f"{weights.file} does not hold weights of {model}: {told}") from None
    own = {name: weights.tag[name] for name in PREPROCESSING if name in weights.tag}
    shown = PreprocessCfg(**{**built.visual.preprocess_cfg, "size": built.visual.image_size, **own})
    return Loaded(towers, image_transform_v2(shown, is_train=False), tokenizer, activation, weights)


def _random(model: str, activation: Activation) -> nn.Module:
    """A model with random weights, as a ``Backbone`` where it can be one."""
    if "stem" in config_of(model):  # one of ours, which open_clip cannot build alone
        return build(model, activation)
    quick = activation == "quick_gelu"
    built = open_clip.create_model(model, load_weights=False, pretrained_text=False, quick_gelu=quick)
    return Backbone(built, open_clip.get_tokenizer(model)) if _is_plain(built) else built


def _is_plain(model: Any) -> bool:
    """Whether a model is what ``Backbone`` takes: towers of open_clip's plain blocks, the text tower's causal and read
    at the end of text.
    """
    if type(model) is not open_clip.CLIP or model.attn_mask is None or model.text_pool_type != "argmax":
        return False
    transformer = getattr(model.visual, "transformer", None)
    blocks = [*model.transformer.resblocks, *(transformer.resblocks if transformer is not None else [])]
    plain = all(isinstance(getattr(block, "attn", None), nn.MultiheadAttention) for block in blocks)
    return plain and isinstance(model.text_projection, Tensor)


def read_state(weights: Weights) -> dict[str, Tensor]:
    """The weights in a file, by their names: of safetensors, or of a pickle that holds nothing but tensors.

    A TorchScript archive is code: of these OpenAI's alone are read, known by their digests.

    Raises:
        DataError: it is none of these, or cannot be read.
    """
    path = weights.file
    try:
        if path.suffix == ".safetensors":
            state: Any = load_file(path)
        elif _is_torchscript(path):
            if weights.sha256 not in _openai_digests():
                raise DataError(
                    f"{path} is a TorchScript archive, which is code, and not one that OpenAI published: save its "
                    f"state_dict() as .safetensors where you trust it"
                )
            state = torch.jit.load(path, map_location="cpu").state_dict()
            state = {name: tensor for name, tensor in state.items() if name not in TORCHSCRIPT_CONSTANTS}
        else:
            state = torch.load(path, map_location="cpu", weights_only=True)
    except (SafetensorError, UnpicklingError, RuntimeError, EOFError, OSError, ValueError, KeyError) as error:
        if isinstance(error, DataError):
            raise
        told = (str(error).splitlines() or [type(error).__name__])[0]
        raise DataError(
            f"{path} cannot be read as weights alone: {told}. A checkpoint that holds more is to be saved as "
            f".safetensors where you trust it"
        ) from None
    for wrapper in ("state_dict", "model"):
        if isinstance(state, Mapping) and isinstance(state.get(wrapper), Mapping):
            state = state[wrapper]
    if not isinstance(state, Mapping) or not all(isinstance(value, Tensor) for value in state.values()) or not state:
        raise DataError(f"{path} holds no weights by their names")
    return {str(name).removeprefix("module."): _in_full(tensor) for name, tensor in state.items()}


def _in_full(tensor: Tensor) -> Tensor:
    return tensor.float() if tensor.is_floating_point() else tensor


def _is_torchscript(path: Path) -> bool:
    """Whether a file is an archive that holds code."""
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return any(re.match(r"[^/]+/code/", name) for name in archive.namelist())


def _openai_digests() -> set[str]:
    """The digests of OpenAI's archives: their addresses hold them."""
    urls = (open_clip.get_pretrained_url(*each) for each in open_clip.list_pretrained())
    return {url.split("/")[-2] for url in urls if "openaipublic" in url}


def _trained_with(path: Path, sha256: str) -> Activation | None:
    """What a file's weights are known to be trained with: as a backbone of ours says beside it, by their digest, or by
    the file's name.
    """
    try:
        description = read_json(path.parent / DESCRIPTION)
        if description["weights"] == path.name and description["activation"] in get_args(Activation):
            return cast(Activation, description["activation"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    if sha256 in _openai_digests():
        return "quick_gelu"
    return next((known for pattern, known in TRAINED_WITH.items() if re.search(pattern, path.name.lower())), None)
