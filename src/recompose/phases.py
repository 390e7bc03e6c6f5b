"""What the phases of the workflow do, in their order. Each finds what the ones before it made, makes its own, and is done
at once where that exists. Torch is imported by those that need it, when they do.
"""

import importlib
import os
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import Any

from recompose.digest import sha256_file
from recompose.files import read_json, write_json
from recompose.params import Released
from recompose.plan import Batch, Recipe, Run
from recompose.progress import say
from recompose.store import ERROR, INPUTS, Store
from recompose.tracks.czsl.catalogue import METHODS
from recompose.workspace import Workspace

COSTS = "costs.json"  # of a run: what Costs writes
EMBEDDINGS = "embeddings.safetensors"  # of a run that keeps them for figures


class FailedRunsError(RuntimeError):
    """Some runs of a batch failed; the others are complete."""


def acquire(work: Workspace, dataset: str) -> None:
    """Bring a data set onto this disk, check it and index it."""
    from recompose.tracks.czsl.data.acquire import acquire as acquire_into
    from recompose.tracks.czsl.data.acquire import bring

    recipe, section = work.plan.datasets[dataset], work.params.datasets.of(dataset)
    with work.store("index").making(recipe) as folder:
        if folder:
            acquire_into(recipe, section, work.data, folder)
        else:  # indexed before; the raw files may have gone since
            bring(recipe, section, work.data)


def metadata_path(work: Workspace, dataset: str) -> Path:
    """The metadata among a data set's raw files: while it is there, they are taken to be there."""
    from recompose.tracks.czsl.data.layout import METADATA
    from recompose.tracks.czsl.data.location import data_root

    return data_root(work.plan.datasets[dataset], work.params.datasets.of(dataset), work.data) / METADATA


def make_backbone(work: Workspace, name: str) -> None:
    """Pretrain a backbone, or check and, where possible, download its released weights."""
    with _making(work.store("backbones"), work.plan.backbones[name]) as folder:
        if folder and name in work.plan.corpora:
            _pretrain(work, name, folder)
        elif folder:
            _fetch_weights(work, name, folder)


def _fetch_weights(work: Workspace, name: str, folder: Path) -> None:
    from recompose.data.download import download

    archive = work.params.backbones.of(name).weights
    path = work.data / "weights" / archive.file
    path.parent.mkdir(parents=True, exist_ok=True)
    download(archive.urls, path, sha256=archive.sha256)
    (folder / archive.file).unlink(missing_ok=True)  # of an attempt that was killed
    (folder / archive.file).symlink_to(os.path.relpath(path, folder))


def _pretrain(work: Workspace, name: str, folder: Path) -> None:
    from recompose.tracks.czsl.data.acquire import acquire_corpus
    from recompose.training.pretraining import pretrain

    section = work.params.backbones.of(name)
    _limit_threads(section.threads)
    shards = acquire_corpus(work.plan.corpora[name], work.data)
    write_json(folder / INPUTS, {path.name: sha256_file(path) for path in sorted(shards.glob("*.tar"))})
    pretrain(
        section.architecture,
        section.activation,
        shards,
        folder,
        _hardware(work),
        **section.model_dump(include={"seed", "epochs", "batch_size", "lr", "weight_decay"}),
    )


def _hardware(work: Workspace) -> Any:
    from recompose.training.loop import Hardware

    return Hardware(**work.params.chosen.trainer.model_dump(include={"precision", "accelerator", "devices"}))


def _limit_threads(threads: int) -> None:
    import torch

    torch.set_num_threads(threads)


def _load_backbone(work: Workspace, name: str) -> Any:
    from recompose.backbones.clip import load

    section = work.params.backbones.of(name)
    return load(section.architecture, section.activation, _weights(work, name)[0])


def _weights(work: Workspace, backbone: str) -> tuple[Path, str]:
    """The file of a backbone's weights, its bytes checked, and their digest."""
    recipe, store = work.plan.backbones[backbone], work.store("backbones")
    section = work.params.backbones.of(recipe.name)
    name = section.weights.file if isinstance(section, Released) else "weights.safetensors"
    record = store.record(recipe)
    return store.file(recipe, name, record), record["files"][name]["sha256"]


def cache_features(work: Workspace, dataset: str, backbone: str) -> None:
    """Encode the images of a data set once, by a backbone."""
    from recompose.backbones.features import write_features
    from recompose.tracks.czsl.data.acquire import check_content
    from recompose.tracks.czsl.data.location import data_root

    with work.store("features").making(work.plan.features[dataset, backbone]) as folder:
        if folder:
            _limit_threads(work.params.chosen.trainer.threads)
            root = data_root(work.plan.datasets[dataset], work.params.datasets.of(dataset), work.data)
            data, found = _pair_data(work, dataset), _content(work, dataset)
            check_content(root, data, work.store("index").folder(work.plan.datasets[dataset]))
            paths = [root / sample.path for sample in data.samples]
            write_json(folder / INPUTS, {**found, "weights": _weights(work, backbone)[1]})
            say(f"{dataset}: encoding {len(paths)} images")
            write_features(_load_backbone(work, backbone), paths, folder, _hardware(work).device)


def _pair_data(work: Workspace, dataset: str) -> Any:
    from recompose.tracks.czsl.data.pairs import PairData

    store, recipe = work.store("index"), work.plan.datasets[dataset]
    store.verify(recipe)
    return PairData.read(store.folder(recipe))


def _content(work: Workspace, dataset: str) -> dict[str, str]:
    """The digests of a data set's files as they were found when it was indexed."""
    found: dict[str, str] = read_json(work.store("index").file(work.plan.datasets[dataset], "content.json"))
    return found


def carry_out(work: Workspace, batch: Batch) -> None:
    """Train and test the runs of a batch that are not complete.

    A run that fails does not keep the others from theirs.

    Raises:
        FailedRunsError: names the runs that failed and where their traces are.
    """
    inputs = _Inputs(work, batch)
    failed = []
    for number, run in enumerate(batch.runs, start=1):
        try:
            with _making(work.runs, run) as folder:
                said = "" if folder else " is complete, and kept"
                say(f"run {number}/{len(batch.runs)} {run.folder}: {run.title}{said}")
                if folder:
                    _execute(run, inputs, folder)
        except Exception as error:
            say(f"run {run.folder} ({run.title}) failed: {error}")
            failed.append(
                f"  {run.title}: see {work.runs.folder(run) / ERROR}; alone again: recompose train {run.folder}"
            )
    if failed:
        raise FailedRunsError("\n".join([f"{len(failed)} of {len(batch.runs)} runs failed:", *failed]))


def is_helper() -> bool:
    """Whether Lightning started this process to help another, on several devices, with what that one is making."""
    return int(os.environ.get("LOCAL_RANK", "0")) > 0


def _making(store: Store, recipe: Recipe) -> AbstractContextManager[Path | None]:
    """Make a recipe's content alone, or help the process that is making it."""
    return nullcontext(store.folder(recipe)) if is_helper() else store.making(recipe)


class _Inputs:
    """What the runs of a batch share, read when the first of them needs it."""

    def __init__(self, work: Workspace, batch: Batch) -> None:
        self.work, self.dataset, self.backbone_name = work, batch.dataset, batch.backbone

    @cached_property
    def device(self) -> Any:
        """Where a single process computes."""
        return _hardware(self.work).device

    @cached_property
    def data(self) -> Any:
        """The data set's index."""
        return _pair_data(self.work, self.dataset)

    @cached_property
    def _features(self) -> Recipe:
        return self.work.plan.features[self.dataset, str(self.backbone_name)]

    @cached_property
    def embeddings(self) -> Any:
        """Of all images, as the frozen tower gives them."""
        return self._cached("embeddings")

    @cached_property
    def pixels(self) -> Any:
        """Of all images, as bytes."""
        return self._cached("pixels")

    def _cached(self, name: str) -> Any:
        from recompose.backbones.features import read_features

        return read_features(self.work.store("features").file(self._features, f"{name}.npy"))

    def found(self, run: Run) -> dict[str, str]:
        """The digests of what a run reads."""
        if run.backbone is None:
            return _content(self.work, self.dataset)
        record = self.work.store("features").record(self._features)
        read = {name: record["files"][f"{name}.npy"]["sha256"] for name in ("embeddings", "pixels")}
        words = {"glove": sha256_file(self._glove)} if self._glove else {}
        checkpoint = self.checkpoint_of(run)
        return {**record["inputs"], **read, **words, **({"checkpoint": sha256_file(checkpoint)} if checkpoint else {})}

    def checkpoint_of(self, run: Run) -> Path | None:
        """The checkpoint of another run that this one tests, its bytes checked.

        Raises:
            FailedRunsError: that run is not complete.
        """
        if run.checkpoint_of is None:
            return None
        trained = next(other for other in self.work.plan.runs if other.digest == run.checkpoint_of)
        if not self.work.runs.is_complete(trained):
            raise FailedRunsError(
                f"the run whose checkpoint it tests, {trained.folder} ({trained.title}), is not complete"
            )
        return self.work.runs.file(trained, "checkpoint.safetensors")

    @cached_property
    def feasibility(self) -> Any:
        """Of every pair."""
        from recompose.tracks.czsl.run import feasibility_by_glove, feasibility_by_text

        if self._glove:
            return feasibility_by_glove(self.data, self._glove)
        return feasibility_by_text(self.data, self.backbone, self.work.params.feasibility.prompt, self.device)

    @cached_property
    def _glove(self) -> Path | None:
        """The word vectors, where the parameters ask for them."""
        from recompose.tracks.czsl.data.acquire import bring_archive

        section = self.work.params.feasibility
        return bring_archive(section.glove, self.work.data) if section.vectors == "glove" else None

    @cached_property
    def backbone(self) -> Any:
        """The frozen towers."""
        _limit_threads(self.work.params.chosen.trainer.threads)
        return _load_backbone(self.work, str(self.backbone_name))


def _execute(run: Run, inputs: _Inputs, folder: Path) -> None:
    from recompose.tracks.czsl.metrics.worlds import FILE, Scores, evaluate, measured

    if run.backbone is None:
        scores = evaluate(inputs.data, _class_of(run)(run.seed).scorer)
    else:
        scores = _tested(run, inputs, folder)
    if scores is None:
        return
    write_json(folder / INPUTS, inputs.found(run))
    scores.write(folder / FILE)
    metrics = measured(inputs.data, Scores.read(folder / FILE))
    write_json(folder / "metrics.json", metrics)
    say(f"{run.title}: " + ", ".join(f"{key} AUC {100 * value['dense']['auc']:.1f}" for key, value in metrics.items()))


def _class_of(run: Run) -> Any:
    entry = METHODS[run.method]
    return getattr(importlib.import_module(entry.module), entry.class_name)


def _tested(run: Run, inputs: _Inputs, folder: Path) -> Any:
    """The scores of a method on the backbone, trained here, or brought to another run's checkpoint; None for a process that only helped."""
    from recompose.tracks.czsl.metrics.worlds import evaluate
    from recompose.tracks.czsl.run import built, own, trained, write_embeddings
    from recompose.tracks.czsl.training import restore, scorer_of
    from recompose.training.cost import Costs, at_paper_scale

    settings, feasibility, checkpoint = run.document["settings"], inputs.feasibility, inputs.checkpoint_of(run)
    method = built(_class_of(run), settings, inputs.backbone, inputs.data, inputs.embeddings, seed=run.seed)
    features = inputs.pixels if method.sees == "pixels" else inputs.embeddings
    parameters = at_paper_scale(_class_of(run), own(settings), inputs.data.states, inputs.data.objects)
    costs = Costs(method, parameters, inputs.device)
    if checkpoint:
        restore(method, checkpoint)
    elif not trained(
        method,
        settings,
        inputs.data,
        features,
        folder,
        _hardware(inputs.work),
        seed=run.seed,
        title=run.title,
        callbacks=[costs.epochs],
    ):
        return None
    with costs.testing():
        scores = evaluate(inputs.data, scorer_of(method, inputs.data, features, inputs.device), feasibility)
    costs.write(folder / COSTS)
    if "embeddings" in run.document.get("keeps", []):
        write_embeddings(method, inputs.data, features, inputs.device, folder / EMBEDDINGS)
    return scores
