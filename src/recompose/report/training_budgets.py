"""A table of the budgets of training: what every method of a profile may spend, and what it spent."""

from collections.abc import Iterator, Mapping
from math import ceil
from statistics import mean
from typing import Any

from recompose.params import Params
from recompose.params.track import TrackChoice, TrackSection
from recompose.report.published import PublishedLineage
from recompose.tracks import TRACKS

PUBLISHED = "paper"  # the profile with the papers' data sets
HEADER = (
    "| data set | method | batch | epochs | steps | images seen | seconds | epochs on the papers' data sets |",
    "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |",
)


def budgets_table(params: Params, published: PublishedLineage) -> str:
    """Return a table of the trained methods of a profile, without variants, with the mean time of published runs."""
    seconds: dict[tuple[str, str], list[float]] = {}
    made = published.made
    for key, record in published.records.items():
        if record.kind == "runs" and key in made and record.labels.get("name") == record.labels.get("method"):
            place = str(record.labels["method"]), str(record.labels["dataset"])
            seconds.setdefault(place, []).append(made[key].seconds)
    return "\n".join([*HEADER, *_rows(params, seconds)])


def _rows(params: Params, seconds: Mapping[tuple[str, str], list[float]]) -> Iterator[str]:
    """Yield a row for each trained method on each drawn data set."""
    for track, choice in params.chosen.tracks.items():
        section = params.tracks[track]
        assert isinstance(choice, TrackChoice) and isinstance(section, TrackSection)
        for dataset in choice.datasets:
            images = _training_images(getattr(section.datasets[dataset], "images", None))
            for method in choice.methods:
                training = TRACKS[track].settings(params, method, dataset).get("training", {})
                if images is None or "epochs" not in training:
                    continue
                batch, epochs = training["batch_size"] * training.get("accumulate", 1), training["epochs"]
                spent = seconds.get((method, dataset), [])
                cells = [
                    *(dataset, method, batch, epochs, f"{epochs * ceil(images / batch):,}", f"{epochs * images:,}"),
                    *(f"{mean(spent):.1f}" if spent else "-", _published_epochs(params, track, method)),
                ]
                yield f"| {' | '.join(map(str, cells))} |"


def _training_images(images: Any) -> int | None:
    """Return the training images among the numbers of images of a drawn data set, which are the first of them."""
    if images is None or isinstance(images, int):
        return images
    counts: Mapping[str, int] = images if isinstance(images, Mapping) else images.model_dump()
    return next(iter(counts.values()))


def _published_epochs(params: Params, track: str, method: str) -> str:
    """Return the epochs of a method on each of the papers' data sets, in short."""
    choice = params.profiles[PUBLISHED].tracks.get(track) if PUBLISHED in params.profiles else None
    if not isinstance(choice, TrackChoice):
        return "-"
    # an epochs_factor multiplies these as well
    epochs = {
        dataset: TRACKS[track].settings(params, method, dataset)["training"]["epochs"] // params.chosen.epochs_factor
        for dataset in choice.datasets
    }
    same = len(set(epochs.values())) == 1
    return str(next(iter(epochs.values()))) if same else ", ".join(f"{name} {count}" for name, count in epochs.items())
