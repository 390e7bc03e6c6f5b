"""The store: content-addressed folders, each complete once its record is written.

``results/<kind>/<folder>/`` is where a recipe's content is made and kept. The record is written last and atomically. It holds the recipe,
the hash of every file, and by what, where and when it was made. So an interrupted folder is never taken for a complete one,
and a changed, truncated or missing file is found by name.
"""

import os
import platform
import shutil
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError

from recompose.digest import digest, sha256_file
from recompose.files import SCRATCH, read_json, write_json
from recompose.plan import Recipe
from recompose.progress import logged, say

KINDS = ("index", "backbones", "features", "runs")
RECORDS = {"runs": "run.json"}  # every other kind: record.json
INPUTS = "inputs.json"  # what the maker found its inputs to be; becomes part of the record
ATTEMPTS = "attempts.txt"
LOG = "log.txt"
ERROR = "error.txt"
PACKAGES = ("torch", "open_clip_torch", "pytorch-lightning", "numpy", "pillow")
SOURCES = ("src", "requirements.lock")  # parameters are in the recipe; nothing else can move a number


class DamagedError(RuntimeError):
    """A stored file is not what its record says.

    ``fault`` says only what is wrong; the message says of which file, and what to do about it.
    """

    def __init__(self, path: Path, fault: str, remedy: str) -> None:
        super().__init__(f"{path} {fault}: {remedy}")
        self.fault = fault


class UnknownError(ValueError):
    """There is no such thing in the store."""


class Form(BaseModel):
    """A part of a document as it has to look; more may stand in it."""

    model_config = ConfigDict(extra="allow", strict=True)


class StoredFile(Form):
    """A file of a folder."""

    sha256: str
    bytes: int


class Made(Form):
    """By what, where and when a content was made."""

    started: str
    seconds: float
    commit: str | None
    dirty: bool | None
    device: str
    packages: dict[str, str]


class Record(Form):
    """The record of a complete folder."""

    digest: str
    recipe: dict[str, Any]
    inputs: dict[str, str]
    files: dict[str, StoredFile]
    made: Made


def complaint(error: ValidationError) -> str:
    """The first thing that is wrong with a document."""
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}".removeprefix(": ")


class Store:
    """One kind of content under ``results/``."""

    def __init__(self, results: Path, kind: str) -> None:
        self.root = results / kind
        self.kind = kind
        self.record_name = RECORDS.get(kind, "record.json")

    def folder(self, recipe: Recipe) -> Path:
        """Where a recipe's content is, or will be."""
        return self.root / recipe.folder

    def record_path(self, recipe: Recipe) -> Path:
        """The file that makes a folder complete."""
        return self.folder(recipe) / self.record_name

    def is_complete(self, recipe: Recipe) -> bool:
        """Whether the content was made to its end."""
        return self.record_path(recipe).exists()

    def is_being_made(self, recipe: Recipe) -> bool:
        """Whether a process on this machine is at it now."""
        if not self._lock_path(recipe).exists():
            return False
        try:
            with self._lock(recipe, timeout=0):
                return False
        except Timeout:
            return True

    def record(self, recipe: Recipe) -> dict[str, Any]:
        """The record of a complete folder.

        Raises:
            DamagedError: it is missing or is another recipe's.
        """
        path = self.record_path(recipe)
        try:
            record: dict[str, Any] = read_json(path)
            Record.model_validate(record)
            identity = digest(record["recipe"])
        except FileNotFoundError:
            raise DamagedError(path, "is not there", "make it with `snakemake --cores all`") from None
        except ValidationError as error:
            raise DamagedError(path, f"is no record ({complaint(error)})", self.remedy(recipe)) from None
        except (OSError, ValueError, RecursionError) as error:
            raise DamagedError(path, f"is no record ({error})", self.remedy(recipe)) from None
        if identity != recipe.digest:
            raise DamagedError(path, "holds another recipe than its folder's name says", self.remedy(recipe))
        return record

    def verify(self, recipe: Recipe) -> dict[str, Any]:
        """The record, once every file was read and has the hash that the record gives.

        Raises:
            DamagedError: a file is missing, truncated or changed.
        """
        record = self.record(recipe)
        for name in record["files"]:
            self.file(recipe, name, record)
        return record

    def verify_sizes(self, recipe: Recipe) -> None:
        """Quickly, without reading: every file is there at its size.

        Raises:
            DamagedError: a file is missing or has another size.
        """
        record = self.record(recipe)
        for name in record["files"]:
            if fault := self._fault_of_size(recipe, name, record):
                raise DamagedError(self.folder(recipe) / name, fault, self.remedy(recipe))

    def file(self, recipe: Recipe, name: str, record: dict[str, Any] | None = None) -> Path:
        """The path of a stored file, after its bytes were checked.

        Raises:
            DamagedError: the file is missing, truncated or changed.
        """
        path = self.folder(recipe) / name
        if fault := self.fault(recipe, name, record or self.record(recipe)):
            raise DamagedError(path, fault, self.remedy(recipe))
        return path

    def fault(self, recipe: Recipe, name: str, record: dict[str, Any]) -> str:
        """What is wrong with a stored file: that it is missing, truncated or changed; empty where nothing is."""
        if fault := self._fault_of_size(recipe, name, record):
            return fault
        same = sha256_file(self.folder(recipe) / name) == record["files"][name]["sha256"]
        return "" if same else "was changed since it was made"

    def _fault_of_size(self, recipe: Recipe, name: str, record: dict[str, Any]) -> str:
        path, expected = self.folder(recipe) / name, record["files"][name]["bytes"]
        if not path.is_file():
            return "is missing"
        size = path.stat().st_size
        return "" if size == expected else f"has {size} bytes instead of {expected}"

    def remedy(self, recipe: Recipe) -> str:
        """What to do about a damaged folder."""
        return f"put the file back, or run `recompose store discard {self.kind}/{recipe.folder}` to have it made again"

    def _lock_path(self, recipe: Recipe) -> Path:
        return self.root / ".locks" / f"{recipe.folder}.lock"

    def _lock(self, recipe: Recipe, timeout: float = -1) -> FileLock:
        path = self._lock_path(recipe)
        path.parent.mkdir(parents=True, exist_ok=True)
        return FileLock(path, timeout=timeout)

    @contextmanager
    def making(self, recipe: Recipe) -> Iterator[Path | None]:
        """Make a recipe's content, alone: gives its folder, or None where it is complete already.

        Of two processes that want the same content one waits for the other. The folder may hold what an interrupted process left
        in ``scratch``. On success all other files are hashed and the record is written. An exception leaves its trace in ``error.txt``.
        """
        lock = self._lock(recipe)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            say(f"{self.kind}/{recipe.folder}: another process is making it; waiting")
            lock.acquire()
        try:
            if self.is_complete(recipe):
                yield None
                return
            folder = self.folder(recipe)
            (folder / SCRATCH).mkdir(parents=True, exist_ok=True)
            (folder / ERROR).unlink(missing_ok=True)
            started, clock = datetime.now(UTC), time.perf_counter()
            sources = state_of_sources()  # now: by the end somebody may have edited them
            attempts = _one_more_line(folder / SCRATCH / ATTEMPTS, started.isoformat(timespec="seconds"))
            try:
                with logged(folder / LOG):
                    yield folder
            except Exception:
                (folder / ERROR).write_text(traceback.format_exc())
                raise
            made = {
                "started": started.isoformat(timespec="seconds"),
                "seconds": round(time.perf_counter() - clock, 2),  # of the last attempt
                "attempts": attempts,
            }
            write_json(self.record_path(recipe), self._new_record(recipe, folder, made | sources | circumstances()))
            shutil.rmtree(folder / SCRATCH)
        finally:
            lock.release()

    def _new_record(self, recipe: Recipe, folder: Path, made: dict[str, Any]) -> dict[str, Any]:
        found = folder / INPUTS
        inputs = read_json(found) if found.exists() else {}
        files = {
            path.relative_to(folder).as_posix(): {"sha256": sha256_file(path), "bytes": path.stat().st_size}
            for path in sorted(folder.rglob("*"))
            if path.is_file() and not _is_passing(path.relative_to(folder))
        }
        return {
            "digest": recipe.digest,
            "recipe": recipe.document,
            "inputs": inputs,
            "files": files,
            "made": made,
        }

    def discard(self, folder: str) -> None:
        """Remove a folder.

        Raises:
            UnknownError: it is none of this store's.
        """
        path = self.root / folder
        if path.parent != self.root or folder in ("", ".", "..") or not path.is_dir():
            raise UnknownError(f"{folder!r} is no folder of {self.root}")
        if self.is_being_made(_Named(folder, {})):
            raise UnknownError(f"{path} is being made by another process: end that one first")
        shutil.rmtree(path)

    def prune(self, keep: Iterable[Recipe], *, dry: bool) -> list[str]:
        """Remove every folder but those of ``keep`` and those being made; gives their names. ``dry``: only name them."""
        kept = {recipe.folder for recipe in keep}
        names = sorted(p.name for p in self.root.glob("*") if p.is_dir() and p.name != ".locks" and p.name not in kept)
        free = [name for name in names if not self.is_being_made(_Named(name, {}))]
        if not dry:
            for name in free:
                self.discard(name)
        return free


class _Named(Recipe):
    """A recipe of which only the folder's name is known."""

    @property
    def folder(self) -> str:
        return self.name


def _is_passing(path: Path) -> bool:
    """Whether a file is scratch, or what a killed writer left of its own."""
    return path.parts[0] == SCRATCH or path.name.startswith(".")


def _one_more_line(path: Path, line: str) -> int:
    """Add a line to a file; gives how many there are."""
    with path.open("a+", encoding="utf-8") as file:
        file.write(line + "\n")
        file.seek(0)
        return len(file.readlines())


def circumstances() -> dict[str, Any]:
    """By what and where content is made: host, device, python, packages."""
    return {
        "host": socket.gethostname(),
        "device": _device(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
    }


def state_of_sources() -> dict[str, Any]:
    """The git commit, and whether sources differ from it; None where there is no git to tell."""
    changed = _git("status", "--porcelain", "--", *SOURCES)
    return {"commit": _git("rev-parse", "HEAD"), "dirty": None if changed is None else bool(changed)}


def _device() -> str:
    """The GPUs where this process used any, the processor otherwise; torch is asked only where it is loaded already."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        return f"{torch.cuda.device_count()} x {torch.cuda.get_device_name()}"
    try:
        models = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    except OSError:
        models = []
    model = models[0].partition(":")[2].strip() if models else platform.machine()
    return f"{os.cpu_count()} x {model}"


def _git(*arguments: str) -> str | None:
    """What git says; None outside a repository or without git."""
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
