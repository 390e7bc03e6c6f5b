"""The store: content-addressed folders, each complete once its record is written.

A recipe's content is made and stored in ``results/<kind>/<folder>/``. The record is written last and atomically. It
holds the recipe, the hash of every file, the digests of the inputs as they were, and the host, device, packages, time
and commit of the build. So an interrupted folder is never mistaken for a complete one, and a changed, truncated or
missing file is identified by name.
"""

import fcntl
import shutil
import time
import traceback
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import Any

from filelock import Timeout

from recompose.digest import digest, sha256_file, sha256_files
from recompose.environment import environment, state_of_sources
from recompose.errors import DamagedError, UnknownError
from recompose.files import SCRATCH, Document, fresh_folder, read_json, write_json, write_text
from recompose.progress import logged
from recompose.recipes.fingerprint import plugin_sources
from recompose.recipes.locks import LOCKS, acquire, lock_below
from recompose.recipes.plan import Recipe
from recompose.recipes.records import LOG, RECORD, Build, Record, StoredFile, remedy
from recompose.recipes.stamps import Stamp, read_seen, stamp_of, take_stamps, write_seen

BEGUN = "begun.json"  # in scratch: the contents of needs, and the number of attempts
ERROR = "error.txt"
MOMENT = 0.1  # seconds for which a process that asks about a lock may hold it
ORIGINS = "origins"  # in the store: files named by the digest of what a content was made from, with its key


class Store:
    """The content under ``results/``, in a folder for each kind."""

    def __init__(self, results: Path, sources: Path = Path()) -> None:
        self.root = results
        self._sources = sources  # the folder of the code, whose commit records name
        self._seen: dict[str, dict[str, Any]] = {}  # by key, what stamps say of its files
        self._verified: dict[Path, list[Any]] = {}  # the hash of each file that was read here, and its stamp then
        self._records: dict[str, tuple[Stamp, Record]] = {}  # by digest, with the stamps of their files

    def folder(self, recipe: Recipe) -> Path:
        """Return the path of a recipe's content."""
        return self.root.joinpath(recipe.kind, recipe.folder)

    def record_path(self, recipe: Recipe) -> Path:
        """Return the path of a recipe's record, which makes the folder complete."""
        return self.root.joinpath(recipe.kind, recipe.folder, RECORD)

    def is_complete(self, recipe: Recipe) -> bool:
        """Return true if a recipe's content is complete."""
        return self.record_path(recipe).exists()

    def is_being_made(self, recipe: Recipe) -> bool:
        """Return true if a process on this machine is making the content now."""
        return self._is_locked(recipe.kind, recipe.folder)

    def record(self, recipe: Recipe) -> Record:
        """Return the record of a complete folder; its file is read again after it was touched.

        Raises:
            DamagedError: the record is missing, invalid or another recipe's.
        """
        path = self.record_path(recipe)
        stamp, cached = stamp_of(path), self._records.get(recipe.digest)
        if stamp and cached and cached[0] == stamp:
            return cached[1]
        record = Record.read(path)
        if stamp:
            self._records[recipe.digest] = stamp, record
        return record

    def verify(self, recipe: Recipe, *, reading: bool = False, keeps: bool = False) -> Record:
        """Return the record after checking that every file has its recorded hash.

        Args:
            recipe: of a complete folder.
            reading: read all bytes again, also of files that were not touched since they were last found right.
            keeps: note the files that were found right, as jobs of the workflow do; queries write nothing.

        Raises:
            DamagedError: a file is missing, truncated or changed.
        """
        record, folder = self.record(recipe), self.folder(recipe)
        is_noted = not keeps or all(self._is_untouched(recipe, name, file) for name, file in record.files.items())
        stamps = {} if is_noted else take_stamps(folder, record.files)
        for name, fault in self.faults(recipe, record, reading=reading or bool(stamps)).items():
            raise DamagedError(folder / name, fault, remedy(recipe.key))
        if stamps:
            self._note(recipe, record.files, stamps)
        return record

    def _note(self, recipe: Recipe, files: Mapping[str, StoredFile], stamps: Mapping[str, Stamp]) -> None:
        """Note that files were found right, with the stamps that they had before they were read."""
        write_seen(self.folder(recipe), {name: files[name].sha256 for name in stamps}, stamps)
        self._seen.pop(recipe.key, None)

    def _is_untouched(self, recipe: Recipe, name: str, expected: StoredFile) -> bool:
        """Return true if a file was noted as right and not touched since."""
        folder = self.folder(recipe)
        if recipe.key not in self._seen:
            self._seen[recipe.key] = read_seen(folder)
        return bool(self._seen[recipe.key].get(name) == [expected.sha256, stamp_of(folder / name)])

    def file(self, recipe: Recipe, name: str) -> Path:
        """Return the path of a stored file, after checking its bytes.

        Raises:
            DamagedError: the file is missing, truncated or changed.
        """
        path, record = self.folder(recipe) / name, self.record(recipe)
        if name not in record.files:
            raise DamagedError(path, "is not in its record", remedy(recipe.key), "unrecorded-file")
        if fault := self._fault(recipe, name, record.files[name], reading=False):
            raise DamagedError(path, fault, remedy(recipe.key))
        return path

    def faults(self, recipe: Recipe, record: Record, *, reading: bool = False) -> dict[str, str]:
        """Return the fault of each file that is missing, truncated or changed."""
        faults = {name: self._fault(recipe, name, file, reading=reading) for name, file in record.files.items()}
        return {name: fault for name, fault in faults.items() if fault}

    def _fault(self, recipe: Recipe, name: str, expected: StoredFile, *, reading: bool) -> str:
        path = self.root.joinpath(recipe.kind, recipe.folder, name)
        if not path.is_file():  # but a folder, or a link that leads nowhere or to itself
            return "is missing"
        if (size := path.stat().st_size) != expected.bytes:
            return f"has {size} bytes instead of {expected.bytes}"
        found = [expected.sha256, stamp_of(path)]
        if not reading and (self._verified.get(path) == found or self._is_untouched(recipe, name, expected)):
            return ""
        if sha256_file(path) != expected.sha256:
            return "was changed since it was made"
        self._verified[path] = found
        return ""

    def _is_locked(self, kind: str, folder: str) -> bool:
        """Return true while a process holds the lock, which may be another user's: it is read, not written."""
        try:
            with (self.root / kind / LOCKS / f"{folder}.lock").open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False

    @contextmanager
    def build(self, recipe: Recipe) -> Iterator[Path | None]:
        """Enter the build of a recipe's content; yields its folder, or None if it is complete.

        Concurrent builds of the same content wait for each other. The folder may hold files in ``scratch`` that an
        interrupted process made of the same inputs. On success all other files are hashed and the record is written. An
        exception leaves its traceback in ``error.txt``.
        """
        with self.build_together([recipe]) as folders:
            yield next(iter(folders), None)

    @contextmanager
    def build_together(self, recipes: Collection[Recipe]) -> Iterator[dict[Path, Recipe]]:
        """Enter the build of several recipes in one process; yields the folders of those that are not complete.

        Each is locked, logged and recorded as by ``build``; an exception leaves all of them without a record. The time
        in a record is the recipe's share of the total.
        """
        with ExitStack() as stack:
            for recipe in sorted(recipes, key=attrgetter("key")):  # one order for all processes prevents deadlocks
                self._acquire(recipe, stack)
            missing = {self.folder(recipe): recipe for recipe in recipes if not self.is_complete(recipe)}
            if not missing:
                yield {}
                return
            inputs = {folder: self._inputs(recipe) for folder, recipe in missing.items()}
            attempts = [_begin(folder, inputs[folder]) for folder in missing]
            started, clock = datetime.now(UTC).isoformat(timespec="seconds"), time.perf_counter()
            try:
                with ExitStack() as logs:
                    for folder in missing:
                        logs.enter_context(logged(folder / LOG))
                    # at the start, since sources may be edited during the build
                    modules = (module for recipe in missing.values() for module in recipe.code)
                    sources = state_of_sources(self._sources, plugin_sources(modules))
                    yield missing
                seconds = round((time.perf_counter() - clock) / len(missing), 2)  # of the last attempt
                shared: Document = {"shared_by": len(missing)} if len(missing) > 1 else {}
                records = [
                    self._new_record(
                        recipe,
                        folder,
                        inputs[folder],
                        Build(started=started, attempts=count, seconds=seconds, **sources, **environment(), **shared),
                    )
                    for (folder, recipe), count in zip(missing.items(), attempts, strict=True)
                ]
            except Exception as error:
                if isinstance(error, OSError) and error.errno and not error.filename:
                    error.filename = str(next(iter(missing)))  # writing names no file, as on a full disk
                for folder in missing:
                    with suppress(OSError):  # of the same disk
                        (folder / ERROR).write_text(traceback.format_exc(), encoding="utf-8")
                raise
            for recipe, record in zip(missing.values(), records, strict=True):
                record.write(self.record_path(recipe))
                with suppress(OSError):  # where it cannot be noted, what is equal is computed again
                    write_text(self.root / ORIGINS / _origin(record, record.inputs), record.key)
            for folder in missing:
                shutil.rmtree(folder / SCRATCH)

    def _acquire(self, recipe: Recipe, stack: ExitStack) -> None:
        """Hold a recipe's lock until the stack is closed; wait if another process holds it."""
        lock = lock_below(self.root / recipe.kind, recipe.folder)
        acquire(lock, f"{recipe.key}: waiting for another process that makes it")
        stack.callback(lock.release)

    def adopt_equal(self, recipe: Recipe) -> str | None:
        """Copy a recipe's content from one that the same code made of the same document and inputs, under other recipes
        of these inputs: code that reads data was edited, and reads what it read before.

        Returns:
            The key of that content; None if there is none without damage, or the recipe needs nothing or is complete.

        Raises:
            DamagedError: something that the recipe needs is missing.
        """
        if not recipe.needs or self.is_complete(recipe):
            return None
        inputs = self._inputs(recipe)
        origin = _origin(recipe, inputs)
        try:
            record = Record.read(self.root / (self.root / ORIGINS / origin).read_text(encoding="utf-8") / RECORD)
        except (OSError, ValueError, DamagedError):
            return None
        with ExitStack() as stack:
            self._acquire(recipe, stack)
            is_equal = _origin(record, record.inputs) == origin and not self.is_complete(recipe)
            return record.key if is_equal and self._copy(record, recipe, inputs) else None

    def _copy(self, record: Record, recipe: Recipe, inputs: dict[str, str]) -> bool:
        """Copy the content of a record as that of a recipe; return false, and leave nothing, where it is damaged."""
        folder = self.folder(recipe)
        shutil.rmtree(folder, ignore_errors=True)  # of an interrupted process
        others = shutil.ignore_patterns(RECORD, SCRATCH, ".*")
        with suppress(OSError):  # of an original that is discarded meanwhile
            shutil.copytree(self.root / record.key, folder, ignore=others, ignore_dangling_symlinks=True)
        stamps = take_stamps(folder, record.files) if folder.exists() else {}
        if self.faults(recipe, record, reading=True):
            shutil.rmtree(folder, ignore_errors=True)
            return False
        self._note(recipe, record.files, stamps)
        made = record.made.model_copy(update={"equal_to": record.key})
        Record.of_recipe(recipe, inputs=inputs, files=record.files, made=made).write(self.record_path(recipe))
        return True

    def _inputs(self, recipe: Recipe) -> dict[str, str]:
        """Return the digests of what a recipe needs as it is now, by role."""
        return {role: self.record(need).input_of(role) for role, need in recipe.needs.items()}

    def _new_record(self, recipe: Recipe, folder: Path, inputs: dict[str, str], made: Build) -> Record:
        files = (path for path in sorted(folder.rglob("*")) if path.is_file())
        paths = [path for path in files if not _is_temporary(path.relative_to(folder))]
        names = [path.relative_to(folder).as_posix() for path in paths]
        stamps = take_stamps(folder, names)
        entries = {
            name: StoredFile(sha256=sha256, bytes=path.stat().st_size)
            for name, path, sha256 in zip(names, paths, sha256_files(paths), strict=True)
        }
        self._note(recipe, entries, stamps)
        return Record.of_recipe(recipe, inputs=inputs, files=entries, made=made)

    def discard(self, key: str) -> None:
        """Remove a folder, given as ``<kind>/<folder>``.

        Raises:
            UnknownError: the store has no such folder, or a process is making it.
        """
        kind, _, folder = key.rstrip("/").partition("/")
        path = self.root / kind / folder
        inside = path.parent.parent == self.root and not {"", ".", ".."} & {kind, folder} and folder != LOCKS
        if not inside or not path.is_dir():
            names = "folders are named <kind>/<folder>, such as runs/0123456789ab"
            raise UnknownError(f"{key!r} is not a folder of {self.root}; {names}", place=key)
        try:
            with lock_below(path.parent, path.name).acquire(timeout=MOMENT):  # nobody makes it anew meanwhile
                shutil.rmtree(path)
        except Timeout:
            message = f"{path} is being made by another process; end that process first"
            raise UnknownError(message, code="being-made", place=path) from None

    def prune(self, kinds: Iterable[str], keep: Iterable[Recipe], *, dry: bool) -> list[str]:
        """Remove every folder of these kinds but those of ``keep`` and those being made; returns their keys.

        With ``dry`` nothing is removed.
        """
        kept_keys = {recipe.key for recipe in keep}
        keys = [
            f"{kind}/{path.name}"
            for kind in kinds
            for path in sorted((self.root / kind).glob("*"))
            if path.is_dir() and path.name != LOCKS and f"{kind}/{path.name}" not in kept_keys
        ]
        free = [key for key in keys if not self._is_locked(*key.split("/"))]
        if not dry:
            for key in free:
                self.discard(key)
        return free


def _origin(recipe: Recipe, inputs: Mapping[str, str]) -> str:
    """Return the digest of what determines a content: of its needs what they hold, whatever made it."""
    return digest({"kind": recipe.kind, "document": recipe.document, "code": recipe.code, "inputs": dict(inputs)})


def _is_temporary(path: Path) -> bool:
    """Return true for a scratch file, and for a killed writer's temporary file."""
    return path.parts[0] == SCRATCH or path.name.startswith(".")


def _begin(folder: Path, inputs: dict[str, str]) -> int:
    """Leave what an interrupted build made of these inputs, and nothing that it made of others; return the number of
    attempts.
    """
    scratch, attempts = folder / SCRATCH, 0
    with suppress(OSError, ValueError, KeyError, TypeError):
        begun = read_json(scratch / BEGUN)
        attempts = int(begun["attempts"]) if begun["inputs"] == inputs else 0
    if not attempts:
        fresh_folder(folder)
    (folder / ERROR).unlink(missing_ok=True)
    write_json(scratch / BEGUN, {"inputs": inputs, "attempts": attempts + 1})
    return attempts + 1
