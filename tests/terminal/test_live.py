"""How a workflow looks while it works, in a terminal and elsewhere, and what ends it."""

import io
import os
import re
import signal
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from recompose.engine import Engine
from recompose.monitor.reproduction import PaperProgress, Reproduction, Snapshot, Work
from recompose.monitor.running import Progress
from recompose.monitor.snakemake_call import SnakemakeCall
from recompose.monitor.status import StoreItem
from recompose.report.lineage import Lineage, LineageCell, lineage_path
from recompose.terminal import live
from recompose.terminal.live import Headlines, Lines, follow, rendered, show_opening
from recompose.terminal.summary import headline_number
from recompose.terminal.text import rough_duration
from recompose.workspace import Workspace
from tests.configuration import new_workspace
from tests.conftest import PATIENCE

pytestmark = pytest.mark.slow

EPOCHS = Progress("epoch", 2, 5, 0.1, 30.0, "")
TRAINS = StoreItem("runs", "0123456789ab", "csp on shapes-pairs, seed 0", "running", progress=EPOCHS)
FAILED = StoreItem("runs", "ba9876543210", "csp on shapes-pairs, seed 1", "failed", error=("KeyError: \x1b[31m'a'",))
NUMBER = "msci 31.2 ± 1.0 % (test/closed/dense/auc on shapes-pairs, n = 3)"
CELL = {
    "row": "MSCI",
    "column": "AUC",
    "view": "exact",
    "part": "",
    "benchmark": "shapes-pairs",
    "metric": "test/closed/dense/auc",
    "names": ["msci"],
    "text": "31.2 ± 1.0",
    "value": 31.2,
    "spread": 1.0,
    "n": 3,
    "better": 1,
    "aggregate": "mean",
    "made_from": [],
    "values": [30.2, 31.2, 32.2],
    "missing": [],
    "beside": [],
}
OTHER_CELLS = [
    CELL | {"names": ["csp"], "text": "30.0"},
    CELL | {"metric": "test/closed/dense/h", "text": "40.0"},
    CELL | {"text": "-", "value": None, "n": None},
]


def lineage_of(*cells: dict[str, Any]) -> Lineage:
    """The lineage of a table with these cells."""
    parts: dict[str, dict[str, Any]] = {key: {} for key in ("records", "other_recipes", "metric_code", "files")}
    shown = [LineageCell.model_validate(cell) for cell in cells]
    return Lineage.model_construct(track="czsl", benchmarks={}, cells=shown, planned=[], **parts)


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    return new_workspace(tmp_path, "smoke")


@pytest.fixture
def headlines(work: Workspace) -> Headlines:
    """Numbers of headline tables, of which MSCI's is made."""
    path = lineage_path(work.reports / "msci" / "table-2")
    path.parent.mkdir(parents=True)
    lineage_of(*OTHER_CELLS, CELL).write(path)
    return Headlines(work, work.papers)


def snapshot(
    made: Iterable[str] = (), written: Iterable[str] = (), done: float = 200.0, failed: Iterable[StoreItem] = ()
) -> Snapshot:
    papers = [
        PaperProgress("msci", Work(done, 400.0), tuple(made), 13),
        PaperProgress("clip-cae", Work(0.0, 7200.0), (), 9),
    ]
    written = [("msci", name) for name in written]
    return Snapshot("demo", papers, Work(done, 800.0), written, [TRAINS], list(failed), 751.0, 1440.0)


def shown(of: Snapshot, headlines: Headlines) -> str:
    headlines.read(of)
    file = io.StringIO()
    Console(file=file, width=80).print(rendered(of, headlines))
    return file.getvalue()


def complete(work: Workspace, kind: str, count: int) -> None:
    for recipe in work.plan.of(kind)[:count]:
        with work.store.build(recipe):
            pass


# in a terminal


def test_each_paper_has_a_bar_in_expected_seconds_and_what_trains_its_epoch(headlines: Headlines) -> None:
    lines = shown(snapshot(), headlines).splitlines()
    assert re.search(r"\bdemo\b.* 25% .* 0:12:31 .*\b24 min\b", lines[0])
    assert re.search(r"^msci .* 50% +3 min\b.*\b7 min +0\b.*\b13\b", lines[1])
    assert re.search(r"clip-cae .* 0% +0 s\b.*\b2\.0 h +0\b.*\b9\b", lines[2])
    assert re.search(rf"{TRAINS.title} .*{EPOCHS.unit} 2/5 +30 s\b", lines[-1])
    assert max(map(len, lines)) <= 80


def test_a_headline_table_shows_its_number_once_it_is_made(headlines: Headlines) -> None:
    assert NUMBER not in shown(snapshot(), headlines)
    assert NUMBER not in shown(snapshot(made=["table-1"], written=["table-1"]), headlines)
    text = shown(snapshot(made=["table-1", "table-2"], written=["table-2"]), headlines)
    assert NUMBER in text and re.search(r"\b2\b.*\b13\b", text)


def test_the_headline_number_is_what_the_table_shows(work: Workspace) -> None:
    (msci,) = (paper for paper in work.papers if paper.name == "msci")
    assert headline_number(msci, lineage_of(*OTHER_CELLS, CELL)) == NUMBER
    assert headline_number(msci, lineage_of(*OTHER_CELLS)) == ""


def test_failures_are_counted_while_the_rest_goes_on(headlines: Headlines) -> None:
    before, after = (shown(snapshot(failed=failed), headlines).splitlines() for failed in ([], [FAILED, FAILED]))
    assert after[:-1] == before and re.search(r"\b2\b", after[-1])


def test_behind_the_last_evaluation_no_time_is_said(headlines: Headlines) -> None:
    assert "24 min" not in shown(snapshot(done=800.0), headlines)


# elsewhere


def test_lines_name_what_is_written_and_what_failed_once(headlines: Headlines) -> None:
    file = io.StringIO()
    lines = Lines(Console(file=file), headlines)
    lines.show(snapshot())
    lines.show(snapshot(["table-2", "figure-4"], ["table-2", "figure-4"], failed=[FAILED]))
    lines.show(snapshot(["table-2", "figure-4"], failed=[FAILED]))
    text = re.sub(r"^\d\d:\d\d:\d\d  ", "", file.getvalue(), flags=re.MULTILINE)
    table, figure, failure = text.splitlines()
    assert table.startswith("msci/table-2") and table.endswith(NUMBER)
    assert figure.startswith("msci/figure-4")
    failed = (FAILED.title, "KeyError: \N{REPLACEMENT CHARACTER}[31m'a'", f"recompose make {FAILED.key}")
    assert all(value in failure for value in failed)


def test_between_them_a_line_a_minute_says_how_far_it_is(headlines: Headlines, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(live.time, "monotonic", lambda: now[0])
    file = io.StringIO()
    lines = Lines(Console(file=file), headlines)
    for _ in range(100):
        now[0] += 2.0
        lines.show(snapshot())
    assert [("25%" in line, "24 min" in line) for line in file.getvalue().splitlines()] == [(True, True)] * 3


# what is observed


def test_work_counts_for_each_paper_that_shares_it_and_time_left_follows_what_it_takes(work: Workspace) -> None:
    before = Reproduction(Engine(work), wall_share=0.5)
    first = before.look()
    assert [paper.name for paper in first.papers] == [paper.name for paper in work.papers]
    assert first.work.done == 0 and sum(paper.work.total for paper in first.papers) > first.work.total
    assert first.seconds_left == pytest.approx(first.work.total / 2, rel=0.01)
    complete(work, "data", 3)
    later = before.look()
    assert 0 < later.work.done < later.work.total and later.work.total == first.work.total
    assert later.seconds_left < first.seconds_left  # hardly any time went by for it


def test_what_was_there_before_is_no_part_of_the_pace(work: Workspace) -> None:
    complete(work, "data", 3)
    at_start = Reproduction(Engine(work), wall_share=0.5)
    left = at_start.look()
    assert left.work.done > 0
    assert left.seconds_left == pytest.approx((left.work.total - left.work.done) / 2, rel=0.01)
    assert left.seconds_left == pytest.approx(at_start.seconds_left, rel=0.01)


def test_an_artifact_is_written_each_time_that_its_lineage_is_but_not_when_it_is_touched(work: Workspace) -> None:
    reproduction = Reproduction(Engine(work), ["msci"])
    assert [paper.name for paper in reproduction.look().papers] == ["msci"]
    lineage = lineage_path(work.reports / "msci" / "table-2")
    lineage.parent.mkdir(parents=True)
    lineage.write_text("{}")
    first = reproduction.look()
    assert first.written == [("msci", "table-2")] and first.papers[0].made == ("table-2",)
    os.utime(lineage)
    assert reproduction.look().written == []
    lineage.with_suffix(".new").write_text("{}")
    lineage.with_suffix(".new").replace(lineage)
    assert reproduction.look().written == [("msci", "table-2")]


def test_what_failed_in_an_earlier_call_is_no_failure_of_this_one(work: Workspace) -> None:
    first, second = work.plan.of("data")[:2]
    with pytest.raises(RuntimeError), work.store.build(first) as folder:
        raise RuntimeError("then")
    assert folder
    os.utime(folder / "error.txt", (0, 0))
    reproduction = Reproduction(Engine(work))
    with pytest.raises(RuntimeError), work.store.build(second):
        raise RuntimeError("now")
    assert [item.key for item in reproduction.look().failed] == [second.key]


def test_the_opening_says_what_is_to_be_made_and_how_long_that_takes(work: Workspace) -> None:
    file = io.StringIO()
    reproduction = Reproduction(Engine(work), wall_share=0.5)
    show_opening(Console(file=file), reproduction, Path("results/logs/snakemake.log"))
    what, how_long, where = file.getvalue().splitlines()
    runs, evaluations = (len(work.plan.of(kind)) for kind in ("runs", "evaluations"))
    counts = [runs, evaluations, len(work.plan.recipes) - runs - evaluations, reproduction.due]
    assert "smoke" in what and [int(count) for count in re.findall(r"\d+", what)] == counts
    assert rough_duration(reproduction.seconds_left) in how_long and "results/logs/snakemake.log" in where


# a call


def followed(work: Workspace, script: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    """Follow a command that does what a script says; gives its exit code, and what is printed."""
    monkeypatch.setattr(live, "EVERY", 0.05)
    file = io.StringIO()
    reproduction = Reproduction(Engine(work), ["msci"])

    def start() -> SnakemakeCall:
        return SnakemakeCall(work.root, work.results, ["msci"], (sys.executable, "-c", script))

    return follow(Console(file=file, width=200), reproduction, start), file.getvalue()


def test_what_the_command_says_is_in_the_log_behind_what_was_there(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = work.results / "logs/snakemake.log"
    log.parent.mkdir(parents=True)
    log.write_text("Error in rule earlier:\n")
    script = "import sys; print(sys.argv[1:]); print('16 of 25 steps (64 %) done', file=sys.stderr)"
    code, said = followed(work, script, monkeypatch)
    assert code == 0 and said == ""
    text = log.read_text()
    assert text.startswith("Error in rule earlier:\n")
    assert "['msci', '--cores', 'all']" in text and "16 of 25 steps" in text


def test_an_artifact_that_the_command_writes_is_a_line_without_control_characters(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = (
        "from pathlib import Path; path = Path('FOLDER');"
        "path.mkdir(parents=True); (path / 'table-2.lineage.json').write_text('{}')"
    ).replace("FOLDER", str(work.reports / "msci"))
    code, said = followed(work, script, monkeypatch)
    assert code == 0
    assert re.fullmatch(r"\d\d:\d\d:\d\d  msci/table-2 [\w ]+\n", said)


ERROR = """\
Error in rule artifacts_of_msci:
    message: all tables and figures of msci
    jobid: 3
    log: results/logs/artifacts/msci.log (check log file(s) for error details)
    shell:
        python -m recompose artifacts msci
Error in rule make_runs:
    message: None
    jobid: 4
    log: results/logs/runs/all-csp.log (check log file(s) for error details)

"""


def test_where_it_fails_the_jobs_and_the_log_are_named(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    code, said = followed(work, f"print({ERROR!r}); raise SystemExit(1)", monkeypatch)
    assert code == 1
    _, artifacts, runs, advice = said.splitlines()
    assert "all tables and figures of msci" in artifacts and "results/logs/artifacts/msci.log" in artifacts
    assert "make_runs" in runs and "results/logs/runs/all-csp.log" in runs
    assert "`recompose status`" in advice and str(work.results / "logs/snakemake.log") in advice


def test_where_no_job_is_named_the_last_lines_are_said(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    code, said = followed(work, "raise SystemExit('WorkflowError:\\nno such thing')", monkeypatch)
    assert code == 1
    assert [line.strip() for line in said.splitlines()[1:3]] == ["WorkflowError:", "no such thing"]


def test_a_command_that_a_signal_ended_is_a_failure(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    assert followed(work, "import os; os.kill(os.getpid(), 9)", monkeypatch)[0] == 1


def test_where_the_command_was_interrupted_that_is_said_in_one_sentence(
    work: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = followed(work, "raise SystemExit(130)", monkeypatch)
    assert code == 130 and said == ""
    assert capsys.readouterr().err.strip().count("\n") == 0


@pytest.mark.parametrize("number, nohup", [(signal.SIGINT, False), (signal.SIGTERM, False), (signal.SIGTERM, True)])
def test_an_interrupt_ends_the_command_and_what_it_started(
    number: signal.Signals,
    nohup: bool,
    work: Workspace,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("recompose.interrupts.PATIENCE", PATIENCE)  # nothing has to be killed
    if nohup:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    script = (
        "import os, signal, subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; print(1, flush=True); time.sleep(3600)'],"
        " stdout=subprocess.PIPE)\n"
        "child.stdout.readline()\n"
        "print(child.pid, flush=True)\n"
        f"os.kill(os.getppid(), {int(number)})\n"
        "child.wait()\n"
    )
    assert followed(work, script, monkeypatch)[0] == 130
    child = int((work.results / "logs/snakemake.log").read_text().split()[0])
    assert not Path(f"/proc/{child}").exists() or "Z" in Path(f"/proc/{child}/stat").read_text().split()[2]
    assert capsys.readouterr().err.strip() == live.SENTENCE
