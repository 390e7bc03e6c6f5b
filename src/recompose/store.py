"""The store: content-addressed folders, each complete once its record is written.

``results/<kind>/<folder>/`` is where a recipe's content is made and kept. The record is written last and atomically. It
holds the recipe, the hash of every file, what was found of what it was made from, and by what, where and when it was
made. So an interrupted folder is never taken for a complete one, and a changed, truncated or missing file is found by
name.
"""

import os
import shutil
import time
import traceback
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from stat import S_ISREG
from typing import Any

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from recompose.digest import digest, sha256_file, sha256_files
from recompose.environment import environment, state_of_sources
from recompose.errors import DamagedError, UnknownError
from recompose.files import SCRATCH, read_json, write_json
from recompose.plan import Recipe, described_identity
from recompose.progress import logged, say

RECORD = "record.json"
ATTEMPTS = "attempts.txt"
LOG = "log.txt"
ERROR = "error.txt"
COSTS = "costs.json"
VOLATILE = {LOG, COSTS}  # differs from making to making: no part of what a recipe determines
TICK = 0.1  # seconds, longer than the steps in which file systems tell time
VERIFIED = "verified.json"  # of a store: which bytes were read and found right, so that they need not be read again
Stamp = tuple[int, int, int, int]  # what differs once somebody touched a file


class LenientModel(BaseModel):
    """A part of a document as it has to look; more may stand in it."""

    model_config = ConfigDict(extra="allow", strict=True)


class StoredFile(LenientModel):
    """A file of a folder."""

    sha256: str
    bytes: int


class BuildInfo(LenientModel):
    """By what, where and when a content was made."""

    started: str
    seconds: float
    attempts: int
    host: str
    commit: str | None
    dirty: bool | None
    device: str
    packages: dict[str, str]
    step_seconds: float | None = Field(default=None, gt=0)  # of the machine's probe, where one was kept


class Need(LenientModel):
    """What a recipe needs, by kind and digest."""

    kind: str
    digest: str


class Description(LenientModel):
    """A recipe as plain values."""

    kind: str
    name: str
    track: str
    labels: dict[str, Any]
    digest: str
    document: dict[str, Any]
    needs: dict[str, Need]
    code: dict[str, str]


class Record(Description):
    """The record of a complete folder."""

    inputs: dict[str, str]
    files: dict[str, StoredFile]
    made: BuildInfo


def complaint(error: ValidationError) -> str:
    """The first thing that is wrong with a document."""
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}".removeprefix(": ")


def _stamp(status: os.stat_result) -> Stamp:
    """The system sets the last of these itself, at every change of a file or of what is known of it."""
    return status.st_size, status.st_ino, status.st_mtime_ns, status.st_ctime_ns


def _is_settled(status: os.stat_result) -> bool:
    """Whether the next change of a file cannot bear the time of the last one."""
    return time.time() - status.st_ctime > TICK


def content(record: Mapping[str, Any]) -> str:
    """The digest of all files of a record that its recipe determines: what others that need it record to have found."""
    return digest({name: file["sha256"] for name, file in record["files"].items() if name not in VOLATILE})


class Store:
    """Everything that is kept under ``results/``, a folder for each kind."""

    def __init__(self, results: Path) -> None:
        self.root = results
        self._verified: dict[str, list[Any]] | None = None
        self._learned = False  # whether it holds what its file does not
        self._records: dict[str, tuple[Stamp, dict[str, Any]]] = {}  # by digest, as they were when they were read

    def folder(self, recipe: Recipe) -> Path:
        """Where a recipe's content is, or will be."""
        return self.root.joinpath(recipe.kind, recipe.folder)

    def record_path(self, recipe: Recipe) -> Path:
        """The file that makes a folder complete."""
        return self.root.joinpath(recipe.kind, recipe.folder, RECORD)

    def is_complete(self, recipe: Recipe) -> bool:
        """Whether the content was made to its end."""
        return self.record_path(recipe).exists()

    def is_being_made(self, recipe: Recipe) -> bool:
        """Whether a process on this machine is at it now."""
        return self._is_locked(recipe.kind, recipe.folder)

    def record(self, recipe: Recipe) -> dict[str, Any]:
        """The record of a complete folder; its file is read again where somebody touched it.

        Raises:
            DamagedError: it is missing or is another recipe's.
        """
        path = self.record_path(recipe)
        try:
            status = path.stat()
            if recipe.digest in self._records and self._records[recipe.digest][0] == _stamp(status):
                return self._records[recipe.digest][1]
            record: dict[str, Any] = read_json(path)
            Record.model_validate(record)
            named = described_identity(record)
        except FileNotFoundError:
            raise DamagedError(path, "is not there", "make it with `snakemake --cores all`") from None
        except ValidationError as error:
            raise DamagedError(path, f"is no record ({complaint(error)})", self.remedy(recipe)) from None
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise DamagedError(path, f"is no record ({error})", self.remedy(recipe)) from None
        if not named == record["digest"] == recipe.digest:
            raise DamagedError(path, "holds another recipe than its folder's name says", self.remedy(recipe))
        if _is_settled(status):
            self._records[recipe.digest] = _stamp(status), record
        return record

    def verify(self, recipe: Recipe, *, reading: bool = False) -> dict[str, Any]:
        """The record, once every file has the hash that the record gives.

        Args:
            recipe: of a complete folder.
            reading: whether all bytes are read again, also of files that nobody touched since they were read and found
                right.

        Raises:
            DamagedError: a file is missing, truncated or changed.
        """
        record = self.record(recipe)
        for name, fault in self.faults(recipe, record, reading=reading).items():
            raise DamagedError(self.folder(recipe) / name, fault, self.remedy(recipe))
        return record

    def file(self, recipe: Recipe, name: str) -> Path:
        """The path of a stored file, after its bytes were checked.

        Raises:
            DamagedError: the file is missing, truncated or changed.
        """
        path, record = self.folder(recipe) / name, self.record(recipe)
        if name not in record["files"]:
            raise DamagedError(path, "is none of the files of its record", self.remedy(recipe))
        if fault := self._fault(recipe, name, record["files"][name], reading=False):
            raise DamagedError(path, fault, self.remedy(recipe))
        return path

    def faults(self, recipe: Recipe, record: Mapping[str, Any], *, reading: bool = False) -> dict[str, str]:
        """What is wrong with which file: that it is missing, truncated or changed."""
        found = {name: self._fault(recipe, name, file, reading=reading) for name, file in record["files"].items()}
        self._keep_verified()
        return {name: fault for name, fault in found.items() if fault}

    def _fault(self, recipe: Recipe, name: str, expected: Mapping[str, Any], *, reading: bool) -> str:
        path = self.root.joinpath(recipe.kind, recipe.folder, name)
        try:
            status = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return "is missing"
        if not S_ISREG(status.st_mode):
            return "is missing"
        if status.st_size != expected["bytes"]:
            return f"has {status.st_size} bytes instead of {expected['bytes']}"
        untouched, place = [expected["sha256"], *_stamp(status)], f"{recipe.key}/{name}"
        if not reading and self._known.get(place) == untouched:
            return ""
        if sha256_file(path) != expected["sha256"]:
            return "was changed since it was made"
        self._learn(place, untouched)
        return ""

    def _learn(self, place: str, untouched: list[Any]) -> None:
        if self._known.get(place) != untouched:
            self._known[place] = untouched
            self._learned = True

    @property
    def _known(self) -> dict[str, list[Any]]:
        """The files that were read and found right, as they were then."""
        if self._verified is None:
            self._verified = self._read_verified()
        return self._verified

    def _read_verified(self) -> dict[str, list[Any]]:
        try:
            document = read_json(self.root / VERIFIED)
        except (OSError, ValueError):
            document = {}
        return document if isinstance(document, dict) else {}

    def _keep_verified(self) -> None:
        if self._learned and self._verified is not None and self.root.is_dir():
            self._verified = self._read_verified() | self._verified  # other processes have read others
            write_json(self.root / VERIFIED, self._verified)
            self._learned = False

    def remedy(self, recipe: Recipe) -> str:
        """What to do about a damaged folder."""
        return f"put the file back, or run `recompose store discard {recipe.key}` to have it made again"

    def _lock_path(self, kind: str, folder: str) -> Path:
        return self.root / kind / ".locks" / f"{folder}.lock"

    def _lock(self, kind: str, folder: str, timeout: float = -1) -> FileLock:
        path = self._lock_path(kind, folder)
        path.parent.mkdir(parents=True, exist_ok=True)
        return FileLock(path, timeout=timeout)

    def _is_locked(self, kind: str, folder: str) -> bool:
        if not self._lock_path(kind, folder).exists():
            return False
        try:
            with self._lock(kind, folder, timeout=0):
                return False
        except Timeout:
            return True

    @contextmanager
    def build(self, recipe: Recipe) -> Iterator[Path | None]:
        """Make a recipe's content, alone: gives its folder, or None where it is complete already.

        Of two processes that want the same content one waits for the other. The folder may hold what an interrupted
        process left in ``scratch``. On success all other files are hashed and the record is written. An exception
        leaves its trace in ``error.txt``.
        """
        with self.making_together([recipe]) as folders:
            yield next(iter(folders), None)

    @contextmanager
    def making_together(self, recipes: Collection[Recipe]) -> Iterator[dict[Path, Recipe]]:
        """Make the contents of different recipes in one go: gives the folders of those that are not complete yet.

        Each is locked, logged and recorded as by ``making``; an exception leaves all of them without a record. The
        time of a record is the recipe's share of what all took.
        """
        with ExitStack() as stack:
            for recipe in sorted(recipes, key=attrgetter("key")):  # in one order: nobody waits in a ring
                self._hold(recipe, stack)
            missing = {self.folder(recipe): recipe for recipe in recipes if not self.is_complete(recipe)}
            if not missing:
                yield {}
                return
            for folder in missing:
                (folder / SCRATCH).mkdir(parents=True, exist_ok=True)
                (folder / ERROR).unlink(missing_ok=True)
            started, clock = datetime.now(UTC).isoformat(timespec="seconds"), time.perf_counter()
            sources = state_of_sources()  # now: by the end somebody may have edited them
            attempts = [_one_more_line(folder / SCRATCH / ATTEMPTS, started) for folder in missing]
            try:
                with ExitStack() as logs:
                    for folder in missing:
                        logs.enter_context(logged(folder / LOG))
                    yield missing
                seconds = round((time.perf_counter() - clock) / len(missing), 2)  # of the last attempt
                made = {"seconds": seconds, **sources, **environment()}
                if len(missing) > 1:
                    made["shared_by"] = len(missing)
                records = [
                    self._new_record(recipe, folder, {"started": started, "attempts": count, **made})
                    for (folder, recipe), count in zip(missing.items(), attempts, strict=True)
                ]
            except Exception:
                for folder in missing:
                    (folder / ERROR).write_text(traceback.format_exc())
                raise
            for recipe, record in zip(missing.values(), records, strict=True):
                write_json(self.record_path(recipe), record)
            self._keep_verified()
            for folder in missing:
                shutil.rmtree(folder / SCRATCH)

    def _hold(self, recipe: Recipe, stack: ExitStack) -> None:
        """Hold a recipe's lock until the stack is left; wait for whoever holds it."""
        lock = self._lock(recipe.kind, recipe.folder)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            say(f"{recipe.key}: another process is making it; waiting")
            lock.acquire()
        stack.callback(lock.release)

    def _new_record(self, recipe: Recipe, folder: Path, made: dict[str, Any]) -> dict[str, Any]:
        found = (path for path in sorted(folder.rglob("*")) if path.is_file())
        paths = [path for path in found if not _is_passing(path.relative_to(folder))]
        before = [path.stat() for path in paths]
        files = {}
        for path, status, sha256 in zip(paths, before, sha256_files(paths), strict=True):
            name = path.relative_to(folder).as_posix()
            files[name] = {"sha256": sha256, "bytes": status.st_size}
            if _is_settled(status):
                self._learn(f"{recipe.key}/{name}", [sha256, *_stamp(status)])
        inputs = {role: content(self.record(need)) for role, need in recipe.needs.items()}
        return {**recipe.description(), "inputs": inputs, "files": files, "made": made}

    def discard(self, key: str) -> None:
        """Remove a folder, given as ``<kind>/<folder>``.

        Raises:
            UnknownError: it is none of this store's, or is being made.
        """
        kind, _, folder = key.partition("/")
        path = self.root / kind / folder
        inside = path.parent.parent == self.root and not {"", ".", ".."} & {kind, folder} and folder != ".locks"
        if not inside or not path.is_dir():
            raise UnknownError(
                f"{key!r} is no folder of {self.root}: they are called <kind>/<folder>, such as runs/0123456789ab"
            )
        if self._is_locked(kind, folder):
            raise UnknownError(f"{path} is being made by another process: end that one first")
        shutil.rmtree(path)

    def prune(self, kinds: Iterable[str], keep: Iterable[Recipe], *, dry: bool) -> list[str]:
        """Remove every folder of these kinds but those of ``keep`` and those being made; gives their keys.

        ``dry``: only name them.
        """
        kept = {recipe.key for recipe in keep}
        keys = [
            f"{kind}/{path.name}"
            for kind in kinds
            for path in sorted((self.root / kind).glob("*"))
            if path.is_dir() and path.name != ".locks" and f"{kind}/{path.name}" not in kept
        ]
        free = [key for key in keys if not self._is_locked(*key.split("/"))]
        if not dry:
            for key in free:
                self.discard(key)
        return free


def _is_passing(path: Path) -> bool:
    """Whether a file is scratch, or what a killed writer left of its own."""
    return path.parts[0] == SCRATCH or path.name.startswith(".")


def _one_more_line(path: Path, line: str) -> int:
    """Add a line to a file; gives how many there are."""
    with path.open("a+", encoding="utf-8") as file:
        file.write(line + "\n")
        file.seek(0)
        return len(file.readlines())
