"""How runs stand, and how it looks."""

import io
import json
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from rich.console import Console

from recompose.monitor.status import Observer, Status, runs_of, session
from recompose.papers.declaration import Artifact, Claim, Paper, load_paper
from recompose.plan import Run
from recompose.terminal import status as terminal
from recompose.workspace import Workspace
from tests.conftest import ROOT, Project

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
EPOCH = "11:16:54  {}: epoch 2/5, 0.1/s, 0:00:30 left, val_auc 0.2681"


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    (tmp_path / "params.yaml").write_text((ROOT / "params.yaml").read_text())
    return Workspace(tmp_path)


def paper(measured: dict[str, str], **claims: Claim) -> Paper:
    table = Artifact(kind="costs", caption="", measured=measured)
    verdicts = {"claims": Artifact(kind="claims", caption="")} if claims else {}
    about = {"title": "", "authors": "", "venue": "", "track": "czsl", "datasets": {}}
    return Paper(name="msci", artifacts={"table": table, **verdicts}, claims=claims, **about)


def make(work: Workspace, run: Run) -> None:
    with work.runs.making(run) as folder:
        assert folder
        (folder / "metrics.json").write_text("{}")


def states(status: Status) -> dict[str, str]:
    return {item.folder: item.state for item in status.runs}


def test_a_run_counts_for_every_paper_that_needs_it_under_any_name(work: Workspace) -> None:
    msci, duplex = work.plan.runs_of("msci", "shapes-pairs"), work.plan.runs_of("duplex", "shapes-pairs")
    csp = work.plan.runs_of("csp", "shapes-pairs")
    assert runs_of(work.plan, paper({"2": "msci-2-layers"})) == {msci[0].digest}  # the plan calls it msci
    tested = work.plan.runs_of("duplex-tested-factors", "shapes-pairs")
    assert runs_of(work.plan, paper({"a": "duplex-tested-factors"})) == {run.digest for run in [*tested, *duplex]}
    claim = Claim(sentence="", artifact="table", higher="csp", lower=["msci"])
    assert runs_of(work.plan, paper({}, better=claim)) == {run.digest for run in [*csp, *msci]}


def test_every_planned_run_belongs_to_a_paper(work: Workspace) -> None:
    papers = [load_paper(name) for name in ("msci", "duplex")]
    assert {run.digest for run in work.plan.runs} == set().union(*(runs_of(work.plan, each) for each in papers))


def test_each_state_is_seen(work: Workspace) -> None:
    done, damaged, failed, running, interrupted, *_ = work.plan.runs
    make(work, done)
    make(work, damaged)
    (work.runs.folder(damaged) / "metrics.json").write_text("{ }")
    with pytest.raises(ZeroDivisionError), work.runs.making(failed):
        _ = 1 / 0
    with pytest.raises(KeyboardInterrupt), work.runs.making(interrupted) as folder:
        (folder / "log.txt").write_text(EPOCH.format(interrupted.title))  # type: ignore[operator]
        raise KeyboardInterrupt
    with work.runs.making(running) as folder:
        (folder / "log.txt").write_text(EPOCH.format(running.title))  # type: ignore[operator]
        status = Observer(work, [paper({"chance": "chance"})]).look()
    found = states(status)
    assert [found[run.folder] for run in work.plan.runs[:6]] == [
        "done",
        "damaged",
        "failed",
        "running",
        "interrupted",
        "waiting",
    ]
    assert not status.fine
    assert not status.over
    (item,) = status.of("running")
    assert item.progress and (item.progress.done, item.progress.total) == (2, 5)
    text = shown(status)
    assert "ZeroDivisionError: division by zero" in text
    assert f"results/runs/{failed.folder}/error.txt" in text
    assert f"again: recompose train {failed.folder}" in text
    assert f"recompose train {interrupted.folder}  {interrupted.title}, epoch 2/5" in text
    assert "epoch 2/5" in text
    document = json.loads(json.dumps(status.document()))
    assert {each["folder"]: each["state"] for each in document["runs"]} == found


def test_what_is_whole_is_read_once_until_its_record_changes(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    run = work.plan.runs[0]
    make(work, run)
    observer = Observer(work, [])
    calls: list[str] = []
    verify = type(work.runs).verify_sizes
    monkeypatch.setattr(type(work.runs), "verify_sizes", lambda s, r: (calls.append(r.folder), verify(s, r)))
    for _ in range(3):
        assert states(observer.look())[run.folder] == "done"
    assert calls == [run.folder]
    record = work.runs.record_path(run)
    os.utime(record, ns=(0, record.stat().st_mtime_ns + 1))
    observer.look()
    assert calls == [run.folder] * 2


def test_a_killed_run_is_interrupted_and_the_command_to_go_on_is_named(work: Workspace) -> None:
    run = work.plan.runs[3]
    code = (
        "import sys, time; from pathlib import Path; from recompose.workspace import Workspace\n"
        "work = Workspace(Path(sys.argv[1]))\n"
        "with work.runs.making(work.plan.runs[3]): print('at it', flush=True); time.sleep(60)"
    )
    maker = subprocess.Popen([sys.executable, "-c", code, str(work.root)], stdout=subprocess.PIPE, text=True)
    assert maker.stdout and maker.stdout.readline() == "at it\n"
    observer = Observer(work, [])
    assert states(observer.look())[run.folder] == "running"
    maker.send_signal(signal.SIGKILL)
    maker.wait()
    status = observer.look()
    assert states(status)[run.folder] == "interrupted"
    assert f"recompose train {run.folder}" in shown(status)
    assert work.batch(run.folder).runs[-1] == run


def minutes(*spans: tuple[int, int]) -> list[tuple[datetime, datetime]]:
    return [(NOON + timedelta(minutes=a), NOON + timedelta(minutes=b)) for a, b in spans]


@pytest.mark.parametrize(
    ("done", "running", "expected"),
    [
        ([], [], (0, 0)),
        ([(-20, -10)], [], (0, 0)),  # long over
        ([(-20, -1), (-21, -15)], [], (2, 21 * 60)),
        ([(-60, -50), (-20, -1)], [], (1, 20 * 60)),  # a pause of half an hour
        ([(-60, -50)], [-48], (1, 60 * 60)),  # the one that runs began two minutes after
        ([(-60, -50)], [-30], (0, 30 * 60)),
        ([(-90, -40), (-60, -50)], [-41], (2, 90 * 60)),  # side by side
    ],
)
def test_a_session_reaches_back_to_the_last_pause(
    done: list[tuple[int, int]], running: list[int], expected: tuple[int, float]
) -> None:
    assert session(minutes(*done), [NOON + timedelta(minutes=m) for m in running], NOON) == expected


def test_time_left_is_of_what_is_left_shared_by_processes(work: Workspace) -> None:
    batch = next(batch for batch in work.plan.batches if batch.backbone is None)
    chance = batch.runs
    make(work, chance[0])
    record = json.loads(work.runs.record_path(chance[0]).read_text())
    record["made"] |= {"seconds": 1000, "started": (NOON - timedelta(minutes=18)).isoformat()}
    work.runs.record_path(chance[0]).write_text(json.dumps(record))
    observer = Observer(work, [])
    assert observer.look(NOON).pace.seconds_left is None
    with work.runs.making(chance[1]) as folder:
        (folder / "scratch/attempts.txt").write_text((NOON - timedelta(seconds=400)).isoformat())  # type: ignore[operator]
        pace = observer.look(NOON).pace
    assert (pace.processes, pace.finished, pace.seconds) == (1, 1, 18 * 60)
    assert pace.seconds_left == pytest.approx(600 + 1000 * (len(chance) - 2))
    steps = sum(len(recipes) for kind, recipes in work.plan.stored().items() if kind != "runs")
    assert pace.unmeasured == steps + len(work.plan.runs) - len(chance)


def shown(status: Status, width: int = 80) -> str:
    file = io.StringIO()
    Console(file=file, width=width).print(terminal.rendered(status))
    return file.getvalue()


def test_it_fits_80_columns_with_many_runs_and_hostile_texts(work: Workspace) -> None:
    for run in work.plan.runs[:30]:
        with pytest.raises(RuntimeError), work.runs.making(run):
            raise RuntimeError("\x1b[31m[red]\x07 " + "long " * 100)
    text = shown(Observer(work, [paper({"chance": "chance"})]).look())
    assert max(map(len, text.splitlines())) <= 80
    assert len(text.splitlines()) < 60
    assert "failed: 30" in text and "and 27 more" in text
    assert "\x1b" not in text and "\x07" not in text
    assert "[red]" in text


def test_where_nothing_is_left_to_watch_it_ends_and_elsewhere_says_what_is_new(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, *_ = work.plan.runs
    observer, file = Observer(work, []), io.StringIO()
    steps = iter([lambda: None, lambda: make(work, first), lambda: None, lambda: make(work, second)])

    def sleep(seconds: float) -> None:
        step = next(steps, None)
        if step is None:
            raise KeyboardInterrupt
        step()

    monkeypatch.setattr(terminal.time, "sleep", sleep)
    last = terminal.watch(Console(file=file, width=80), observer)
    assert states(last)[second.folder] == "done"
    said = [line.split(":")[1].split(" of")[0].strip() for line in file.getvalue().splitlines() if "runs done" in line]
    assert said == ["0", "1", "2"]


def test_the_command_line_says_it_in_words_and_as_one_document(chance: Project) -> None:
    assert json.loads(chance.recompose("status", "--json").stdout)["papers"]["msci"]["runs"]["done"] == 2
    scores = next(chance.root.glob("results/runs/*/scores.safetensors"))
    scores.write_bytes(scores.read_bytes()[:-1])
    done = chance.recompose("status", "--watch", check=False)
    assert done.returncode == 1
    assert f"recompose store discard runs/{scores.parent.name}" in " ".join(done.stdout.split())
