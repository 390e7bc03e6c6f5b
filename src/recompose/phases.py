"""The phases of the workflow, in their order.

Each reads the content of earlier phases and makes its own, unless that is complete. Torch is imported only by the
phases that need it, at the time they run.
"""

import os
import shutil
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

from recompose.data.content import changed_files, write_content
from recompose.data.raw import draw_once
from recompose.digest import sha256_file
from recompose.errors import DataError, DownloadError, FailedError, error_text
from recompose.files import write_atomically, write_json
from recompose.params.sections import Backbone, Bundled, Classifier, Pretrained, Released
from recompose.progress import say
from recompose.recipes.plan import CORPORA, Recipe, closure
from recompose.recipes.store import ERROR
from recompose.tracks.track import Track
from recompose.training.devices import own_devices
from recompose.training.hardware import Hardware
from recompose.workspace import Workspace

BACKBONE = "backbone.json"  # of a backbone: its architecture and weights
TRAINED = ("runs", "evaluations")  # the kinds that methods have; all others are steps before them
DEVICES = ".locks"  # below results/: the locks of GPUs


def track_of(work: Workspace, recipe: Recipe) -> Track:
    """Return the track of a recipe, with what plugins bring."""
    return work.catalogue[recipe.track]


def raw_folder(work: Workspace, recipe: Recipe) -> Path:
    """Return the folder of the raw files of a recipe of data, which are downloaded or generated if they are missing."""
    if recipe.track:
        return track_of(work, recipe).acquire(recipe, work.params, work.data)
    root = work.data / f"{recipe.name}-{recipe.folder}"
    draw_once(import_module(CORPORA[recipe.name]).write_corpus, recipe, root)  # scenes that pretrain small backbones
    return root


def acquire(work: Workspace, recipe: Recipe, folder: Path) -> None:
    """Download or generate raw data, check it and index it."""
    root = raw_folder(work, recipe)
    names = (
        track_of(work, recipe).index(recipe, root, folder)
        if recipe.track
        else [path.name for path in root.glob("*.tar")]
    )
    write_content(root, names, folder)


def _unchanged_raw(work: Workspace, recipe: Recipe) -> Path:
    """Return the folder of the raw files of a data set, unchanged since they were indexed.

    Raises:
        DataError: a file was changed.
    """
    root = raw_folder(work, recipe)
    if files := changed_files(root, work.store.folder(recipe)):
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        message = (
            f"{root} was changed since it was indexed: {files[0]}{more}. "
            "Put the files back; to generate a synthetic data set again, remove its folder."
        )
        raise DataError(message, code="changed-data", place=root / files[0])
    return root


def make_backbone(work: Workspace, recipe: Recipe, folder: Path) -> None:
    """Pretrain a backbone, or check its published weights, which are downloaded if possible."""
    section = work.params.backbones[recipe.name]
    if isinstance(section, Pretrained):
        weights = _pretrain(work, recipe, folder)
    elif isinstance(section, Bundled):
        weights = _copy_asset(work, section, folder)
    else:
        weights = _fetch_weights(work, section, folder)
    write_json(folder / BACKBONE, {**_description(section), "weights": weights})


def _description(section: Backbone) -> dict[str, str]:
    """Return the description from which a backbone's network is built."""
    if isinstance(section, Classifier):
        return {"library": "torchvision", "architecture": section.architecture}
    return {"architecture": section.architecture, "activation": section.activation}


def _fetch_weights(work: Workspace, section: Released | Classifier, folder: Path) -> str:
    from recompose.backbones.published import weights_urls
    from recompose.data.upstream import verified_download

    archive = section.weights
    with verified_download(work.data, f"weights/{archive.file}", weights_urls(section), archive.sha256) as path:
        if isinstance(section, Classifier):
            _check_name(path)
    (folder / archive.file).unlink(missing_ok=True)  # from a killed attempt
    (folder / archive.file).symlink_to(os.path.relpath(path, folder))
    return archive.file


def _copy_asset(work: Workspace, section: Bundled, folder: Path) -> str:
    """Copy released weights into a folder; returns the file's name.

    Raises:
        DataError: the file is missing or has another digest.
    """
    asset = section.asset
    path = work.root / "assets" / asset.file
    if fault := asset_fault(path, asset.sha256):
        message = f"{path} {fault}: `git checkout -- assets` restores it; for a new file, edit params.yaml"
        raise DataError(message, code="wrong-digest", place=path)
    shutil.copyfile(path, folder / asset.file)
    return asset.file


def asset_fault(path: Path, sha256: str) -> str:
    """Return what is wrong with a file that is released with the project; empty if it is right."""
    if not path.is_file():
        return "is missing"
    return "" if sha256_file(path) == sha256 else f"does not match its sha256 in params.yaml, {sha256}"


def _check_name(path: Path) -> None:
    """Check a file against the digits of its digest in its name.

    Raises:
        DownloadError: the digits differ.
    """
    expected, sha256 = path.stem.rpartition("-")[2], sha256_file(path)
    if not sha256.startswith(expected):
        message = (
            f"{path} has {path.stat().st_size:,} bytes with the sha256 {sha256}, which should begin with {expected}: "
            "delete the file to download it again"
        )
        raise DownloadError(message, code="wrong-digest", place=path)


def _pretrain(work: Workspace, recipe: Recipe, folder: Path) -> str:
    from recompose.training.pretraining import WEIGHTS, pretrain

    document = recipe.document
    _limit_threads(document["trainer"]["threads"])
    pretrain(
        work.params.backbones[recipe.name].architecture,
        document["activation"],
        _unchanged_raw(work, recipe.needs["corpus"]),
        folder,
        _hardware(work),
        **{name: document[name] for name in ("seed", "epochs", "batch_size", "lr", "weight_decay")},
    )
    return WEIGHTS


def release_backbone(work: Workspace, name: str, target: Path) -> str:
    """Write a backbone that was pretrained here as a file to release; returns its SHA-256.

    Raises:
        DataError: the profile pretrains no such backbone.
        DamagedError: the backbone is not complete.
    """
    from recompose.training.pretraining import release

    recipes = {recipe.name: recipe for recipe in work.plan.of("backbones") if "corpus" in recipe.needs}
    if name not in recipes:
        known = ", ".join(recipes) or "none"
        message = f"profile {work.params.profile} pretrains no backbone {name}; it pretrains: {known}"
        raise DataError(message, code="unknown-backbone", place=name)
    recipe = recipes[name]
    build = work.store.verify(recipe).made
    about = {"backbone": name, "recipe": recipe.digest, "commit": str(build.commit), "device": build.device}
    corpus, weights = _unchanged_raw(work, recipe.needs["corpus"]), work.store.folder(recipe)
    write_atomically(target, lambda path: release(corpus, weights, path, about))
    return sha256_file(target)


def cache_pixels(work: Workspace, recipe: Recipe, folder: Path) -> None:
    """Decode the pictures of a data set once, as inputs of towers."""
    from recompose.backbones.pixels import write_pixels

    data = recipe.needs["data"]
    root = _unchanged_raw(work, data)
    pictures = track_of(work, recipe).pictures(work.store.folder(data))
    write_pixels(pictures, root, folder, recipe.document["size"])


def cache_features(work: Workspace, recipe: Recipe, folder: Path) -> None:
    """Encode the images of a data set once, by a backbone."""
    from recompose.backbones.clip import load_backbone
    from recompose.backbones.features import write_features
    from recompose.backbones.pixels import read_pixels

    needs = _needs(work, recipe)
    _limit_threads(work.params.chosen.trainer.threads)
    write_features(load_backbone(needs["backbone"]), read_pixels(needs["pixels"]), folder, _hardware(work).device)


def cache_grids(work: Workspace, recipe: Recipe, folder: Path) -> None:
    """Encode the images of a data set once, as grids of regions, or copy ready-made grids."""
    from recompose.backbones.grids import from_hdf5, write_grids
    from recompose.data.upstream import verified_download

    document, needs = recipe.document, recipe.needs
    if "backbone" not in needs:
        images = track_of(work, recipe).pictures(_verified(work, needs["data"]))
        with verified_download(work.data, f"archives/{document['file']}", (), document["sha256"]) as path:
            from_hdf5(path, folder, images=len(images))
        return
    root, index = _unchanged_raw(work, needs["data"]), work.store.folder(needs["data"])
    paths = [root / picture.path for picture in track_of(work, recipe).pictures(index)]
    backbone, device = _verified(work, needs["backbone"]), _hardware(work).device
    _limit_threads(work.params.chosen.trainer.threads)
    write_grids(backbone, paths, folder, device, size=document["size"], layer=document["layer"])


def train(work: Workspace, recipe: Recipe, folder: Path) -> None:
    """Carry out a run."""
    track_of(work, recipe).train(recipe.document, _needs(work, recipe), folder, _hardware(work), recipe.name)


def evaluate(work: Workspace, recipe: Recipe, folder: Path) -> None:
    """Carry out an evaluation."""
    evaluate_together(work, {folder: recipe})


def evaluate_together(work: Workspace, recipes: Mapping[Path, Recipe]) -> None:
    """Carry out evaluations that differ only in their scoring, each in its folder."""
    first = next(iter(recipes.values()))
    documents = {folder: recipe.document for folder, recipe in recipes.items()}
    title = f"{first.name} and {len(recipes) - 1} more scorings" if len(recipes) > 1 else first.name
    track_of(work, first).evaluate(documents, _needs(work, first), _hardware(work), title)


PHASES: Mapping[str, Callable[[Workspace, Recipe, Path], None]] = MappingProxyType(
    {
        "data": acquire,
        "backbones": make_backbone,
        "pixels": cache_pixels,
        "features": cache_features,
        "grids": cache_grids,
        "runs": train,
        "evaluations": evaluate,
    }
)  # kind of recipe -> what makes one in a folder, in their order: the only list of phases
ON_GPU = ("backbones", "features", "grids")  # these, and all phases that need their content, use a GPU if there is one


def make(work: Workspace, recipes: Iterable[Recipe], *, again: bool = False) -> None:
    """Make the recipes that are not complete, one after another; a failure stops only the recipes that need it.

    Args:
        work: the project.
        recipes: the recipes.
        again: compute also what the same code made of the same inputs before, instead of copying it.

    Raises:
        FailedError: recipes failed; the message names them and the files of their tracebacks.
    """
    _leave_scheduler()
    recipes = list({recipe.digest: recipe for recipe in recipes}.values())
    if is_helper():
        _help(work, recipes)
        return
    with _own_devices(work, recipes):
        _make_all(work, recipes, again=again)


def discard_outdated(work: Workspace, recipes: Iterable[Recipe]) -> None:
    """Discard complete content that was made from other content than the store has now of what it needs."""
    store = work.store
    for recipe in recipes:
        if store.is_complete(recipe):
            inputs = {role: store.record(need).content for role, need in recipe.needs.items()}
            if store.record(recipe).inputs != inputs:
                say(f"{recipe.key}: what it was made from was made anew since")
                store.discard(recipe.key)


def _own_devices(work: Workspace, recipes: Sequence[Recipe]) -> AbstractContextManager[object]:
    """Return a context in which this process owns the GPUs that it needs; with ``devices: auto`` all of them."""
    if not needs_gpu(recipes) or work.params.chosen.trainer.devices == "auto":
        return nullcontext()
    count = gpus_of(work, recipes)
    return own_devices(work.results / DEVICES, count) if count else nullcontext()


def needs_gpu(recipes: Sequence[Recipe]) -> bool:
    """Return true if a process that makes these recipes uses a GPU; published backbones are only downloaded."""
    only_downloads = all(recipe.kind == "backbones" and not recipe.needs for recipe in recipes)
    return not only_downloads and any(recipe.kind in ON_GPU for recipe in closure(recipes))


def threads_of(work: Workspace, recipe: Recipe) -> int:
    """Return the number of threads of a process that makes a recipe."""
    if recipe.kind in ("data", "backbones"):
        return int(recipe.document.get("trainer", {}).get("threads", 1))
    return work.params.chosen.trainer.threads


def gpus_of(work: Workspace, recipes: Sequence[Recipe]) -> int:
    """Return the number of GPUs of a process that makes these recipes: only the training of a run uses several.

    With ``devices: auto`` Lightning uses all GPUs, and the number is 1.
    """
    trainer = work.params.chosen.trainer
    if trainer.accelerator == "cpu" or not needs_gpu(recipes):
        return 0
    is_shared = trainer.devices != "auto" and any(recipe.kind == "runs" for recipe in recipes)
    return int(trainer.devices) if is_shared else 1


def is_helper() -> bool:
    """Return true if Lightning started this process to help another one with a run on several devices."""
    return int(os.environ.get("LOCAL_RANK", "0")) > 0


def _help(work: Workspace, recipes: Iterable[Recipe]) -> None:
    """Take part in the runs that the process which started this one makes; that one locks and records them."""
    for run in work.missing(recipe for recipe in recipes if recipe.kind == "runs"):
        PHASES["runs"](work, run, work.store.folder(run))


def _make_all(work: Workspace, recipes: list[Recipe], *, again: bool) -> None:
    failed: dict[str, str] = {}  # key -> message
    for together in passes(work, recipes):
        failed_needs = [need for need in together[0].needs.values() if need.key in failed]
        affected = together if failed_needs else work.missing(together) or together
        try:
            if failed_needs:
                raise FailedError(f"it needs {failed_needs[0].name} ({failed_needs[0].key}), which failed")
            _make_pass(work, together, again=again)
        except Exception as error:
            for recipe in affected:
                say(f"{recipe.key} ({recipe.name}) failed: {error_text(error)}")
                trace = "" if failed_needs else f" see {work.store.folder(recipe) / ERROR};"
                failed[recipe.key] = (
                    f"  {recipe.name}: {error_text(error)}\n   {trace} to retry: recompose make {recipe.key}"
                )
    if failed:
        message = "\n".join([f"{len(failed)} of {len(recipes)} failed:", *failed.values()])
        raise FailedError(message, place=", ".join(failed))


def _make_pass(work: Workspace, recipes: list[Recipe], *, again: bool) -> None:
    """Make the incomplete recipes of one pass over the images, or of a single recipe."""
    for recipe in [] if again else recipes:
        if key := work.store.adopt_equal(recipe):
            say(f"{recipe.key}: {recipe.name} is that of {key}, as its code and inputs are")
    with work.store.build_together(recipes) as folders:
        for recipe in recipes:
            _announce(work, recipe, is_missing=recipe in folders.values())
        if len(folders) > 1:
            evaluate_together(work, folders)
        elif folders:
            ((folder, recipe),) = folders.items()
            PHASES[recipe.kind](work, recipe, folder)
    for recipe in folders.values():
        if recipe.kind == "evaluations":
            _say_headline(work, recipe)


def passes(work: Workspace, recipes: Iterable[Recipe]) -> list[list[Recipe]]:
    """Return recipes in their order; evaluations that one pass over the images makes are together."""
    passes: dict[str, list[Recipe]] = {}
    for recipe in recipes:
        key = track_of(work, recipe).pass_key(recipe) if recipe.kind == "evaluations" else recipe.digest
        passes.setdefault(key, []).append(recipe)
    return list(passes.values())


def _leave_scheduler() -> None:
    """Hide Slurm from Lightning, which would take this process for one of several that Slurm starts for a run.

    Here a job is one process, which starts others itself if a run has several devices.
    """
    for name in [name for name in os.environ if name.startswith("SLURM_")]:
        del os.environ[name]
    warnings.filterwarnings("ignore", message="The `srun` command is available")  # `srun` is unused on purpose


def _announce(work: Workspace, recipe: Recipe, *, is_missing: bool) -> None:
    title = f"{recipe.key}: {recipe.name}"
    if is_missing:
        say(title, detail=recipe.kind in TRAINED)
        return
    say(f"{title} is complete", detail=True)
    if recipe.kind == "data":
        raw_folder(work, recipe)  # raw files may have been deleted


def _say_headline(work: Workspace, recipe: Recipe) -> None:
    from recompose.metric_cache import MetricCache

    track = track_of(work, recipe)
    metric = track.metric(track.headline)
    value = MetricCache(work, keeps=True).of(recipe).get(track.headline)
    if value is not None:
        say(f"{recipe.name}: {track.headline} {metric.factor * value:.{metric.digits}f} {metric.unit}")


def _verified(work: Workspace, recipe: Recipe) -> Path:
    """Return the folder of a complete recipe after checking its bytes."""
    work.store.verify(recipe)
    return work.store.folder(recipe)


def _needs(work: Workspace, recipe: Recipe) -> dict[str, Path]:
    return {role: _verified(work, need) for role, need in recipe.needs.items()}


def _hardware(work: Workspace) -> Hardware:
    return Hardware(**work.params.chosen.trainer.model_dump(include={"precision", "accelerator", "devices"}))


def _limit_threads(threads: int) -> None:
    import torch

    torch.set_num_threads(threads)
