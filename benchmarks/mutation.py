"""How many small faults in the code of verdicts and measures the tests notice.

Usage: ``python -m benchmarks.mutation [MODULE ...] [--sample 60] [--seed 0] [--jobs 2]``. A mutant has one comparison,
operation, condition, number or return value changed. It is killed if a test of its module fails. The default sample
takes about half an hour.
"""

import argparse
import os
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from importlib import import_module
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from multiprocessing import get_context
from multiprocessing.pool import Pool
from pathlib import Path
from random import Random
from types import CodeType

import pytest

from benchmarks.machine import machine
from benchmarks.mutants import Mutant, mutants

ROOT = Path(__file__).parent.parent
CZSL = "recompose.tracks.czsl.metrics"
TESTS = {  # module -> its tests, below tests/
    "recompose.audit.trust": ("audit/test_trust.py", "audit/test_one_word.py"),
    "recompose.claims.differences": ("claims/test_claims.py",),
    "recompose.claims.verdicts": ("claims/test_claims.py",),
    "recompose.claims.tests": ("claims/test_claims.py",),
    "recompose.claims.price": ("claims/test_price.py",),
    f"{CZSL}.best": ("tracks/czsl/metrics/test_czsl.py", "tracks/czsl/metrics/test_feasibility.py"),
    f"{CZSL}.curves": ("tracks/czsl/metrics/test_czsl.py",),
    f"{CZSL}.czsl": ("tracks/czsl/metrics/test_czsl.py",),
    f"{CZSL}.worlds": ("tracks/czsl/metrics/test_worlds.py",),
    "recompose.tracks.seen_unseen": ("tracks/czsl/metrics/test_czsl.py",),
}
# imported once, not for each mutant
PRELOADED = ("hypothesis", "recompose.workspace", "ruamel.yaml", "scipy.stats", "seaborn", "torch")
LIMIT = 300  # seconds, after which a mutant counts as killed: it never ends


class MutantLoader(SourceFileLoader):
    """A loader of one module, also its finder, with another source than its file has."""

    source = ""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        return spec_from_file_location(name, self.path, loader=self) if name == self.name else None

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.source, self.path, "exec")


def is_killed(module: str, source: str) -> bool:
    """Return True if a test of a module fails with this source; for a process of its own."""

    def stop(*_: object) -> None:
        raise TimeoutError

    assert module not in sys.modules, f"{module} is imported before it is changed"
    loader = MutantLoader(module, str(path_of(module)))
    loader.source = source
    sys.meta_path.insert(0, loader)  # type: ignore[arg-type]
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT)
    options = ["-x", "-q", "-p", "no:cacheprovider", "-m", "not engines and not browser"]
    folder = f"--basetemp={tempfile.gettempdir()}/{os.getpid()}"
    with Path(os.devnull).open("w") as nothing, redirect_stdout(nothing), redirect_stderr(nothing):
        code = pytest.main([*options, folder, *(str(ROOT / "tests" / name) for name in TESTS[module])])
    if code in (pytest.ExitCode.NO_TESTS_COLLECTED, pytest.ExitCode.USAGE_ERROR):
        raise RuntimeError(f"pytest cannot run the tests of {module}: {code!r}")
    return code != pytest.ExitCode.OK


def path_of(module: str) -> Path:
    """Return the file of a module."""
    return ROOT.joinpath("src", *module.split(".")).with_suffix(".py")


def tried(pool: Pool, module: str, sample: int, seed: int) -> Iterator[tuple[Mutant, bool]]:
    """Yield a sample of the mutants of a module, and whether they are killed.

    Raises:
        RuntimeError: the tests of the module fail without any change.
    """
    source = path_of(module).read_text(encoding="utf-8")
    if pool.apply(is_killed, (module, source)):
        raise RuntimeError(f"the tests of {module} fail without a change")
    every = mutants(source)
    chosen = Random(seed).sample(every, min(sample, len(every)))
    return zip(chosen, pool.imap(partial(is_killed, module), [mutant.source for mutant in chosen]), strict=True)


def main() -> None:
    """Print each survivor, then a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", metavar="MODULE", help=f"of {', '.join(TESTS)}; by default all")
    parser.add_argument("--sample", type=int, default=60, help="mutants of each module")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    os.environ["HYPOTHESIS_PROFILE"] = "repeatable"
    for name in PRELOADED:
        import_module(name)
    rows = []
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        with get_context("fork").Pool(arguments.jobs, maxtasksperchild=1) as pool:
            for module in arguments.modules or TESTS:
                counts = Counter[bool]()
                for mutant, killed in tried(pool, module, arguments.sample, arguments.seed):
                    counts[killed] += 1
                    if not killed:
                        print(f"{module}:{mutant.line} survives: {mutant.text.splitlines()[0]}", flush=True)
                rows.append(f"| `{module}` | {counts[True]} / {counts.total()} |")
    print(f"\nOn {machine()}.\n\n| module | killed |\n| --- | ---: |", *rows, sep="\n")


if __name__ == "__main__":
    main()
