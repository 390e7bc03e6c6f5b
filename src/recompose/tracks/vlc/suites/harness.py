"""Evaluation of any CLIP on any suites, outside of papers: the command ``recompose evaluate``.

The activation that a model runs with is reported, stored with its results, and compared with the activation that its
weights were trained with, as far as that is known.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast, get_args

import torch

from recompose.environment import environment, state_of_sources
from recompose.errors import DataError
from recompose.files import write_json, write_text
from recompose.progress import say
from recompose.tracks.model_evaluation import EvaluationRequest, EvaluationRow, EvaluationSummary
from recompose.tracks.vlc.checkpoints import choose_activation, find_weights, load_model
from recompose.tracks.vlc.data.formats.suite_files import Limit
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.data.suites_on_disk import FORMS, layout_of, missing_subtasks, present_suites, read_suite
from recompose.tracks.vlc.suites.encoding import Broken, Precision, encode
from recompose.tracks.vlc.suites.metric_values import PREFIX, Count, check, counts, headline, metrics
from recompose.tracks.vlc.suites.scores import FILE, suite_scores, write_scores

ALL = "all"
RESULTS, TABLE, EMBEDDINGS = "results.json", "scores.csv", "embeddings"
MAX_NAMES = 4  # sub-tasks in a note
PRECISIONS = get_args(Precision)


def evaluate(request: EvaluationRequest) -> EvaluationSummary:
    """Evaluate a model, and write ``scores.csv``, ``results.json`` and ``scores.safetensors`` into a folder.

    Embeddings are stored in the same folder, so that a killed evaluation resumes.

    Raises:
        DataError: an unknown model, suite or file, no suite on disk, or an unreadable image.
    """
    names, absent = suites_present(request.suites, request.data)
    for name, layout in absent.items():
        say(f"{name} is absent and left out. Files expected below {request.data}: {layout}")
    device = device_of(request.device)
    precision = precision_of(request.precision)
    weights = find_weights(request.model, request.weights)
    activation, notes = choose_activation(request.model, weights, request.activation)
    title = f"{request.model} with {weights.name}, run with {activation} in {precision} on {device}"
    for note in (title, *notes):
        say(note)
    suites = [read_suite(name, request.data, limit=Limit(request.items)) for name in names]
    check(suites)
    notes += tuple(_partial_suites(suites))
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
        notes += (f"{images} cannot be read; {left_out} items with them are left out",)
    document = {
        "model": request.model,
        "weights": {"name": weights.name, "file": weights.file.name, "sha256": weights.sha256},
        "alpha": request.alpha,
        "activation": activation,
        "trained_with": weights.trained_with,
        "precision": precision,
        "suites": names,
        "largest_items": request.items,
        "absent": absent,
        "metrics": numbers,
        "items": {name: count._asdict() for name, count in counted.items()},
        "broken": [_plain(broken) for broken in encoded.broken],
        "notes": notes,
        "made": {"at": datetime.now(UTC).isoformat(timespec="seconds"), **environment(), **state_of_sources()},
    }
    write_json(request.out / RESULTS, document)
    return EvaluationSummary(title, rows, notes, tuple(request.out / name for name in (TABLE, RESULTS, FILE)))


def suites_present(requested: Sequence[str], root: Path) -> tuple[list[str], dict[str, str]]:
    """Return the requested suites on disk, and the layouts of the files of the absent ones.

    Raises:
        DataError: an unknown suite, or none of them is on disk.
    """
    names = list(FORMS) if ALL in requested else list(dict.fromkeys(requested))
    layouts = {name: " ".join(layout_of(name).split()) for name in names}
    on_disk = present_suites(root)
    absent = {name: layout for name, layout in layouts.items() if name not in on_disk}
    if len(absent) == len(names):
        expected = "".join(f"\n  {name}: {layout}" for name, layout in absent.items())
        message = f"none of these suites is below {root}. Files expected there:{expected}"
        raise DataError(message, code="missing-suite", place=root)
    return [name for name in names if name in on_disk], absent


def device_of(name: str) -> torch.device:
    """Return the device of this name; ``auto`` is a GPU if there is one.

    Raises:
        DataError: this machine has no such device.
    """
    try:
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu") if name == "auto" else torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        message = f"no device '{name}' on this machine: {str(error).splitlines()[0]}"
        raise DataError(message, code="missing-device", place=name) from None
    return device


def precision_of(name: str) -> Precision:
    """Return the precision of this name.

    Raises:
        DataError: an unknown precision.
    """
    if name not in PRECISIONS:
        message = f"unknown precision '{name}': choose among {', '.join(PRECISIONS)}"
        raise DataError(message, code="unknown-precision", place=name)
    return cast(Precision, name)


def _partial_suites(suites: Sequence[Suite]) -> Iterator[str]:
    """Yield a note for each suite with absent sub-tasks."""
    for suite in suites:
        if absent := missing_subtasks(suite):
            more = f" and {len(absent) - MAX_NAMES} more" if len(absent) > MAX_NAMES else ""
            yield f"{suite.name} lacks {', '.join(absent[:MAX_NAMES])}{more}: means over them have no number"


def _rows(suites: Sequence[Suite], numbers: Mapping[str, float], counted: Mapping[str, Count]) -> list[EvaluationRow]:
    """Return all numbers suite by suite, with means before sub-tasks, and the means over suites last."""
    means = [name.removeprefix(PREFIX) for name in headline()]
    order = {name: place for place, name in enumerate([*(suite.name for suite in suites), *means])}

    def place(name: str) -> tuple[int, int, int]:
        first, *inner = name.split("/")
        related = (place for place, leaf in enumerate(counted) if _is_below(leaf, name) or _is_below(name, leaf))
        return order.get(first, len(order)), next(related, -1) if inner else -1, len(inner)

    names = sorted({name.removeprefix(PREFIX) for name in numbers} | {*counted})
    return [
        EvaluationRow(name, numbers.get(f"{PREFIX}{name}"), *counted.get(name, (None, None)))
        for name in sorted(names, key=place)
    ]


def _is_below(name: str, above: str) -> bool:
    return f"{name}/".startswith(f"{above}/")


def _csv(rows: Sequence[EvaluationRow]) -> str:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["name", "value", "items", "left_out"])
    for row in rows:
        value = "" if row.value is None else repr(row.value)
        table.writerow([row.name, value, row.items, row.left_out])
    return text.getvalue()


def _plain(broken: Broken) -> dict[str, Any]:
    return asdict(broken.picture) | {"why": broken.reason, "shown_by": broken.first_item}
