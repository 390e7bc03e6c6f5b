"""A call of Snakemake: what it makes anew, its lock and its server of jobs, and what it says at its end."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from filelock import FileLock

from recompose.arithmetic import choose
from recompose.errors import ParamsError, PlanError, RecomposeError, error_text
from recompose.files import read_json, write_json
from recompose.interrupts import end_with_children
from recompose.params.mistakes import nearest
from recompose.phases import KINDS, passes
from recompose.progress import printable
from recompose.recipes.fingerprint import keep_summaries
from recompose.recipes.locks import acquire
from recompose.recipes.recipe_files import write_recipes
from recompose.recipes.store import ERROR
from recompose.tables.kinds import artifact_files
from recompose.workflow.graph import Graph, Job
from recompose.workflow.job_server import ADDRESS, start_server
from recompose.workspace import PROFILE, Workspace

if TYPE_CHECKING:
    from snakemake.workflow import Workflow

SUMMARY = Path("results/logs/summary.txt")  # what the job of the page prints
GRAPH = "RECOMPOSE_GRAPH"  # the variable with the path of the graph, in jobs of a scheduler
REFUSED = {  # option of Snakemake -> why it is not carried out
    "delete_all_output": "--delete-all-output would delete the record of all that is made, which has to be made again "
    "without it. `recompose store prune` removes what nothing needs.",
    "no_hooks": "--no-hooks leaves out what writes the recipes of jobs and starts their server: call without it",
    "export_cwl": "--export-cwl is not carried out by Snakemake 9: it would run the workflow instead",
}


class Call:
    """A call of Snakemake in the current folder."""

    def __init__(self, graph: Graph, forced: Callable[[], set[str]], *, scheduled: bool) -> None:
        self.graph, self.scheduled = graph, scheduled
        self._forced, self._began = forced, time.time()

    @cached_property
    def forced(self) -> set[str]:
        """The keys of contents that it makes anew though they are there."""
        return self._forced()

    @cached_property
    def remade(self) -> set[str]:
        """The keys of what is forced, and of all that is made from it."""
        return self.graph.following(self.forced)

    @classmethod
    def of(cls, workflow: "Workflow") -> Self:
        """Return the call that reads the Snakefile; a mistake in params.yaml, a paper or an option ends it in one line,
        where Snakemake would add the place in the Snakefile and a traceback.
        """
        try:
            return cls._of_user(workflow) if workflow.is_main_process else cls.of_job()
        except RecomposeError as error:
            sys.exit(str(error))
        except OSError as error:
            sys.exit(error_text(error))

    @classmethod
    def _of_user(cls, workflow: "Workflow") -> Self:
        choose_profile(workflow.config_settings.overwrite_config)
        scheduled = bool(workflow.nodes)  # --jobs, the limit of an executor
        graph = Graph.of_folder(Path.cwd(), scheduled=scheduled)
        assert graph.work is not None
        choose(graph.work.params.chosen.trainer.arithmetic)  # for its jobs, and the server of jobs
        if not scheduled:
            end_with_children()  # Snakemake cancels a scheduler's jobs; jobs on this machine are its child processes

        def forced() -> set[str]:
            chosen = workflow.dag_settings  # known once the Snakefile is read
            named = {*chosen.forcerun, *(chosen.targets if chosen.forcetargets else ())}
            return set(graph.jobs) if chosen.forceall else graph.named(named)

        return cls(graph, forced, scheduled=scheduled)

    @classmethod
    def of_job(cls) -> Self:
        """Return the call that submitted this job of a scheduler, from the file that it has written.

        The server of that call is forgotten: on its host the job would compute there, outside of what a scheduler gave
        it.

        Raises:
            PlanError: the file is missing or holds no graph.
        """
        os.environ.pop(ADDRESS, None)
        path = os.environ.get(GRAPH, "")
        try:
            document = read_json(Path(path))
            graph = Graph(Job(**{**job, "needs": tuple(job["needs"])}) for job in document["jobs"])
            return cls(graph, lambda: set(document["forced"]), scheduled=True)
        except (OSError, ValueError, TypeError, LookupError) as error:
            place = path or f"the variable {GRAPH}, which schedulers pass on to their jobs,"
            message = f"{place} names no graph: {error}. Start the workflow again."
            raise PlanError(message, code="no-graph", place=path) from None

    def check_options(self, rules: Iterable[str]) -> None:
        """End in one line where the call has a target that nothing makes, or an option that is refused.

        Snakemake reads its targets after the Snakefile, and names no nearest one.

        Args:
            rules: the names of all rules.
        """
        from snakemake.cli import get_argument_parser

        given, _ = get_argument_parser().parse_known_args(sys.argv[1:])
        names = [name for part in (given.targets, given.forcerun, given.until, given.omit_from) for name in part or ()]
        try:
            check_targets(names, rules, self._work)
        except RecomposeError as error:
            sys.exit(str(error))
        if refused := [option for option in REFUSED if getattr(given, option) and not given.dryrun]:
            sys.exit(REFUSED[refused[0]])

    def start(self) -> None:
        """Hold the profile in this folder until this process ends, write the recipes of what is missing or forced, for
        jobs to read, and start the server of jobs.

        Snakemake keeps what jobs update in one place for all calls in a folder, and each call would delete the copies
        of the other. Its own lock would have to be removed by hand after a kill. A call that had to wait begins anew,
        as what it has planned is made by now.
        """
        self._lock = FileLock(self._own_file("lock"))  # kept, as it ends with this
        handler = signal.signal(signal.SIGTERM, signal.SIG_DFL)  # Snakemake's is for a call with jobs
        profile = self._work.params.profile
        if acquire(self._lock, f"another call makes the profile {profile} here: waiting until it has ended"):
            os.execv(sys.executable, sys.orig_argv)
        signal.signal(signal.SIGTERM, handler)
        keep_summaries()
        for kind in KINDS:  # DVC expects the folder of a phase even if the phase had nothing to do
            (self._work.results / kind).mkdir(parents=True, exist_ok=True)
        complete = self._work.store.is_complete
        wanted = [each for each in self._work.plan.recipes if each.key in self.forced or not complete(each)]
        write_recipes(self._work.results, passes(self._work, wanted))
        if self.scheduled:
            jobs = [asdict(job) for job in self.graph.jobs.values()]
            write_json(self._own_file("json"), {"jobs": jobs, "forced": sorted(self.forced)})
            os.environ[GRAPH] = str(self._own_file("json"))
        if self.scheduled or self._work.params.chosen.trainer.accelerator == "cpu":  # a scheduler's jobs run elsewhere
            start_server()

    @property
    def _work(self) -> Workspace:
        assert self.graph.work is not None
        return self.graph.work

    def _own_file(self, ending: str) -> Path:
        """Return the path of a file that the calls of one profile in one folder have."""
        return self._work.root / ".snakemake" / f"recompose-{self._work.params.profile}.{ending}"

    def succeed(self) -> None:
        """Say what the page's job said, if this call made the page."""
        cancel_timers()
        with suppress(OSError):
            if SUMMARY.stat().st_mtime >= self._began:
                print(SUMMARY.read_text(encoding="utf-8"), end="")

    def fail(self) -> None:
        """Say which contents failed in this call, each with its error and its log."""
        cancel_timers()
        print("\nThe workflow failed; the same command continues where it stopped.", *self.failures(), sep="\n  ")

    def failures(self) -> Iterator[str]:
        """Yield a line for each content that failed in this call."""
        for key, job in self.graph.jobs.items():
            error = self._work.results / key / ERROR
            with suppress(OSError, IndexError):
                if error.stat().st_mtime >= self._began:
                    last = error.read_text(encoding="utf-8", errors="replace").splitlines()[-1]
                    yield printable(f"{job.title}: {last} (results/logs/{key}.log)")


def choose_profile(config: dict[str, object]) -> None:
    """Choose the profile of this process and its jobs, as Snakemake's ``--config`` sets it.

    Raises:
        ParamsError: it sets anything else.
    """
    if others := [name for name in config if name != "profile"]:
        message = f"--config {others[0]}=...: it sets the profile alone; edit {others[0]} in params.yaml"
        raise ParamsError(message, code="config", place=others[0])
    if config:
        os.environ[PROFILE] = str(config["profile"])


def check_targets(targets: Iterable[str], rules: Iterable[str], work: Workspace) -> None:
    """Check the names that a user gave to Snakemake: rules, files of artifacts, or other existing files.

    Raises:
        PlanError: nothing has such a name; the message names the nearest target.
    """
    files = [
        f"{work.reports_place}/{paper.name}/{file}"
        for paper in work.papers
        for name in paper.artifacts
        for file in artifact_files(paper, name)
    ]
    known = [*rules, *files]
    for target in targets:
        if target not in known and not target.startswith("results/") and not (work.root / target).exists():
            message = f"there is no target '{target}'{nearest(target, known)}; `snakemake --list` names all rules"
            raise PlanError(message, code="unknown-target", place=target)


def cancel_timers() -> None:
    """Cancel Snakemake's checks of the limit on starts that are still to come: the call would wait for them."""
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.cancel()
