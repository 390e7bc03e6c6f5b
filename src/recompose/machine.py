"""This machine: its processor, and a probe of the processor's speed.

The probe runs once, in a process of its own. Its result is stored in the user's cache directory, so that choices which
depend on it never change. The speed alone is measured again: hosts of virtual machines change it within hours.
Torch-free.
"""

import json
import os
import platform
import signal
import subprocess
import sys
import time
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

CACHE = "RECOMPOSE_CACHE"  # the variable that names a folder in place of the user's cache directory
VERSION = 1  # of the probe; its training step never changes, since records are compared by the step's time
PATIENCE = 300  # seconds for a probe, most of it for importing torch
AGE = 3600  # seconds after which the speed is measured again
WITHOUT_ONEDNN, SPEED_ALONE = "--without-onednn", "--speed-alone"  # arguments of the probe's process

AVX512, AVX2, DEFAULT = INSTRUCTION_SETS = ("avx512", "avx2", "default")  # as torch names them, the largest first
FLAGS = {AVX512: {"avx512f", "avx512bw", "avx512dq", "avx512vl", "fma"}, AVX2: {"avx2", "fma"}}

CLEARLY = 0.9  # oneDNN is chosen if it takes at most this share of torch's time
LARGE = 2**23  # multiplications from which the setting `onednn` applies, without measurement


@dataclass(frozen=True)
class Processor:
    """A processor, by all features that distinguish processors of different speed; machines may share one."""

    model: str
    family: str  # the maker's numbers: virtual machines use one name for several processors
    cores: int
    instruction_set: str

    @classmethod
    def here(cls) -> "Processor":
        """Return this machine's processor."""
        facts = _facts()
        family = "/".join(facts.get(name, "") for name in ("cpu family", "model"))
        model = facts.get("model name") or platform.machine()
        return cls(model, family.strip("/"), os.cpu_count() or 1, _instruction_set(set(facts.get("flags", "").split())))


def _facts() -> dict[str, str]:
    """Return the system's entries about the first core; empty on systems without /proc/cpuinfo."""
    try:
        first, _, _ = Path("/proc/cpuinfo").read_text().partition("\n\n")
    except OSError:
        return {}
    lines = (line.partition(":") for line in first.splitlines())
    return {name.strip(): value.strip() for name, _, value in lines}


def _instruction_set(flags: set[str]) -> str:
    """Return the largest instruction set of a processor that torch is allowed to use."""
    largest = next((name for name in INSTRUCTION_SETS if name in FLAGS and flags >= FLAGS[name]), DEFAULT)
    allowed = os.environ.get("ATEN_CPU_CAPABILITY", largest)
    return max(largest, allowed, key=INSTRUCTION_SETS.index) if allowed in INSTRUCTION_SETS else largest


class LinearMap(BaseModel):
    """A linear map, and its measured time with gradients."""

    model_config = ConfigDict(frozen=True)

    rows: int
    into: int
    out: int
    torch_seconds: float = Field(gt=0)
    onednn_seconds: float | None = None

    @property
    def multiplications(self) -> int:
        """The number of multiplications of the map."""
        return self.rows * self.into * self.out

    @property
    def gains(self) -> bool:
        """True if oneDNN is clearly faster."""
        return self.onednn_seconds is not None and self.onednn_seconds <= CLEARLY * self.torch_seconds


class Probe(BaseModel):
    """A measurement of a processor's speed, on one thread."""

    model_config = ConfigDict(frozen=True)

    step_seconds: float = Field(gt=0)  # of a small training step, the same on all machines
    maps: tuple[LinearMap, ...] = ()
    crash: str = ""  # the signal by which oneDNN ended a process here, such as SIGFPE; empty: none


def probe_path() -> Path:
    """Return the path of this machine's probe."""
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
    """Return the probe of this machine, or None if it has not run."""
    try:
        return Probe.model_validate(read_json(probe_path())["probe"])
    except (OSError, ValueError, KeyError, TypeError, ValidationError):
        return None


def probe() -> Probe | None:
    """Return the probe of this machine, or None if it cannot run; runs it on the first call."""
    if cached := cached_probe():
        return cached
    path = probe_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path.with_suffix(".lock")):  # one process measures, the others wait
            if cached := cached_probe():
                return cached
            say("measuring this machine (once)")
            if measurement := _run_probe():
                _write_probe(measurement)
            return measurement
    except OSError as error:
        say(f"this machine cannot be measured: {error}")
        return None


def current_probe() -> Probe | None:
    """Return the probe of this machine with a speed of the last hour, or None if the probe cannot run.

    A busy machine keeps the speed that it has, since processes that share a core slow each other.
    """
    measurement = probe()
    if measurement is None or not _is_old(probe_path()) or _is_busy():
        return measurement
    try:
        with FileLock(probe_path().with_suffix(".lock")):
            if not _is_old(probe_path()):  # another process has measured it meanwhile
                return cached_probe() or measurement
            return _with_speed_of_now(measurement)
    except OSError as error:  # of a folder that may not be written
        say(f"this machine's speed cannot be stored: {error}")
        return measurement


def _with_speed_of_now(measurement: Probe) -> Probe:
    """Measure the speed alone and store the probe with it; returns the probe as it was if that cannot run."""
    say("measuring this machine's speed")
    speed, fault = _run_child(SPEED_ALONE)
    if speed is None:
        say(f"this machine's speed cannot be measured: {fault}")
        return measurement
    measurement = measurement.model_copy(update={"step_seconds": speed.step_seconds})
    _write_probe(measurement)
    return measurement


def _is_old(path: Path) -> bool:
    try:
        return time.time() - path.stat().st_mtime > AGE
    except OSError:
        return False


def _is_busy() -> bool:
    """Return True if more than half of the cores were in use in the last minute."""
    return os.getloadavg()[0] > (os.cpu_count() or 1) / 2


def _write_probe(measurement: Probe) -> None:
    write_json(probe_path(), {"of": _identity(), "probe": measurement.model_dump(mode="json")})


def _run_probe() -> Probe | None:
    """Run the probe, without oneDNN if that crashes; returns None if it cannot run at all."""
    measurement, fault = _run_child()
    if measurement is None:
        measurement, worse = _run_child(WITHOUT_ONEDNN)
        if measurement is None:
            say(f"this machine cannot be measured: {worse}")
            return None
        say(f"oneDNN crashes on this processor ({fault}): linear maps use torch's own kernel")
        return measurement.model_copy(update={"crash": fault})
    return measurement


def _run_child(*arguments: str) -> tuple[Probe | None, str]:
    """Run the probe in a child process; returns its measurement, or None and the reason for its end."""
    source = str(Path(__file__).parents[1])
    paths = os.pathsep.join(filter(None, (source, os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "recompose.probe", *arguments]
    try:
        process = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=PATIENCE)
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, str(error)
    if process.returncode:
        return None, _ending(process.returncode, process.stderr)
    try:
        return Probe.model_validate(json.loads(process.stdout)), ""
    except ValueError as error:
        return None, f"no probe: {error}"


def _ending(code: int, output: str) -> str:
    """Return the signal that ended a process, or the last line of its output.

    >>> _ending(-8, ""), _ending(1, "Traceback\\nImportError: no torch\\n")
    ('SIGFPE', 'ImportError: no torch')
    """
    return signal.Signals(-code).name if code < 0 else (output.strip().splitlines() or [f"exit status {code}"])[-1]


def onednn_from(setting: str) -> int | None:
    """Return the number of multiplications from which linear maps use oneDNN on this machine, or None.

    Args:
        setting: ``trainer.linear``: ``auto``, ``torch`` or ``onednn``.
    """
    if setting == "torch" or (setting == "auto" and Processor.here().instruction_set != AVX512):
        return None
    measurement = probe()
    if measurement is None or measurement.crash:
        return None
    return LARGE if setting == "onednn" else onednn_threshold(measurement.maps)


def onednn_threshold(maps: Iterable[LinearMap]) -> int | None:
    """Return the number of multiplications from which oneDNN is clearly faster for all measured maps, or None.

    >>> small, large = LinearMap(rows=9, into=1, out=1, torch_seconds=1, onednn_seconds=2), (
    ...     LinearMap(rows=99, into=1, out=1, torch_seconds=10, onednn_seconds=5)
    ... )
    >>> onednn_threshold([small, large]), onednn_threshold([small]), onednn_threshold([])
    (99, None, None)
    """
    maps = list(maps)
    loses = max((linear.multiplications for linear in maps if not linear.gains), default=0)
    return min((linear.multiplications for linear in maps if linear.multiplications > loses), default=None)
