"""A look at the machine and at what a profile asks of it, before any work."""

from recompose.engine import Engine
from recompose.machine import Processor, probe
from recompose.monitor.doctor import inputs, machine, room
from recompose.monitor.doctor.check import FINE, STATES, STOPS, WARNING, Check
from recompose.monitor.doctor.machine import Machine
from recompose.monitor.work_plan import needed_of
from recompose.params import Bundled, Pretrained, load_params
from recompose.tracks import FORMS, TRACKS
from recompose.workspace import Workspace, plan_of

__all__ = ["FINE", "STATES", "STOPS", "WARNING", "Check", "Machine", "examine"]


def examine(work: Workspace, here: Machine) -> list[Check]:
    """All checks, in the order in which their subjects are needed."""
    trainer, plan = work.params.chosen.trainer, work.plan
    measured = probe()
    engine = Engine(work)
    needed = needed_of(engine, set())
    sources = inputs.sources(work)
    images = {name: sum(counts.values()) for name, counts in engine.costs.sizes.items()}
    checks = [
        machine.python(here),
        machine.packages(here, machine.locked(work.root)),
        machine.processor(Processor.here(), measured, trainer),
        machine.gpus(here, trainer, work.missing(plan.of("runs"))),
        machine.gpu_memory(here, trainer, needed),
        *room.disk(work, sources, room.caches(work, images)),
        *inputs.checks(sources, work),
        *inputs.assets(work),
        inputs.unlocked(sources, work),
        machine.scheduler(here),
        _at_work(work),
    ]
    found = [check for check in checks if check]
    return [*found, _profile(work, stopped=any(check.state == STOPS for check in found))]


def _at_work(work: Workspace) -> Check:
    """Whether another workflow is at it already."""
    busy = [recipe for recipe in work.missing(work.plan.recipes) if work.store.is_being_made(recipe)]
    if busy:
        found = f"{len(busy)} being made by other processes, such as {busy[0].name}"
        return Check("at work", WARNING, found, "another workflow waits for these: `recompose status` shows them")
    return Check("at work", FINE, "no other process makes anything here")


def _profile(work: Workspace, *, stopped: bool) -> Check:
    """Which profile is chosen, and which would run here all the same where that one would not."""
    name = work.params.profile
    if not stopped:
        return Check("profile", FINE, name)
    free = ", ".join(other for other in work.params.profiles if other != name and _is_free(work, other))
    return Check("profile", WARNING, f"{name} would stop", f"what needs no download and no GPU: {free}" if free else "")


def _is_free(work: Workspace, profile: str) -> bool:
    """Whether a profile needs nothing from elsewhere, and no GPU."""
    params = load_params(work.root / "params.yaml", FORMS, profile)
    plan = plan_of(params)
    released = [r for r in plan.of("backbones") if not isinstance(params.backbones[r.name], Pretrained | Bundled)]
    published = [r for r in plan.of("data") if r.track and not TRACKS[r.track].is_synthetic(r)]
    return params.chosen.trainer.accelerator != "gpu" and not released and not published
