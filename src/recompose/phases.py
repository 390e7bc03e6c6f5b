"""The making of recipes, in the order of the workflow: each from contents of earlier kinds, unless it is complete.

Torch is imported only by what needs it, at the time it runs.
"""

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from recompose.arithmetic import CURRENT, use
from recompose.backbones.steps import ASSETS, RAW
from recompose.data.content import acquire, function_of, unchanged_raw
from recompose.digest import sha256_file
from recompose.errors import DataError, FailedError, error_text
from recompose.files import read_json, write_atomically
from recompose.progress import say
from recompose.recipes.plan import Recipe, closure
from recompose.recipes.state import CHANGED, OUTDATED, state
from recompose.recipes.store import ERROR
from recompose.tracks.measuring import METRICS
from recompose.tracks.track import Track
from recompose.training.devices import own_devices
from recompose.workspace import Workspace

KINDS = ("data", "backbones", "pixels", "features", "grids", "runs", "evaluations")  # in their order: the only list
EVALUATIONS = KINDS[-1]
FOLLOWING = ("metrics", "artifacts", "page")  # from evaluations; what makes reports makes these
TRAINED = ("runs", EVALUATIONS)  # the kinds that methods have; all others are steps before them
DEVICES = ".locks"  # below results/: the locks of GPUs


def track_of(work: Workspace, recipe: Recipe) -> Track:
    """Return the track of a recipe, with what plugins bring."""
    return work.catalogue[recipe.track]


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
    need, weights = recipe.needs["corpus"], work.store.folder(recipe)
    corpus = unchanged_raw(need, work.store.folder(need), work.data)
    write_atomically(target, lambda path: release(corpus, weights, path, about))
    return sha256_file(target)


def carry_out(recipes: Mapping[Path, Recipe], needs: Mapping[str, Path]) -> None:
    """Make a content in a folder, or evaluations that go together, each in its folder, by the function of its recipe.

    It knows the recipe and the folders that it needs, and nothing else.
    """
    first = next(iter(recipes.values()))
    use(first.trainer.get("arithmetic", CURRENT))
    make_content = function_of(first, "make")
    if first.kind == EVALUATIONS:
        make_content(recipes, needs)
    else:
        ((folder, recipe),) = recipes.items()
        make_content(recipe, needs, folder)


def needs_of(work: Workspace, recipe: Recipe) -> dict[str, Path]:
    """Return the folders that the making of a recipe needs, by role, after checking the bytes of contents."""
    needs = {role: _verified(work, need) for role, need in recipe.needs.items()}
    is_made_from_raw = recipe.kind not in (*TRAINED, *FOLLOWING)
    return {**needs, RAW: work.data, ASSETS: work.root / "assets"} if is_made_from_raw else needs


DOWNLOAD: tuple[str, dict[str, Recipe]] = ("backbones", {})  # the kind and the needs of what is only downloaded
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
    """Discard complete content that was made from other content than the store has now of what it needs, and of what
    follows from evaluations, which takes moments, also what was changed.
    """
    for recipe in recipes:
        state_now = state(work.store, recipe)
        if state_now.word == OUTDATED or (state_now.word == CHANGED and recipe.kind in FOLLOWING):
            say(f"{recipe.key} {state_now.why[0]}: it is made anew")
            work.store.discard(recipe.key)


def _own_devices(work: Workspace, recipes: Sequence[Recipe]) -> AbstractContextManager[object]:
    """Return a context in which this process owns the GPUs that it needs; with ``devices: auto`` all of them."""
    if not needs_gpu(recipes) or work.params.chosen.trainer.devices == "auto":
        return nullcontext()
    count = gpus_of(work, recipes)
    return own_devices(work.results / DEVICES, count) if count else nullcontext()


def needs_gpu(recipes: Sequence[Recipe]) -> bool:
    """Return true if a process that makes these recipes uses a GPU; published backbones are only downloaded."""
    computed = [
        recipe for recipe in recipes if recipe.kind not in FOLLOWING and (recipe.kind, recipe.needs) != DOWNLOAD
    ]
    return any(recipe.kind in ON_GPU for recipe in closure(computed))


def threads_of(recipe: Recipe) -> int:
    """Return the number of threads of a process that makes a recipe."""
    return int(recipe.trainer.get("threads", 1))


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
        carry_out({work.store.folder(run): run}, needs_of(work, run))


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
        if folders:
            carry_out(folders, needs_of(work, recipes[0]))
    for recipe in folders.values():
        if recipe.kind == EVALUATIONS:
            _measure(work, recipe)


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
        say(title, detail=recipe.kind in (*TRAINED, *FOLLOWING))
        return
    if recipe.kind not in FOLLOWING:
        say(f"{title} is complete", detail=True)
    if recipe.kind == "data":
        acquire(recipe, work.data)  # raw files may have been deleted


def _measure(work: Workspace, evaluation: Recipe) -> None:
    """Make the metrics of an evaluation, and say the first of them."""
    track = track_of(work, evaluation)
    first, *_ = recipes = track.metrics_of(evaluation)
    discard_outdated(work, recipes)
    _make_all(work, recipes, again=False)
    values: dict[str, float] = read_json(work.store.file(first, METRICS))
    if (value := values.get(track.headline)) is not None:
        metric = track.metric(track.headline)
        say(f"{evaluation.name}: {track.headline} {metric.factor * value:.{metric.digits}f} {metric.unit}")


def make_content(work: Workspace, recipe: Recipe, write: Callable[[Path], object]) -> None:
    """Make a content by a function that writes it into a folder, unless the store has it.

    Raises:
        DamagedError: something that it needs is missing.
    """
    with work.store.build(recipe) as folder:
        if folder:
            write(folder)


def _verified(work: Workspace, recipe: Recipe) -> Path:
    """Return the folder of a complete recipe after checking its bytes."""
    work.store.verify(recipe, keeps=True)
    return work.store.folder(recipe)
