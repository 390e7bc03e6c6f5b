"""Evaluation of any CLIP on any suites, outside of papers: the command ``recompose evaluate``.

The activation that a model runs with is reported, stored with its results, and compared with the activation that its
weights were trained with, as far as that is known.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pandas as pd
import torch

from recompose.arithmetic import CURRENT, use
from recompose.console import pluralize
from recompose.digest import digest, sha256_file
from recompose.environment import environment, state_of_sources
from recompose.errors import DataError
from recompose.files import Document, read_json, write_json, write_text
from recompose.harness.checkpoints import (
    Loaded,
    choose_activation,
    config_of,
    find_weights,
    load_model,
)
from recompose.harness.encoding import Encoded, broken_error, encode
from recompose.harness.evaluation import EvaluationRequest, EvaluationRow, EvaluationSummary
from recompose.harness.own_model import is_own, load_own_model
from recompose.harness.stored_evaluation import RESULTS, digests
from recompose.harness.survey import SurveyedSuite, suites_present, survey, without_images
from recompose.progress import say
from recompose.recipes.locks import sole_writer
from recompose.tracks.vlc.data.index import write_suites
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.sigmoid import Sigmoid
from recompose.tracks.vlc.suites.scores import FILE, write_scores
from recompose.tracks.vlc.suites.tasks import Classes
from recompose.tracks.vlc.suites.values import PREFIX, Count, counts, headline, metrics

TABLE, EMBEDDINGS = "scores.csv", "embeddings"


def evaluate(request: EvaluationRequest) -> EvaluationSummary:
    """Evaluate a model, and write ``scores.csv``, ``results.json``, ``scores.safetensors`` and the items of suites into
    a folder.

    Embeddings are stored in the same folder, so that a killed evaluation resumes; one of a user's own model starts
    anew. An incomplete or broken suite is left out, or stops the evaluation where it is strict.

    Raises:
        DataError: an unknown model, suite or file, no suite on disk, or none that is complete; or the folder has
            results that would be lost.
        BusyError: another evaluation writes into the folder.
    """
    requested, absent = suites_present(request.suites, request.data, request.known)
    if absent:
        say(f"absent: {', '.join(absent)}; `recompose data check --data {request.data}` lists their files")
    device = device_of(request.device)
    use(CURRENT)  # the arithmetic of recipes: the process began with its variables
    model = _own_model(request, device) if is_own(request.model) else _clip(request)
    title = f"{model.title} in {request.precision} on {device}"
    notes = (*(assumption.note for assumption in model.assumed), *model.notes)
    for note in (title, *notes):
        say(note)
    incomplete: dict[str, SurveyedSuite] = {}
    with_images, items = not request.skip_broken, request.items
    surveyed = (survey(suite, request.data, with_images=with_images, items=items) for suite in requested)
    suites = _usable(surveyed, request, incomplete)
    settings = {
        "model": request.model,
        **model.document,
        "precision": request.precision,
        "largest_items": request.items,
    }
    with sole_writer(request.out):
        _check_folder(request.out / RESULTS, settings, [named.name for named in requested])
        encoded = encode(
            model.model,
            model.preprocess,
            model.tokenizer,
            suites,
            request.data,
            request.out / EMBEDDINGS,
            device,
            precision=request.precision,
            batch_size=request.batch_size,
            # of several suites, one with an unreadable image stops the others only where that is strict
            skip_broken=request.skip_broken or (len(suites) > 1 and not request.strict),
            identity=model.identity,
        )
        if not request.skip_broken:
            suites = _usable(_readable(suites, encoded), request, incomplete)
        lines = {name: absence.line for name, absence in incomplete.items()}
        numbers, counted = _write_scores(request.out, suites, encoded, model.sigmoid)
        rows = tuple(_rows(suites, numbers, counted))
        table = pd.DataFrame(rows).astype({"items": "Int64", "left_out": "Int64"})
        write_text(request.out / TABLE, table.to_csv(index=False, lineterminator="\n"))
        if request.skip_broken and encoded.broken:
            left_out = sum(count.left_out for count in counted.values())
            broken = pluralize(len(encoded.broken), "image")
            notes = (*notes, f"{broken} cannot be read; {left_out} items with them are left out")
        document = {
            **settings,
            **_about(model, encoded),
            "suites": [suite.name for suite in suites],
            "absent": absent,
            "left_out": lines,
            "metrics": numbers,
            "items": {name: count._asdict() for name, count in counted.items()},
            "notes": notes,
            "files": digests(request.out, suites),
            "made": {"at": datetime.now(UTC).isoformat(timespec="seconds"), **environment(), **state_of_sources()},
        }
        write_json(request.out / RESULTS, document)
    files = tuple(request.out / name for name in (TABLE, RESULTS, FILE))
    return EvaluationSummary(title, rows, notes, tuple(lines.values()), files)


def _check_folder(path: Path, settings: Mapping[str, Any], suites: Sequence[str]) -> None:
    """Check that a folder holds no results that would be lost: of another model or setting, or of other suites.

    Args:
        path: of the results.
        settings: the model and the settings, as in results.
        suites: the names of the suites that are evaluated.

    Raises:
        DataError: it does, or its results cannot be read.
    """
    try:
        stored = dict(read_json(path))
    except FileNotFoundError:
        return
    except (ValueError, TypeError):
        message = f"{path} cannot be read, and would be lost: name another folder, or remove this one"
        raise DataError(message, code="damaged-result", place=path) from None
    if differing := [name for name, value in settings.items() if stored.get(name) != value]:
        fault = f"is of another evaluation, whose {' and '.join(differing)} differ"
        message = f"{path} {fault}; name another folder, or remove this one"
        raise DataError(message, code="other-model", place=path)
    if lost := [name for name in stored.get("suites", ()) if name not in suites]:
        message = f"{path} has {', '.join(lost)}, which would be lost: name these suites, too, or another folder"
        raise DataError(message, code="other-suites", place=path)


def _write_scores(
    folder: Path, suites: Sequence[Suite], encoded: Encoded, sigmoid: Sigmoid | None
) -> tuple[dict[str, float], dict[str, Count]]:
    """Write the scores and the items of suites, by which evaluations are compared; return the metrics and counts."""
    scores = {name: array for suite in suites for name, array in _scores(suite, encoded, sigmoid).items()}
    write_suites([*suites], folder)
    write_scores(scores, folder / FILE)
    return metrics(suites, scores), counts(suites, scores)


def _scores(suite: Suite, encoded: Encoded, sigmoid: Sigmoid | None) -> dict[str, np.ndarray]:
    """Return the scores of a suite's sub-tasks by name."""
    features = encoded.features(suite)
    scores = suite.scores(features)
    for name, task in suite.tasks.items():
        if sigmoid and isinstance(task, Classes) and task.has_several_labels:
            scores[name] = sigmoid.class_probabilities(task, features)
    return scores


def _about(model: Loaded, encoded: Encoded) -> Document:
    """Return what results tell of the model, and of images that it could not be given."""
    return {
        "preprocessing": model.preprocessing,
        "assumed": [asdict(assumption) for assumption in model.assumed],
        "sigmoid": model.sigmoid and asdict(model.sigmoid),
        "broken": [
            asdict(image.picture) | {"why": image.reason, "shown_by": image.first_item} for image in encoded.broken
        ],
    }


def _clip(request: EvaluationRequest) -> Loaded:
    """Load a model of open_clip or of this project, with its weights."""
    model, weights = request.model, find_weights(request.model, request.weights, like=request.like, part=request.part)
    activation, assumed, notes = choose_activation(model, weights, request.activation)
    document = {
        "weights": {"name": weights.name, "file": weights.file.name, "sha256": weights.sha256},
        "alpha": request.alpha,
        "activation": activation,
        "trained_with": weights.trained_with,
        "like": request.like,
        "part": request.part,
    }
    loaded = load_model(model, weights, activation, request.alpha)
    return replace(
        loaded,
        title=f"{model} with {weights.name}, run with {activation}",
        document=document,
        identity=digest([model, config_of(model), document]),
        assumed=(*filter(None, [assumed]), *loaded.assumed),
        notes=(*notes, *loaded.notes),
    )


def _own_model(request: EvaluationRequest, device: torch.device) -> Loaded:
    """Load a model by a function of the user's own; it is tried before any suite is read.

    Each has an identity of its own: code and files anywhere may decide what it computes, so nothing is reused.
    """
    changed = {"alpha": request.alpha != 1, "activation": request.activation != "auto"}
    for option, is_set in (changed | {"like": request.like, "part": request.part}).items():
        if is_set:
            message = f"--{option} is for models of open_clip and of this project: {request.model} decides itself"
            raise DataError(message, code="unused-option", place=f"--{option}")
    model = load_own_model(request.model, request.weights)
    model.check(device)
    file = Path(request.weights or "")
    weights = {"name": request.weights, "file": None, "sha256": sha256_file(file) if file.is_file() else None}
    title = f"{request.model}{f' with {request.weights}' if request.weights else ''}"
    parts = (model, model.preprocess, model.tokenizer, None, model.sigmoid)
    return Loaded(*parts, title=title, document={"weights": weights}, identity=uuid4().hex)


def _usable(
    surveyed: Iterable[SurveyedSuite], request: EvaluationRequest, incomplete: dict[str, SurveyedSuite]
) -> list[Suite]:
    """Return what can be evaluated of suites, and add those that are not complete to others by name.

    Raises:
        DataError: one is not complete and the evaluation is strict, or nothing can be evaluated.
    """
    suites: list[Suite] = []
    for candidate in surveyed:
        if candidate.error:
            if request.strict:
                raise candidate.error
            incomplete[candidate.name] = candidate
            say(candidate.line)
        suites += [candidate.suite] if candidate.suite else []
    if not suites:
        errors = [candidate.error for candidate in incomplete.values() if candidate.error]
        message = "\n  ".join(("no suite is complete:", *(candidate.line for candidate in incomplete.values())))
        raise errors[0] if len(errors) == 1 else DataError(message, code="missing-suite", place=request.data)
    return suites


def _readable(suites: Sequence[Suite], encoded: Encoded) -> Iterator[SurveyedSuite]:
    """Yield the suites without the sub-tasks of which an image could not be read."""
    for suite in suites:
        pictures = {*suite.images}
        if broken := [broken for broken in encoded.broken if broken.picture in pictures]:
            error = broken_error([suite], broken[0].picture, broken[0].reason)
            yield without_images(suite, {image.picture.path for image in broken}, "broken", error)
        else:
            yield SurveyedSuite(suite.name, "complete", suite)


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
