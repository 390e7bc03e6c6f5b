"""The machine at hand: its processor, and a probe of how fast that computes.

The probe runs once, in a process of its own, and is kept in the user's cache directory, so that choices which rest on
it never change. No torch is imported here.
"""

import json
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from filelock import FileLock
from platformdirs import user_cache_path
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from recompose.digest import digest, short
from recompose.files import read_json, write_json
from recompose.progress import say

CACHE = "RECOMPOSE_CACHE"  # the variable that names another folder than the user's
VERSION = 1  # of what the probe measures; records are compared by its step, so that one never changes
PATIENCE = 300  # seconds, with a probe; most of it imports torch

AVX512, AVX2, DEFAULT = INSTRUCTION_SETS = ("avx512", "avx2", "default")  # as torch tells them apart, the largest first
FLAGS = {AVX512: {"avx512f", "avx512bw", "avx512dq", "avx512vl", "fma"}, AVX2: {"avx2", "fma"}}

CLEARLY = 0.9  # of torch's time: what oneDNN may take of it to be chosen
LARGE = 2**23  # multiplications from which `onednn` takes a map without being measured


@dataclass(frozen=True)
class Processor:
    """A processor, by all that tells apart those that compute at different speeds; machines may share one."""

    model: str
    family: str  # its maker's numbers: virtual machines give one name to several
    cores: int
    instruction_set: str

    @classmethod
    def here(cls) -> "Processor":
        """Return this machine's."""
        facts = _facts()
        family = "/".join(facts.get(name, "") for name in ("cpu family", "model"))
        model = facts.get("model name") or platform.machine()
        return cls(model, family.strip("/"), os.cpu_count() or 1, _instruction_set(set(facts.get("flags", "").split())))


def _facts() -> dict[str, str]:
    """Return what the system says of the first core; nothing where it says nothing."""
    try:
        first, _, _ = Path("/proc/cpuinfo").read_text().partition("\n\n")
    except OSError:
        return {}
    lines = (line.partition(":") for line in first.splitlines())
    return {name.strip(): value.strip() for name, _, value in lines}


def _instruction_set(flags: set[str]) -> str:
    """Return the largest that a processor has and torch is not told to leave alone."""
    largest = next((name for name in INSTRUCTION_SETS if name in FLAGS and flags >= FLAGS[name]), DEFAULT)
    allowed = os.environ.get("ATEN_CPU_CAPABILITY", largest)
    return max(largest, allowed, key=INSTRUCTION_SETS.index) if allowed in INSTRUCTION_SETS else largest


class LinearMap(BaseModel):
    """A linear map, and what it takes with its gradients."""

    model_config = ConfigDict(frozen=True)

    rows: int
    into: int
    out: int
    torch_seconds: float = Field(gt=0)
    onednn_seconds: float | None = None

    @property
    def multiplications(self) -> int:
        """Its size."""
        return self.rows * self.into * self.out

    @property
    def gains(self) -> bool:
        """Tell whether it gains clearly by oneDNN."""
        return self.onednn_seconds is not None and self.onednn_seconds <= CLEARLY * self.torch_seconds


class Probe(BaseModel):
    """A measurement of how fast a processor computes, on one thread."""

    model_config = ConfigDict(frozen=True)

    step_seconds: float = Field(gt=0)  # of a small training step, the same everywhere
    maps: tuple[LinearMap, ...] = ()
    crash: str = ""  # how oneDNN ended a process here, such as SIGFPE; empty: it did not


def probe_path() -> Path:
    """Return where the probe of this machine is, or will be."""
    return _folder() / f"probe-{short(digest(_identity()))}.json"


def _folder() -> Path:
    return Path(os.environ[CACHE]) if os.environ.get(CACHE) else user_cache_path("recompose")


def _identity() -> dict[str, str | int]:
    try:
        torch = version("torch")
    except PackageNotFoundError:
        torch = ""
    return {**asdict(Processor.here()), "torch": torch, "version": VERSION}


def cached_probe() -> Probe | None:
    """Return the probe of this machine, or None where it has not run."""
    try:
        return Probe.model_validate(read_json(probe_path())["probe"])
    except (OSError, ValueError, KeyError, TypeError, ValidationError):
        return None


def probe() -> Probe | None:
    """Return the probe of this machine, which runs now if it never did, or None where it cannot."""
    if cached := cached_probe():
        return cached
    path = probe_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path.with_suffix(".lock")):  # of several processes one measures
            if cached := cached_probe():
                return cached
            say("measuring this machine (once)")
            if measured := _metric():
                write_json(path, {"of": _identity(), "probe": measured.model_dump(mode="json")})
            return measured
    except OSError as error:
        say(f"this machine cannot be measured: {error}")
        return None


def _metric() -> Probe | None:
    """Run the probe, without oneDNN where that ends it; None where it cannot run at all."""
    measured, fault = _child()
    if measured is None:
        measured, worse = _child("--without-onednn")
        if measured is None:
            say(f"this machine cannot be measured: {worse}")
            return None
        say(f"oneDNN crashes on this processor ({fault}): linear maps stay with torch's own")
        return measured.model_copy(update={"crash": fault})
    return measured


def _child(*arguments: str) -> tuple[Probe | None, str]:
    """Run the probe in a child; gives what it measured, or None and how it ended."""
    source = str(Path(__file__).parents[1])
    paths = os.pathsep.join(filter(None, (source, os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "recompose.probe", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=PATIENCE)
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, str(error)
    if done.returncode:
        return None, _ending(done.returncode, done.stderr)
    try:
        return Probe.model_validate(json.loads(done.stdout)), ""
    except ValueError as error:
        return None, f"no probe: {error}"


def _ending(code: int, said: str) -> str:
    """Return how a process ended: its signal, or the last line that it said.

    >>> _ending(-8, ""), _ending(1, "Traceback\\nImportError: no torch\\n")
    ('SIGFPE', 'ImportError: no torch')
    """
    return signal.Signals(-code).name if code < 0 else (said.strip().splitlines() or [f"exit status {code}"])[-1]


def onednn_from(setting: str) -> int | None:
    """Return the multiplications from which linear maps go to oneDNN on this machine, or None where none do.

    Args:
        setting: ``trainer.linear``: ``auto``, ``torch`` or ``onednn``.
    """
    if setting == "torch" or (setting == "auto" and Processor.here().instruction_set != AVX512):
        return None
    measured = probe()
    if measured is None or measured.crash:
        return None
    return LARGE if setting == "onednn" else gains_from(measured.maps)


def gains_from(maps: Iterable[LinearMap]) -> int | None:
    """Return the multiplications from which every map that was measured gains clearly by oneDNN, or None.

    >>> small, large = LinearMap(rows=9, into=1, out=1, torch_seconds=1, onednn_seconds=2), (
    ...     LinearMap(rows=99, into=1, out=1, torch_seconds=10, onednn_seconds=5)
    ... )
    >>> gains_from([small, large]), gains_from([small]), gains_from([])
    (99, None, None)
    """
    maps = list(maps)
    loses = max((linear.multiplications for linear in maps if not linear.gains), default=0)
    return min((linear.multiplications for linear in maps if linear.multiplications > loses), default=None)
