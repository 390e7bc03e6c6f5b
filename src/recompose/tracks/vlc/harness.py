"""Any CLIP on any suites, outside of any paper: what ``recompose evaluate`` does.

The activation of a model is part of it and stands in no checkpoint: weights trained with QuickGELU still load with
GELU, and score several points lower without a word. So what a model runs with is said, kept with its results, and
compared with what its weights are known to be trained with.
"""

import csv
import io
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
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
from recompose.circumstances import circumstances, state_of_sources
from recompose.digest import sha256_file
from recompose.errors import DataError
from recompose.files import read_json, write_json, write_text
from recompose.params.mistakes import nearest
from recompose.progress import say
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.data.suites_on_disk import FORMATS, format_of, left_out, present, read_suite
from recompose.tracks.vlc.encoding import Broken, Precision, Preprocess, Tokenizer, encode
from recompose.tracks.vlc.measures import PREFIX, Count, check, counts, headline, measures
from recompose.tracks.vlc.scores import FILE, suite_scores, write_scores

ALL = "all"
RESULTS, TABLE, EMBEDDINGS = "results.json", "scores.csv", "embeddings"
NAMED = 4  # sub-tasks that a note names
TORCHSCRIPT_CONSTANTS = ("input_resolution", "context_length", "vocab_size")  # that OpenAI's archives hold as weights
ACTIVATIONS = ("auto", "gelu", "quick_gelu")
PRECISIONS = ("auto", "fp32", "fp16", "bf16")
PREPROCESSING = ("mean", "std", "interpolation", "resize_mode")  # that a tag may have of its own
TRAINED_WITH: Mapping[str, Activation] = {  # by what stands in a file's name: released without a word of it
    r"negclip": "quick_gelu",
    r"(?<![a-z])ce[-_]?clip": "quick_gelu",
    r"(?<![a-z])gnm": "quick_gelu",
    r"(?<![a-z])openai(?![a-z])": "quick_gelu",
}


@dataclass(frozen=True)
class Request:
    """What is to be evaluated, on what, and how."""

    model: str  # an architecture, of open_clip or ours
    weights: str  # a file, or a tag of open_clip
    suites: tuple[str, ...]  # names, or ``all``
    data: Path  # the folder of raw files
    out: Path
    batch_size: int = 256
    precision: str = "auto"  # fp16 on GPUs, fp32 elsewhere
    device: str = "auto"
    activation: str = "auto"  # what the weights are known to be trained with, or else the architecture's own
    skip_broken: bool = False


@dataclass(frozen=True)
class Weights:
    """Where the weights of a model are, and what is known of them."""

    name: str
    file: Path
    sha256: str
    trained_with: Activation | None  # None where nobody knows
    tag: Mapping[str, Any] = field(default_factory=dict)  # open_clip's settings of a tag; of a file none


@dataclass(frozen=True)
class Loaded:
    """A model that can be evaluated."""

    model: nn.Module
    preprocess: Preprocess
    tokenizer: Tokenizer
    activation: Activation
    weights: Weights


@dataclass(frozen=True)
class Row:
    """A number, and of how many items it is; of means these are not told."""

    name: str
    value: float | None  # None where all items are left out
    items: int | None = None
    left_out: int | None = None


@dataclass(frozen=True)
class Evaluation:
    """What came of a request."""

    title: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...]  # what one has to know of these numbers
    files: tuple[Path, ...]


def evaluate(request: Request) -> Evaluation:
    """Evaluate a model, and leave ``scores.csv``, ``results.json`` and ``scores.safetensors`` in a folder; embeddings
    stay beside them, so that a killed evaluation goes on where it was.

    Raises:
        DataError: there is no such model, suite or file, none of the suites is there, or an image cannot be read.
    """
    names, absent = there(request.suites, request.data)
    for name, what in absent.items():
        say(f"{name} is not there and is left out. What to put below {request.data}: {what}")
    device = device_of(request.device)
    precision = precision_of(request.precision, device)
    weights = find_weights(request.model, request.weights)
    activation, notes = choose_activation(request.model, weights, request.activation)
    title = f"{request.model} with {weights.name}, run with {activation} in {precision} on {device}"
    for note in (title, *notes):
        say(note)
    suites = [read_suite(name, request.data) for name in names]
    check(suites)
    notes += tuple(_lacking(suites))
    loaded = load_model(request.model, weights, activation)
    encoded = encode(
        loaded.model,
        loaded.preprocess,
        loaded.tokenizer,
        suites,
        request.data,
        request.out / EMBEDDINGS,
        device,
        precision=precision,
        batch_size=request.batch_size,
        skip_broken=request.skip_broken,
    )
    scores = {name: array for suite in suites for name, array in suite_scores(suite, encoded.features(suite)).items()}
    write_scores(scores, request.out / FILE)
    numbers, counted = measures(suites, scores), counts(suites, scores)
    rows = tuple(_rows(suites, numbers, counted))
    write_text(request.out / TABLE, _csv(rows))
    if encoded.broken:
        left_out = sum(count.left_out for count in counted.values())
        images = "1 image" if len(encoded.broken) == 1 else f"{len(encoded.broken)} images"
        notes += (f"{images} cannot be read, and {left_out} items that show them are left out",)
    document = {
        "model": request.model,
        "weights": {"name": weights.name, "file": weights.file.name, "sha256": weights.sha256},
        "activation": activation,
        "trained_with": weights.trained_with,
        "precision": precision,
        "suites": names,
        "absent": absent,
        "measures": numbers,
        "items": {name: count._asdict() for name, count in counted.items()},
        "broken": [_plain(each) for each in encoded.broken],
        "notes": notes,
        "made": {"at": datetime.now(UTC).isoformat(timespec="seconds"), **circumstances(), **state_of_sources()},
    }
    write_json(request.out / RESULTS, document)
    return Evaluation(title, rows, notes, tuple(request.out / name for name in (TABLE, RESULTS, FILE)))


def there(asked: Sequence[str], root: Path) -> tuple[list[str], dict[str, str]]:
    """Which of the suites that are asked for are there, and of the others what has to be put where.

    Raises:
        DataError: there is no such suite, or none of them is there.
    """
    names = list(FORMATS) if ALL in asked else list(dict.fromkeys(asked))
    layouts = {name: " ".join(format_of(name).LAYOUT.split()) for name in names}
    on_disk = present(root)
    absent = {name: layout for name, layout in layouts.items() if name not in on_disk}
    if len(absent) == len(names):
        told = "".join(f"\n  {name}: {what}" for name, what in absent.items())
        raise DataError(f"none of these suites is below {root}. What to put there:{told}")
    return [name for name in names if name in on_disk], absent


def device_of(name: str) -> torch.device:
    """The device of this name; of ``auto`` a GPU where there is one.

    Raises:
        DataError: there is no such device here.
    """
    try:
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu") if name == "auto" else torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise DataError(f"there is no device '{name}' here: {str(error).splitlines()[0]}") from None
    return device


def precision_of(name: str, device: torch.device) -> Precision:
    """The precision of this name; of ``auto`` 16 bits on a GPU.

    Raises:
        DataError: there is no such precision.
    """
    if name not in PRECISIONS:
        raise DataError(f"there is no precision '{name}': {', '.join(PRECISIONS)}")
    if name != "auto":
        return cast(Precision, name)
    return "fp16" if device.type == "cuda" else "fp32"


def find_weights(model: str, name: str) -> Weights:
    """The weights of this name: a file, or a tag of open_clip, which downloads it.

    Raises:
        DataError: there is neither, or the download fails.
    """
    path = Path(name)
    if path.is_file():
        sha256 = sha256_file(path)
        return Weights(name, path, sha256, _trained_with(path, sha256))
    if path.is_dir():
        raise DataError(f"{path} is a folder: name the file with the weights in it")
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


def load_model(model: str, weights: Weights, activation: Activation) -> Loaded:
    """A model with its weights, and what its towers take of images and texts.

    A text tower that is causal computes no padding; others compute what open_clip does.

    Raises:
        DataError: the file does not hold weights of this architecture.
    """
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


def _lacking(suites: Sequence[Suite]) -> Iterator[str]:
    """Of suites that are there in part, what is not."""
    for suite in suites:
        if lacking := left_out(suite):
            named = ", ".join(lacking[:NAMED]) + (f" and {len(lacking) - NAMED} more" if len(lacking) > NAMED else "")
            yield f"{suite.name} is there without {named}: means over them have no number"


def _rows(suites: Sequence[Suite], numbers: Mapping[str, float], counted: Mapping[str, Count]) -> list[Row]:
    """All numbers: suite by suite, each suite's own and its means before its sub-tasks, and at last the means over
    suites.
    """
    means = [name.removeprefix(PREFIX) for name in headline()]
    order = {name: place for place, name in enumerate([*(suite.name for suite in suites), *means])}

    def place(name: str) -> tuple[int, int, int]:
        first, *inner = name.split("/")
        near = (place for place, leaf in enumerate(counted) if _is_below(leaf, name) or _is_below(name, leaf))
        return order.get(first, len(order)), next(near, -1) if inner else -1, len(inner)

    names = sorted({name.removeprefix(PREFIX) for name in numbers} | {*counted})
    return [
        Row(name, numbers.get(f"{PREFIX}{name}"), *counted.get(name, (None, None))) for name in sorted(names, key=place)
    ]


def _is_below(name: str, above: str) -> bool:
    return f"{name}/".startswith(f"{above}/")


def _csv(rows: Sequence[Row]) -> str:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["name", "value", "items", "left_out"])
    for row in rows:
        value = "" if row.value is None else repr(row.value)
        table.writerow([row.name, value, row.items, row.left_out])
    return text.getvalue()


def _plain(broken: Broken) -> dict[str, Any]:
    return asdict(broken.picture) | {"why": broken.why, "shown_by": broken.shown}
