"""What the phases of the workflow do, in their order. Each finds what the ones before it made, makes its own, and is
done at once where that exists. Torch is imported by those that need it, when they do.
"""

import os
import shutil
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

from filelock import FileLock

from recompose.data.content import changed_files, write_content
from recompose.digest import sha256_file
from recompose.errors import DataError, DownloadError, FailedError
from recompose.files import fresh_folder, write_json
from recompose.kernels import choose_linear
from recompose.machine import onednn_from
from recompose.params import Backbone, Bundled, Classifier, Pretrained, Released
from recompose.plan import CORPORA, Recipe, closure
from recompose.progress import say
from recompose.store import ERROR
from recompose.tracks import TRACKS
from recompose.tracks.track import Track
from recompose.training.devices import own_devices
from recompose.training.hardware import Hardware
from recompose.workspace import Workspace

BACKBONE = "backbone.json"  # of a backbone: what it takes to load it
DEVICES = ".locks"  # of the results: who has which GPU
WITHOUT_MAPS = ("data", "pixels")  # kinds whose making computes no linear map


@dataclass(frozen=True)
class Phase:
    """A phase: what it is, and how it makes one of its recipes in a folder."""

    about: str
    make: Callable[[Workspace, Recipe, Path], None]
    on_gpu: bool = False  # where there is one: this, and whatever is made from it
    make_together: Callable[[Workspace, Mapping[Path, Recipe]], None] | None = None  # those that a track puts together


def track_of(recipe: Recipe) -> Track:
    """The track whose recipe it is."""
    return TRACKS[recipe.track]


def raw_folder(work: Workspace, recipe: Recipe) -> Path:
    """Where the raw files of a recipe of data lie, verified_download there where they are not."""
    if recipe.track:
        return track_of(recipe).acquire(recipe, work.params, work.data)
    return _scenes(work, recipe)


def _scenes(work: Workspace, recipe: Recipe) -> Path:
    """Draw the corpus that pretrains small backbones, where it is not there yet; gives its folder."""
    write_corpus = import_module(CORPORA[recipe.name]).write_corpus
    root = work.data / f"{recipe.name}-{recipe.folder}"
    root.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(root.with_name(f".{root.name}.lock")):
        if not root.exists():
            say(f"{root.name}: drawing {recipe.document['scenes']} scenes")
            partial = root.with_name(root.name + ".partial")
            fresh_folder(partial).rmdir()
            write_corpus(partial, scenes=recipe.document["scenes"], seed=recipe.document["seed"])
            partial.rename(root)
    return root


def acquire(work: Workspace, recipe: Recipe, folder: Path) -> None:
    """Bring raw data onto this disk, check it and index it."""
    root = raw_folder(work, recipe)
    names = track_of(recipe).index(recipe, root, folder) if recipe.track else [path.name for path in root.glob("*.tar")]
    write_content(root, names, folder)


def _unchanged_raw(work: Workspace, recipe: Recipe) -> Path:
    """The raw files of a data set, as they were when it was indexed.

    Raises:
        DataError: they were changed since.
    """
    root = raw_folder(work, recipe)
    if files := changed_files(root, work.store.folder(recipe)):
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        raise DataError(
            f"{root} was changed since it was indexed: {files[0]}{more}. "
            "Put the files back; a drawn data set is drawn anew where its folder is removed."
        )
    return root


def make_backbone(work: Workspace, recipe: Recipe, folder: Path) -> None:
    """Pretrain a backbone, or check and, where possible, download its released weights."""
    section = work.params.backbones[recipe.name]
    if isinstance(section, Pretrained):
        weights = _pretrain(work, recipe, folder)
    elif isinstance(section, Bundled):
        weights = _copy_asset(work, section, folder)
    else:
        weights = _fetch_weights(work, section, folder)
    write_json(folder / BACKBONE, {**_description(section), "weights": weights})


def _description(section: Backbone) -> dict[str, str]:
    """What it takes to build a backbone's network."""
    if isinstance(section, Classifier):
        return {"library": "torchvision", "architecture": section.architecture}
    return {"architecture": section.architecture, "activation": section.activation}


def _fetch_weights(work: Workspace, section: Released | Classifier, folder: Path) -> str:
    from recompose.data.upstream import verified_download

    archive = section.weights
    with verified_download(work.data, f"weights/{archive.file}", archive.urls, archive.sha256) as path:
        if isinstance(section, Classifier):
            _check_name(path)
    (folder / archive.file).unlink(missing_ok=True)  # of an attempt that was killed
    (folder / archive.file).symlink_to(os.path.relpath(path, folder))
    return archive.file


def _copy_asset(work: Workspace, section: Bundled, folder: Path) -> str:
    """Copy released weights into a folder; returns the file's name.

    Raises:
        DataError: the file is missing, or is another one.
    """
    asset = section.asset
    path = work.assets / asset.file
    if not path.is_file():
        raise DataError(f"{path} is missing: it is released with the project; `git checkout -- assets` restores it")
    if (sha256 := sha256_file(path)) != asset.sha256:
        raise DataError(
            f"{path} has the sha256 {sha256}, not {asset.sha256} as params.yaml says: `git checkout -- assets` "
            "restores it; where you made it anew, put its digest into params.yaml"
        )
    shutil.copyfile(path, folder / asset.file)
    return asset.file


def _check_name(path: Path) -> None:
    """Check a file against the digits of its digest in its name.

    Raises:
        DownloadError: they are another file's.
    """
    expected, sha256 = path.stem.rpartition("-")[2], sha256_file(path)
    if not sha256.startswith(expected):
        raise DownloadError(
            f"{path} has {path.stat().st_size:,} bytes with the sha256 {sha256}, which by its name begins with "
            f"{expected}: move it away or delete it, and it is downloaded again"
        )


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
        DamagedError: it is not made yet.
    """
    from recompose.training.pretraining import release

    recipes = {recipe.name: recipe for recipe in work.plan.of("backbones") if "corpus" in recipe.needs}
    if name not in recipes:
        raise DataError(
            f"profile {work.params.profile} pretrains no backbone {name}; it pretrains: {', '.join(recipes) or 'none'}"
        )
    recipe = recipes[name]
    made = work.store.verify(recipe)["made"]
    about = {"backbone": name, "recipe": recipe.digest, "commit": str(made["commit"]), "device": made["device"]}
    release(_unchanged_raw(work, recipe.needs["corpus"]), work.store.folder(recipe), target, about)
    return sha256_file(target)


def cache_pixels(work: Workspace, recipe: Recipe, folder: Path) -> None:
    """Decode the pictures of a data set once, as towers see them."""
    from recompose.backbones.pixels import write_pixels

    data = recipe.needs["data"]
    root = _unchanged_raw(work, data)
    pictures = track_of(recipe).pictures(work.store.folder(data))
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
    """Encode the images of a data set once, as grids of regions, or take the grids that somebody has made of them."""
    from recompose.backbones.grids import from_hdf5, write_grids
    from recompose.data.upstream import verified_download

    document, needs = recipe.document, recipe.needs
    if "backbone" not in needs:
        images = track_of(recipe).images(_verified(work, needs["data"]))
        with verified_download(work.data, f"archives/{document['file']}", (), document["sha256"]) as path:
            from_hdf5(path, folder, images=len(images))
        return
    root, index = _unchanged_raw(work, needs["data"]), work.store.folder(needs["data"])
    paths = [root / path for path in track_of(recipe).images(index)]
    backbone, device = _verified(work, needs["backbone"]), _hardware(work).device
    _limit_threads(work.params.chosen.trainer.threads)
    write_grids(backbone, paths, folder, device, size=document["size"], layer=document["layer"])


def train(work: Workspace, recipe: Recipe, folder: Path) -> None:
    """Carry out a run."""
    track_of(recipe).train(recipe.document, _needs(work, recipe), folder, _hardware(work), recipe.name)


def evaluate(work: Workspace, recipe: Recipe, folder: Path) -> None:
    """Carry out an evaluation."""
    track_of(recipe).evaluate(recipe.document, _needs(work, recipe), folder, _hardware(work), recipe.name)


def evaluate_together(work: Workspace, recipes: Mapping[Path, Recipe]) -> None:
    """Carry out evaluations that differ in nothing but how they score, each in its folder."""
    first, *others = recipes.values()
    documents = {folder: recipe.document for folder, recipe in recipes.items()}
    title = f"{first.name} and {len(others)} more scorings"
    track_of(first).evaluate_together(documents, _needs(work, first), _hardware(work), title)


PHASES: Mapping[str, Phase] = MappingProxyType(
    {
        "data": Phase("Raw data onto this disk, checked and indexed", acquire),
        "backbones": Phase("The backbones, pretrained here or released", make_backbone, on_gpu=True),
        "pixels": Phase("The images of each data set, decoded once as towers see them", cache_pixels),
        "features": Phase("The images of each data set, encoded once", cache_features, on_gpu=True),
        "grids": Phase("The images of each data set, encoded once as grids of regions", cache_grids, on_gpu=True),
        "runs": Phase("Every method trained, with every seed", train),
        "evaluations": Phase(
            "Every run, and what needs no training, scored on its benchmarks", evaluate, make_together=evaluate_together
        ),
    }
)  # by kind of recipe, in their order: the only list of them


def make(work: Workspace, recipes: Iterable[Recipe]) -> None:
    """Make recipes one after another, where they are not complete.

    One that fails keeps only those from theirs that need it.

    Raises:
        FailedError: names what failed and where its trace is.
    """
    _leave_scheduler()
    recipes = list({recipe.digest: recipe for recipe in recipes}.values())
    if any(recipe.kind not in WITHOUT_MAPS for recipe in recipes):
        choose_linear(onednn_from(work.params.chosen.trainer.linear))
    with _own_devices(work, recipes):
        _make_all(work, recipes)


def _own_devices(work: Workspace, recipes: Sequence[Recipe]) -> AbstractContextManager[object]:
    """Those of the machine's GPUs that this process needs, where it needs some; with ``devices: auto`` all."""
    if is_helper() or not needs_gpu(recipes) or work.params.chosen.trainer.devices == "auto":
        return nullcontext()
    count = gpus_of(work, recipes)
    return own_devices(work.results / DEVICES, count) if count else nullcontext()


def needs_gpu(recipes: Sequence[Recipe]) -> bool:
    """Whether a process that makes these computes where there is a GPU; what others trained takes a download."""
    fetched = all(recipe.kind == "backbones" and not recipe.needs for recipe in recipes)
    return not fetched and any(PHASES[recipe.kind].on_gpu for recipe in closure(recipes))


def gpus_of(work: Workspace, recipes: Sequence[Recipe]) -> int:
    """The GPUs of a process that makes these: devices share the training of a run, and nothing else; with ``devices:
    auto`` Lightning takes all there are.
    """
    trainer = work.params.chosen.trainer
    if trainer.accelerator == "cpu" or not needs_gpu(recipes):
        return 0
    shared = trainer.devices != "auto" and any(recipe.kind == "runs" for recipe in recipes)
    return int(trainer.devices) if shared else 1


def _make_all(work: Workspace, recipes: list[Recipe]) -> None:
    failed: dict[str, str] = {}
    done = 0
    for group in _groups(recipes):
        places = [f"{number}/{len(recipes)}" for number in range(done + 1, done + 1 + len(group))]
        done += len(group)
        lacking = [need for need in group[0].needs.values() if need.digest in failed]
        concerned = group if lacking else [each for each in group if not work.store.is_complete(each)] or group
        try:
            if lacking:
                raise FailedError(f"it needs {lacking[0].name} ({lacking[0].key}), which failed")
            _make_group(work, dict(zip(places, group, strict=True)))
        except Exception as error:
            for recipe in concerned:
                say(f"{recipe.key} ({recipe.name}) failed: {error}")
                trace = "" if lacking else f" see {work.store.folder(recipe) / ERROR};"
                failed[recipe.digest] = f"  {recipe.name}: {error}\n   {trace} alone again: recompose make {recipe.key}"
    if failed:
        raise FailedError("\n".join([f"{len(failed)} of {len(recipes)} failed:", *failed.values()]))


def _groups(recipes: Iterable[Recipe]) -> list[list[Recipe]]:
    """Recipes in their order, with those that go together behind the first of them: they need the same."""
    groups: dict[str, list[Recipe]] = {}
    for recipe in recipes:
        together = PHASES[recipe.kind].make_together is not None
        groups.setdefault(track_of(recipe).pass_key(recipe) if together else recipe.digest, []).append(recipe)
    return list(groups.values())


def _leave_scheduler() -> None:
    """From now on this process is one by itself.

    To Lightning one that Slurm started is one of several that make a run together and that Slurm starts, too. Here a
    job is one process, which starts others where a run has several devices.
    """
    for name in [name for name in os.environ if name.startswith("SLURM_")]:
        del os.environ[name]
    warnings.filterwarnings("ignore", message="The `srun` command is available")  # and is not used, on purpose


def _make_group(work: Workspace, recipes: Mapping[str, Recipe]) -> None:
    """Make recipes that go together, given by their places in the list of all, where they are not complete."""
    if is_helper() and not all(_is_shared(work, recipe) for recipe in recipes.values()):
        return
    with _making(work, list(recipes.values())) as folders:
        for place, recipe in recipes.items():
            _announce(work, recipe, place, is_missing=recipe in folders.values())
        if folders:
            _make_missing(work, folders)
    for place, recipe in recipes.items():
        if recipe.kind == "evaluations" and recipe in folders.values():
            _say_headline(work, recipe, place)


def _announce(work: Workspace, recipe: Recipe, place: str, *, is_missing: bool) -> None:
    title = f"{place} {recipe.key}: {recipe.name}"
    if is_missing:
        say(title, detail=recipe.kind in ("runs", "evaluations"))
        return
    say(f"{title} is complete, and kept", detail=True)
    if recipe.kind == "data":
        raw_folder(work, recipe)  # the raw files may have gone since


def _make_missing(work: Workspace, folders: Mapping[Path, Recipe]) -> None:
    (folder, recipe), *others = folders.items()
    phase = PHASES[recipe.kind]
    if others:
        assert phase.make_together is not None  # or nothing would have been put together
        phase.make_together(work, folders)
    else:
        phase.make(work, recipe, folder)


def _say_headline(work: Workspace, recipe: Recipe, place: str) -> None:
    from recompose.metric_cache import MetricCache

    track = track_of(recipe)
    metric = track.metric(track.headline)
    value = MetricCache(work.store, work.results).of(recipe).get(track.headline)
    if value is not None:
        say(f"{place} {recipe.name}: {track.headline} {metric.factor * value:.{metric.digits}f} {metric.unit}")


def is_helper() -> bool:
    """Whether Lightning started this process to help another, on several devices, with what that one is making."""
    return int(os.environ.get("LOCAL_RANK", "0")) > 0


def _is_shared(work: Workspace, recipe: Recipe) -> bool:
    """Whether a helper has a part in this: devices share training alone, and that before it was complete."""
    return recipe.kind == "runs" and not work.store.is_complete(recipe)


def _making(work: Workspace, recipes: Sequence[Recipe]) -> AbstractContextManager[Mapping[Path, Recipe]]:
    """Make the contents of recipes alone, or help the process that is making them; gives what is to be made, by
    folder.
    """
    if is_helper():
        return nullcontext({work.store.folder(recipe): recipe for recipe in recipes})
    return work.store.making_together(recipes)


def _verified(work: Workspace, recipe: Recipe) -> Path:
    """The folder of a complete recipe, its bytes checked."""
    work.store.verify(recipe)
    return work.store.folder(recipe)


def _needs(work: Workspace, recipe: Recipe) -> dict[str, Path]:
    return {role: _verified(work, need) for role, need in recipe.needs.items()}


def _hardware(work: Workspace) -> Hardware:
    return Hardware(**work.params.chosen.trainer.model_dump(include={"precision", "accelerator", "devices"}))


def _limit_threads(threads: int) -> None:
    import torch

    torch.set_num_threads(threads)
