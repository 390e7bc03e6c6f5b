"""Checks of the machine, and of what a profile needs, before any work."""

import os
from pathlib import Path

from recompose.commands.plan import planned_items
from recompose.costs import Costs
from recompose.environment import processor_name
from recompose.monitor.doctor import disk_space, inputs, machine
from recompose.monitor.doctor.check import FINE, STATES, STOPS, WARNING, Check
from recompose.monitor.doctor.machine import SystemInfo
from recompose.params import Bundled, Pretrained
from recompose.plugins import Plugin
from recompose.tracks import TRACKS
from recompose.workspace import Workspace, plan_of

__all__ = ["FINE", "STATES", "STOPS", "WARNING", "Check", "SystemInfo", "examine"]


def examine(work: Workspace, system: SystemInfo) -> list[Check]:
    """Return all checks, in the order in which a workflow needs their subjects."""
    trainer, plan = work.params.chosen.trainer, work.plan
    costs = Costs.of(work, plan)
    items = planned_items(work, costs, set())
    sources = inputs.input_sources(work)
    images = {data.digest: sum(counts.values()) for data in plan.of("data") if (counts := costs.size(data))}
    candidates = [
        machine.check_python(system),
        machine.check_packages(system, machine.locked_versions(work.root)),
        Check("processor", FINE, f"{os.cpu_count()} x {processor_name()}"),
        machine.check_gpus(system, trainer, work.missing(plan.of("runs"))),
        machine.check_gpu_memory(system, trainer, items),
        *(Check("plugin", FINE, _plugin_text(plugin, work.root)) for plugin in work.plugins),
        *disk_space.check_disks(work, sources, disk_space.cache_needs(work, images)),
        *inputs.check_sources(sources, work),
        *inputs.check_assets(work),
        inputs.check_checksums(sources, work),
        machine.check_scheduler(system),
        _check_concurrent_work(work),
    ]
    checks = [check for check in candidates if check]
    return [*checks, _check_profile(work, stopped=any(check.state == STOPS for check in checks))]


def _plugin_text(plugin: Plugin, root: Path) -> str:
    """Return where a plugin is from and what it brings."""
    folder = os.path.relpath(plugin.folder, root) if plugin.is_named else plugin.origin
    return f"{plugin.name} from {folder}: {', '.join(plugin.contents()) or 'nothing'}"


def _check_concurrent_work(work: Workspace) -> Check:
    """Check that no other process works in this folder."""
    busy = [recipe for recipe in work.missing(work.plan.recipes) if work.store.is_being_made(recipe)]
    if busy:
        finding = f"other processes are making {len(busy)} results, such as {busy[0].name}"
        return Check("at work", WARNING, finding, "another workflow would wait for them; `recompose status` lists them")
    return Check("at work", FINE, "no other process works here")


def _check_profile(work: Workspace, *, stopped: bool) -> Check:
    """Name the chosen profile and, where it would stop, those that run here without downloads and GPU."""
    name = work.params.profile
    if not stopped:
        return Check("profile", FINE, name)
    free = ", ".join(profile for profile in work.params.profiles if profile != name and _is_free(work, profile))
    return Check("profile", WARNING, f"{name} would stop", f"without downloads and GPU: {free}" if free else "")


def _is_free(work: Workspace, profile: str) -> bool:
    """Return true where a profile needs no download and no GPU."""
    params = work.load(profile)
    plan = plan_of(params)
    released = [r for r in plan.of("backbones") if not isinstance(params.backbones[r.name], Pretrained | Bundled)]
    published = [r for r in plan.of("data") if r.track and not TRACKS[r.track].is_synthetic(r)]
    return params.chosen.trainer.accelerator != "gpu" and not released and not published
