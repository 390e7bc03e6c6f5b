"""What the phases of the workflow do, in their order. Each finds what the ones before it made, makes its own, and is done
at once where that exists. Torch is imported by those that need it, when they do.
"""

import importlib
import os
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from recompose.digest import sha256_file
from recompose.files import read_json, write_json
from recompose.methods.catalogue import METHODS, Method
from recompose.params import Released
from recompose.plan import Batch, Recipe, Run
from recompose.progress import say
from recompose.store import ERROR, INPUTS, Store
from recompose.workspace import Workspace


class FailedRunsError(RuntimeError):
    """Some runs of a batch failed; the others are complete."""


def acquire(work: Workspace, dataset: str) -> None:
    """Bring a data set onto this disk, check it and index it."""
    from recompose.data.acquire import acquire as acquire_into
    from recompose.data.acquire import bring

    recipe, section = work.plan.datasets[dataset], work.params.datasets.of(dataset)
    with work.store("index").making(recipe) as folder:
        if folder:
            acquire_into(recipe, section, work.data, folder)
        else:  # indexed before; the raw files may have gone since
            bring(recipe, section, work.data)


def metadata_path(work: Workspace, dataset: str) -> Path:
    """The metadata among a data set's raw files: while it is there, they are taken to be there."""
    from recompose.data.acquire import data_root
    from recompose.data.compositional import METADATA

    return data_root(work.plan.datasets[dataset], work.params.datasets.of(dataset), work.data) / METADATA


def make_backbone(work: Workspace) -> None:
    """Pretrain the backbone, or check and, where possible, download its released weights."""
    with _making(work.store("backbones"), work.plan.backbone) as folder:
        if folder and work.plan.corpus:
            _pretrain(work, work.plan.corpus, folder)
        elif folder:
            _fetch_weights(work, folder)


def _fetch_weights(work: Workspace, folder: Path) -> None:
    from recompose.data.download import download

    archive = work.params.backbones.of(work.plan.backbone.name).weights
    path = work.data / "weights" / archive.file
    path.parent.mkdir(parents=True, exist_ok=True)
    download(archive.urls, path, sha256=archive.sha256)
    (folder / archive.file).unlink(missing_ok=True)  # of an attempt that was killed
    (folder / archive.file).symlink_to(os.path.relpath(path, folder))


def _pretrain(work: Workspace, corpus: Recipe, folder: Path) -> None:
    from recompose.backbones.pretrain import pretrain
    from recompose.data.acquire import acquire_corpus

    section = work.params.backbones.of(work.plan.backbone.name)
    _limit_threads(work)
    shards = acquire_corpus(corpus, work.data)
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


def _limit_threads(work: Workspace) -> None:
    import torch

    torch.set_num_threads(work.params.chosen.trainer.threads)


def _load_backbone(work: Workspace) -> Any:
    from recompose.backbones.clip import load

    section = work.params.backbones.of(work.plan.backbone.name)
    return load(section.architecture, section.activation, _weights(work)[0])


def _weights(work: Workspace) -> tuple[Path, str]:
    """The file of the backbone's weights, its bytes checked, and their digest."""
    recipe, store = work.plan.backbone, work.store("backbones")
    section = work.params.backbones.of(recipe.name)
    name = section.weights.file if isinstance(section, Released) else "weights.safetensors"
    record = store.record(recipe)
    return store.file(recipe, name, record), record["files"][name]["sha256"]


def cache_features(work: Workspace, dataset: str) -> None:
    """Encode the images of a data set once."""
    from recompose.backbones.features import write_features
    from recompose.data.acquire import check_content, data_root

    with work.store("features").making(work.plan.features[dataset]) as folder:
        if folder:
            _limit_threads(work)
            root = data_root(work.plan.datasets[dataset], work.params.datasets.of(dataset), work.data)
            data, found = _pair_data(work, dataset), _content(work, dataset)
            check_content(root, data, found)
            paths = [root / sample.path for sample in data.samples]
            write_json(folder / INPUTS, {**found, "weights": _weights(work)[1]})
            say(f"{dataset}: encoding {len(paths)} images")
            write_features(_load_backbone(work), paths, folder, _hardware(work).device)


def _pair_data(work: Workspace, dataset: str) -> Any:
    from recompose.data.pairs import PairData

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
                if folder:
                    say(f"run {number}/{len(batch.runs)} {run.folder}: {run.title}")
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
        self.work, self.dataset = work, batch.dataset
        self._read: dict[str, Any] = {}

    @property
    def data(self) -> Any:
        if "data" not in self._read:
            self._read["data"] = _pair_data(self.work, self.dataset)
        return self._read["data"]

    def features(self, sees: str) -> Any:
        """What a method sees of images."""
        from recompose.backbones.features import read_features

        if sees not in self._read:
            store, recipe = self.work.store("features"), self.work.plan.features[self.dataset]
            self._read[sees] = read_features(store.file(recipe, f"{sees}.npy"))
        return self._read[sees]

    def found(self, entry: Method) -> dict[str, str]:
        """The digests of what a method's run reads."""
        if not entry.needs_backbone:
            return _content(self.work, self.dataset)
        record = self.work.store("features").record(self.work.plan.features[self.dataset])
        words = {"glove": sha256_file(self._glove)} if self._glove else {}
        seen = _class_of(entry).sees
        return {**record["inputs"], seen: record["files"][f"{seen}.npy"]["sha256"], **words}

    @property
    def feasibility(self) -> Any:
        from recompose.training.run import feasibility_by_glove, feasibility_by_text

        if "feasibility" not in self._read:
            prompt, device = self.work.params.feasibility.prompt, _hardware(self.work).device
            self._read["feasibility"] = (
                feasibility_by_glove(self.data, self._glove)
                if self._glove
                else feasibility_by_text(self.data, self.backbone, prompt, device)
            )
        return self._read["feasibility"]

    @property
    def _glove(self) -> Path | None:
        """The word vectors, where the parameters ask for them."""
        from recompose.data.acquire import bring_archive

        section = self.work.params.feasibility
        return bring_archive(section.glove, self.work.data) if section.vectors == "glove" else None

    @property
    def backbone(self) -> Any:
        if "backbone" not in self._read:
            _limit_threads(self.work)
            self._read["backbone"] = _load_backbone(self.work)
        return self._read["backbone"]


def _execute(run: Run, inputs: _Inputs, folder: Path) -> None:
    from recompose.metrics.worlds import FILE, Scores, evaluate, measured

    entry = METHODS[run.method]
    feasibility = inputs.feasibility if entry.needs_backbone else None
    scorer = _trained(run, entry, inputs, folder) if entry.needs_backbone else _class_of(entry)(run.seed).scorer
    if scorer is None:
        return
    write_json(folder / INPUTS, inputs.found(entry))
    evaluate(inputs.data, scorer, feasibility).write(folder / FILE)
    metrics = measured(inputs.data, Scores.read(folder / FILE))
    write_json(folder / "metrics.json", metrics)
    say(f"{run.title}: " + ", ".join(f"{key} AUC {100 * value['dense']['auc']:.1f}" for key, value in metrics.items()))


def _class_of(entry: Method) -> Any:
    return getattr(importlib.import_module(entry.module), entry.class_name)


def _trained(run: Run, entry: Method, inputs: _Inputs, folder: Path) -> Any:
    from recompose.training.run import trained

    method = _class_of(entry)
    return trained(
        method,
        run.document["settings"],
        inputs.backbone,
        inputs.data,
        inputs.features(method.sees),
        folder,
        _hardware(inputs.work),
        seed=run.seed,
        title=run.title,
    )
