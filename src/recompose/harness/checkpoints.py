"""Weights of CLIPs from files, tags of open_clip and runs of Recompose, and models loaded with them.

A file of weights states neither the activation nor the preprocessing of its model. With others, it loads without an
error, and scores several points lower. Both are then assumed, which is an ``Assumption`` in the results, unless the
user names the tag of open_clip that they are those of.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import mode
from typing import Any, Literal, cast, get_args

import open_clip
from open_clip.factory import parse_model_name
from open_clip.pretrained import HF_WEIGHTS_NAME, download_pretrained_from_hf
from open_clip.transform import PreprocessCfg, image_transform_v2
from pydantic import ValidationError
from torch import Tensor, nn

from recompose.backbones.clip import ARCHITECTURES, DESCRIPTION, Activation, Backbone, build, tokenizer_of
from recompose.backbones.weight_files import abridged, load_weights
from recompose.data.foreign_files import reason_of
from recompose.digest import sha256_file
from recompose.errors import DamagedError, DataError
from recompose.files import read_json
from recompose.harness.encoding import Preprocess
from recompose.harness.own_model import one_line
from recompose.params.mistakes import nearest
from recompose.recipes.records import RECORD, Record
from recompose.recipes.store import Store
from recompose.tracks.building import CHECKPOINT, Document, TypedSettings
from recompose.tracks.vlc.building import Tokenizer, restore_clip
from recompose.tracks.vlc.sigmoid import Sigmoid, sigmoid_of

PREPROCESSING = ("mean", "std", "interpolation", "resize_mode")  # beside the size, which is the image tower's
QUICK = "-quickgelu"  # at the end of the name of an architecture of open_clip that has another one's tags
CONFIGURATION = "open_clip_config.json"  # of a model in a folder
NAMED_QUICK = (r"negclip", r"(?<![a-z])ce[-_]?clip", r"(?<![a-z])gnm", r"(?<![a-z])openai(?![a-z])")  # OpenAI's heirs


@dataclass(frozen=True)
class Assumption:
    """A property of a model that its weights do not state."""

    name: str
    value: str
    reason: str  # what it is concluded from
    option: str  # states it

    @property
    def note(self) -> str:
        """A line for the reader."""
        return f"{self.name} is assumed to be {self.value}, {self.reason}: {self.option} states it"


@dataclass(frozen=True)
class ModelWeights:
    """The weights of a model: their file, what it states of the model, and their origin."""

    name: str
    file: Path
    sha256: str
    trained_with: Activation | None  # None: unknown
    preprocessing: Mapping[str, Any] | None = None  # what differs from the model's own; None: unknown
    in_own_form: bool = False  # a file of open_clip's, in a form that it reads itself
    part: str | None = None  # of the file, see ``weight_files.load_weights``
    document: Document | None = None  # of a run of Recompose, and
    needs: Mapping[str, Path] = field(default_factory=dict)  # its verified folders ``run`` and ``backbone``


@dataclass(frozen=True)
class Loaded:
    """A model ready for evaluation."""

    model: nn.Module
    preprocess: Preprocess
    tokenizer: Tokenizer
    preprocessing: Mapping[str, Any] | None  # what ``preprocess`` does: ``PREPROCESSING``; None: the user's own
    sigmoid: Sigmoid | None = None  # of a model that was trained with one
    assumed: tuple[Assumption, ...] = ()
    notes: tuple[str, ...] = ()
    title: str = ""  # with its weights
    document: Document = field(default_factory=dict)  # of the results: what was asked for
    identity: str = ""  # of the model and its weights, see ``encoding.encode``


def find_weights(model: str, name: str | None, *, like: str | None = None, part: str | None = None) -> ModelWeights:
    """Return the weights of this name: a file, the folder of a run, or a tag, which open_clip downloads.

    Args:
        model: the architecture; or a folder or a repository of open_clip, ``local-dir:...`` or ``hf-hub:...``.
        name: None: those that lie in the model's folder or repository.
        like: of a file, the tag of open_clip whose activation and preprocessing its weights have.
        part: of a file, see ``weight_files.load_weights``.

    Raises:
        DataError: the model is unknown, the name is none of these, the download fails, or an option is for files alone.
        DamagedError: the run's files were changed.
    """
    config_of(model)
    if name is not None and (path := Path(name)).is_file():
        return _file_weights(model, path, like, part)
    if like or part:
        option = "--like" if like else "--part"
        raise DataError(f"{option} is for files of weights: {name} is none", code="unused-option", place=option)
    if name is None:
        return _own_weights(model)
    return _run_weights(model, path) if path.is_dir() else _tag_weights(model, name)


def _file_weights(model: str, path: Path, like: str | None, part: str | None) -> ModelWeights:
    """Return the weights of a file, as stated by ``like``, its digest or a backbone's description."""
    sha256 = sha256_file(path)
    if like:
        architecture, _, name = like.rpartition(":")
        tag: Mapping[str, Any] | None = _tag(architecture or model, name)
    else:
        tag = _openai_tags().get(sha256)
    stated = _stated_by(tag) if tag else _described(path)
    return ModelWeights(str(path), path, sha256, *stated, part=part)


def _own_weights(model: str) -> ModelWeights:
    """Return the weights in the folder or the repository that a model's name says."""
    source, place = parse_model_name(model)
    if source is None:
        message = f"{model} needs --weights: a file, a tag of open_clip, or the folder of a run"
        raise DataError(message, code="no-weights", place="--weights")
    names = ("open_clip_model.safetensors", HF_WEIGHTS_NAME)
    if source == "local-dir":
        files = [path for name in names if (path := Path(place, name)).is_file()]
        if not files:
            message = f"{place} has no {' and no '.join(names)}: name the file of its weights as --weights"
            raise DataError(message, code="no-weights", place=place)
        file = files[0]
    else:
        file = _downloaded(model, lambda: download_pretrained_from_hf(place))
    trained, _ = _stated_by(config_of(model))
    return ModelWeights(file.name, file, sha256_file(file), trained, {}, in_own_form=True)


def _tag_weights(model: str, name: str) -> ModelWeights:
    tag = _tag(model, name)
    file = _downloaded(f"'{name}' of {model}", lambda: open_clip.download_pretrained(dict(tag)))
    sha256 = sha256_file(file)
    in_own_form = sha256 not in _openai_tags()
    return ModelWeights(name, file, sha256, *_stated_by(tag), in_own_form)


def _tag(model: str, name: str) -> Mapping[str, Any]:
    """Return open_clip's settings of a tag.

    Raises:
        DataError: the architecture has no such tag.
    """
    config: Mapping[str, Any] = open_clip.get_pretrained_cfg(model, name)
    if not config:
        tags = open_clip.list_pretrained_tags_by_model(model)
        choices = f"tags of {model}: {', '.join(tags)}" if tags else f"{model} has no tags"
        message = f"'{name}' is no file and no tag of open_clip{nearest(name, tags)} ({choices})"
        raise DataError(message, code="unknown-weights", place=name)
    return config


def _downloaded(title: str, download: Callable[[], str]) -> Path:
    try:
        return Path(download())
    except Exception as error:  # of urllib, of huggingface_hub, and of what these use
        message = f"open_clip cannot download {title}: {one_line(error)}"
        raise DataError(message, code="no-download", place=title) from None


def _stated_by(config: Mapping[str, Any]) -> tuple[Activation, dict[str, Any]]:
    """Return the activation and the preprocessing in open_clip's settings of a tag or of an architecture."""
    preprocessing = {name: config[name] for name in PREPROCESSING if name in config}
    return "quick_gelu" if config.get("quick_gelu") else "gelu", preprocessing


def _described(path: Path) -> tuple[Activation | None, dict[str, Any] | None]:
    """Return the activation that a backbone's description in the same folder states of a file, and the preprocessing,
    which is the usual one.
    """
    with suppress(OSError, ValueError, KeyError, TypeError):
        description = read_json(path.parent / DESCRIPTION)
        if description["weights"] == path.name and description["activation"] in get_args(Activation):
            return cast(Activation, description["activation"]), {}
    return None, None


def _run_weights(model: str, folder: Path) -> ModelWeights:
    """Return the weights in a run's folder, whose backbone is in the same store."""
    try:
        recipe = Record.read(folder.resolve() / RECORD)
        store, backbone = Store(folder.resolve().parents[1]), recipe.needs["backbone"]
        pretrained = Record.read(store.record_path(backbone))
    except (DamagedError, KeyError):
        message = f"{folder} is a folder, but not a run: name the file with the weights in it"
        raise DataError(message, code="no-run", place=folder) from None
    checkpoint = store.file(recipe, CHECKPOINT)
    store.verify(pretrained)  # its weights may be code
    description = read_json(store.file(backbone, DESCRIPTION))
    if description["architecture"] != model:
        raise DataError(f"{folder} is a run of {description['architecture']}, not of {model}")
    needs = {"run": checkpoint.parent, "backbone": store.folder(backbone)}
    return ModelWeights(
        f"the run {recipe.name}",
        checkpoint,
        sha256_file(checkpoint),
        description["activation"],
        {},
        document=recipe.document,
        needs=needs,
    )


def choose_activation(
    model: str, weights: ModelWeights, requested: Activation | Literal["auto"]
) -> tuple[Activation, Assumption | None, tuple[str, ...]]:
    """Return the activation that a model runs with, the assumption that it is the right one, and notes for the reader.

    Example:
        >>> known = ModelWeights("mine.pt", Path("mine.pt"), "", "quick_gelu")
        >>> choose_activation("shapes-clip", known, "auto")
        ('quick_gelu', None, ())
        >>> choose_activation("shapes-clip", known, "gelu")[2]
        ('mine.pt was trained with quick_gelu and runs with gelu: its scores are not those of the model',)
        >>> unknown = ModelWeights("negclip.pt", Path("negclip.pt"), "", None)
        >>> choose_activation("ViT-B-32", unknown, "auto")[1].note
        'the activation is assumed to be quick_gelu, from the name negclip.pt alone: --activation or --like states it'
    """
    trained = weights.trained_with
    if requested != "auto":
        differ = f"was trained with {trained} and runs with {requested}: its scores are not those of the model"
        return requested, None, (f"{weights.name} {differ}",) if trained not in (None, requested) else ()
    if trained:
        return trained, None, ()
    if any(re.search(pattern, weights.file.name.lower()) for pattern in NAMED_QUICK):
        assumed: Activation = "quick_gelu"
        reason = f"from the name {weights.file.name} alone"
    else:
        assumed, _ = _stated_by(config_of(model))
        beside = "" if _is_ours(model) else "; weights that descend from OpenAI's need quick_gelu"
        reason = f"as {model} has it{beside}"
    return assumed, Assumption("the activation", assumed, reason, "--activation or --like"), ()


def choose_preprocessing(model: str, weights: ModelWeights) -> tuple[Mapping[str, Any], Assumption | None]:
    """Return what differs from a model's own preprocessing, and the assumption that this is right.

    Without a statement, it is that of most of open_clip's tags of the architecture. Architectures of Recompose have one
    preprocessing, and models in folders and repositories state theirs.
    """
    if weights.preprocessing is not None:
        return weights.preprocessing, None
    if _is_ours(model) or parse_model_name(model)[0]:
        return {}, None
    name = model.removesuffix(QUICK)
    tags = {tag: str(_stated_by(_tag(name, tag))[1]) for tag in open_clip.list_pretrained_tags_by_model(name)}
    if not tags:
        return {}, Assumption("the preprocessing", "open_clip's default", f"as {model} has no tags", "--like MODEL:TAG")
    most = mode(tags.values())
    alike = [tag for tag, preprocessing in tags.items() if preprocessing == most]
    reason = f"as that of {len(alike)} of the {len(tags)} tags of {name}"
    return _stated_by(_tag(name, alike[0]))[1], Assumption("the preprocessing", f"that of {alike[0]}", reason, "--like")


def _is_ours(model: str) -> bool:
    """Return whether an architecture is one of Recompose's own, whose images are all preprocessed in the same way."""
    return (ARCHITECTURES / f"{model}.json").is_file()


def config_of(model: str) -> dict[str, Any]:
    """Return open_clip's settings of an architecture, or of a model in a folder or a repository.

    Raises:
        DataError: an unknown name, or a folder or a repository without a model.
    """
    open_clip.add_model_config(ARCHITECTURES)
    try:
        config = open_clip.get_model_config(model)
    except Exception as error:  # of a file that is absent or damaged, or of the network
        message = f"the model {model} has no {CONFIGURATION} that can be read: {one_line(error)}"
        raise DataError(message, code="unknown-architecture", place=model) from None
    if not isinstance(config, dict):
        near = nearest(model, open_clip.list_models())
        message = (
            f"unknown model '{model}'{near}; a model is a name of open_clip's, such as ViT-B-32, or MODULE:FUNCTION"
        )
        raise DataError(message, code="unknown-architecture", place=model)
    return dict(config)


def load_model(model: str, weights: ModelWeights, activation: Activation, alpha: float = 1.0) -> Loaded:
    """Load a model with its weights, preprocessing and tokenizer.

    A causal text tower skips padding; others compute as open_clip does.

    Args:
        model: its architecture.
        weights: its weights.
        activation: the activation to run with.
        alpha: of a run, see ``building.restore_clip``.

    Raises:
        DataError: the file does not hold weights of this architecture, an option applies to runs alone, or open_clip
            cannot build the architecture, as without another package.
    """
    if weights.document is not None:
        return _load_run(model, weights, weights.document, activation, alpha)
    if alpha != 1:
        message = "--alpha interpolates between the weights before and after a run: name its folder as --weights"
        raise DataError(message, code="no-run", place="--alpha")
    tokenizer, towers = _built(model, activation)
    built: Any = towers.model if isinstance(towers, Backbone) else towers
    beside: Sequence[str] = ()
    if weights.in_own_form:
        try:
            open_clip.load_checkpoint(built, str(weights.file), weights_only=True)  # reads all its tags' formats
        except Exception as error:  # a damaged file can raise any exception
            message = f"{weights.file} does not hold weights of {model}: {reason_of(weights.file, error)}"
            raise DataError(message, code="other-architecture", place=weights.file) from None
    else:
        trusted = weights.sha256 in _openai_tags()
        beside = load_weights(built, weights.file, model, trusted=trusted, part=weights.part)
    preprocessing, assumed = choose_preprocessing(model, weights)
    config = PreprocessCfg(**{**built.visual.preprocess_cfg, "size": built.visual.image_size, **preprocessing})
    notes = (f"beside the weights, {weights.file.name} has {abridged(beside)}, which are left out",) if beside else ()
    preprocess = image_transform_v2(config, is_train=False)
    assumptions = (assumed,) if assumed else ()
    return Loaded(towers, preprocess, tokenizer, _of_config(config), sigmoid_of(built), assumptions, notes)


def _load_run(model: str, weights: ModelWeights, document: Document, activation: Activation, alpha: float) -> Loaded:
    if activation != weights.trained_with:
        message = f"{weights.name} runs only with {weights.trained_with}, as it was trained"
        raise DataError(message, code="other-activation", place=weights.name)
    try:
        _ = TypedSettings(document).own
    except (ImportError, AttributeError, ValidationError) as error:
        message = f"{weights.name} was trained by other code, whose settings this one does not read: train it again"
        raise DataError(message, code="outdated-run", place=weights.file) from error
    tuned = restore_clip(document, weights.needs, alpha)
    return Loaded(tuned, tuned.preprocess, tokenizer_of(model), _of_config(PreprocessCfg()))


def _of_config(config: PreprocessCfg) -> dict[str, Any]:
    return {name: value for name, value in asdict(config).items() if name in PREPROCESSING}


def _built(model: str, activation: Activation) -> tuple[Tokenizer, nn.Module]:
    """Build a model's tokenizer, and the model with random weights, as a ``Backbone`` where possible.

    Raises:
        DataError: open_clip cannot, as without another package or, for some tokenizers, without a network.
    """
    try:
        tokenizer = tokenizer_of(model)
        if "stem" in config_of(model):  # an architecture of Recompose, which open_clip alone cannot build
            return tokenizer, build(model, activation)
        quick = activation == "quick_gelu"
        built = open_clip.create_model(model, load_weights=False, pretrained_text=False, quick_gelu=quick)
    except ModuleNotFoundError as error:
        message = f"open_clip needs {error.name} for {model}: `pip install {error.name}`"
        raise DataError(message, code="missing-package", place=model) from error
    except Exception as error:  # of an architecture's settings, of timm, of transformers, of the network
        message = f"open_clip cannot build {model}: {one_line(error)}"
        raise DataError(message, code="unknown-architecture", place=model) from error
    return tokenizer, Backbone(built, tokenizer) if _is_plain(built) else built


def _is_plain(model: Any) -> bool:
    """Return True if ``Backbone`` can wrap a model: plain blocks of open_clip, causal text read at the end of text."""
    if type(model) is not open_clip.CLIP or model.attn_mask is None or model.text_pool_type != "argmax":
        return False
    transformer = getattr(model.visual, "transformer", None)
    blocks = [*model.transformer.resblocks, *(transformer.resblocks if transformer is not None else [])]
    plain = all(isinstance(getattr(block, "attn", None), nn.MultiheadAttention) for block in blocks)
    return plain and isinstance(model.text_projection, Tensor)


def _openai_tags() -> dict[str, Mapping[str, Any]]:
    """Return open_clip's settings of OpenAI's tags by the digests of their archives, parts of their addresses."""
    tags = (open_clip.get_pretrained_cfg(*model_and_tag) for model_and_tag in open_clip.list_pretrained())
    return {tag["url"].split("/")[-2]: tag for tag in tags if "openaipublic" in tag.get("url", "")}
