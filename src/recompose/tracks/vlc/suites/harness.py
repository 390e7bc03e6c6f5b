"""Any CLIP on any suites, outside of any paper: what ``recompose evaluate`` does.

What activation a model runs with is said, kept with its results, and compared with what its weights are known to be
trained with.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import torch

from recompose.environment import environment, state_of_sources
from recompose.errors import DataError
from recompose.files import write_json, write_text
from recompose.progress import say
from recompose.tracks.vlc.checkpoints import choose_activation, find_weights, load_model
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.data.suites_on_disk import FORMATS, format_of, left_out, present, read_suite
from recompose.tracks.vlc.suites.encoding import Broken, Precision, encode
from recompose.tracks.vlc.suites.metric_values import PREFIX, Count, check, counts, headline, metrics
from recompose.tracks.vlc.suites.scores import FILE, suite_scores, write_scores

ALL = "all"
RESULTS, TABLE, EMBEDDINGS = "results.json", "scores.csv", "embeddings"
NAMED = 4  # sub-tasks that a note names
PRECISIONS = ("auto", "fp32", "fp16", "bf16")


@dataclass(frozen=True)
class Request:
    """What is to be evaluated, on what, and how."""

    model: str  # an architecture, of open_clip or ours
    weights: str  # a file, a tag of open_clip, or the folder of a run of ours
    suites: tuple[str, ...]  # names, or ``all``
    data: Path  # the folder of raw files
    out: Path
    batch_size: int = 256
    precision: str = "auto"  # fp16 on GPUs, fp32 elsewhere
    device: str = "auto"
    activation: str = "auto"  # what the weights are known to be trained with, or else the architecture's own
    alpha: float = 1.0  # of a run of ours the share of what training left, see ``building.restored``
    skip_broken: bool = False


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
    loaded = load_model(request.model, weights, activation, request.alpha)
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
    numbers, counted = metrics(suites, scores), counts(suites, scores)
    rows = tuple(_rows(suites, numbers, counted))
    write_text(request.out / TABLE, _csv(rows))
    if encoded.broken:
        left_out = sum(count.left_out for count in counted.values())
        images = "1 image" if len(encoded.broken) == 1 else f"{len(encoded.broken)} images"
        notes += (f"{images} cannot be read, and {left_out} items that show them are left out",)
    document = {
        "model": request.model,
        "weights": {"name": weights.name, "file": weights.file.name, "sha256": weights.sha256},
        "alpha": request.alpha,
        "activation": activation,
        "trained_with": weights.trained_with,
        "precision": precision,
        "suites": names,
        "absent": absent,
        "metrics": numbers,
        "items": {name: count._asdict() for name, count in counted.items()},
        "broken": [_plain(each) for each in encoded.broken],
        "notes": notes,
        "made": {"at": datetime.now(UTC).isoformat(timespec="seconds"), **environment(), **state_of_sources()},
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
