"""The processor, its probe, and what is chosen by it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from recompose import machine
from recompose.environment import environment
from recompose.machine import (
    AGE,
    LARGE,
    LinearMap,
    Probe,
    Processor,
    cached_probe,
    current_probe,
    onednn_from,
    onednn_threshold,
    probe,
    probe_path,
)
from recompose.records import BuildInfo

RUN = subprocess.run
FLAGS512 = "avx2 fma avx512f avx512bw avx512dq avx512vl"
MEASURED = {"step_seconds": 0.5, "maps": [{"rows": 99, "into": 9, "out": 9, "torch_seconds": 2, "onednn_seconds": 1}]}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which no probe is kept."""
    monkeypatch.setenv("RECOMPOSE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def on(monkeypatch: pytest.MonkeyPatch, flags: str) -> None:
    """Pretend to be on a processor with these flags."""
    monkeypatch.setattr(machine, "_facts", lambda: {"model name": "a b", "cpu family": "6", "flags": flags})
    monkeypatch.delenv("ATEN_CPU_CAPABILITY", raising=False)


def child(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Run this code in place of the probe; it finds the probe's arguments."""
    monkeypatch.setattr(
        machine.subprocess, "run", lambda command, **given: RUN([sys.executable, "-c", code, *command[3:]], **given)
    )


@pytest.mark.parametrize(
    ("flags", "allowed", "expected"),
    [
        (FLAGS512, None, "avx512"),
        ("avx2 fma avx512f", None, "avx2"),
        ("sse2", None, "default"),
        ("", None, "default"),
        (FLAGS512, "avx2", "avx2"),
        (FLAGS512, "default", "default"),
        ("avx2 fma", "avx512", "avx2"),
        ("avx2 fma", "what", "avx2"),
    ],
)
def test_the_instruction_set_is_the_largest_that_torch_may_take(
    monkeypatch: pytest.MonkeyPatch, flags: str, allowed: str | None, expected: str
) -> None:
    on(monkeypatch, flags)
    if allowed:
        monkeypatch.setenv("ATEN_CPU_CAPABILITY", allowed)
    assert Processor.here().instruction_set == expected


def test_a_machine_is_measured_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cached_probe() is None
    child(monkeypatch, f"print({json.dumps(json.dumps(MEASURED))})")
    measured = probe()
    assert measured and measured.step_seconds == 0.5
    child(monkeypatch, "raise SystemExit(1)")
    assert probe() == cached_probe() == measured
    assert environment()["step_seconds"] == 0.5


@pytest.mark.parametrize(
    ("hours", "load", "expected"), [(0.9, 0.0, 0.5), (1.1, 0.0, 0.7), (1.1, 0.4, 0.7), (1.1, 0.6, 0.5)]
)
def test_the_speed_is_measured_again_after_an_hour_unless_the_machine_is_busy(
    cache: Path, monkeypatch: pytest.MonkeyPatch, hours: float, load: float, expected: float
) -> None:
    child(monkeypatch, f"print({json.dumps(json.dumps(MEASURED))})")
    first = probe()
    assert first and current_probe() == first
    of = json.loads(probe_path().read_text())["of"]
    then = probe_path().stat().st_mtime - hours * AGE
    os.utime(probe_path(), (then, then))
    monkeypatch.setattr(machine.os, "getloadavg", lambda: (load * (os.cpu_count() or 1), 9.0, 0.0))
    child(monkeypatch, "import sys; print('{\"step_seconds\": 0.7}' if '--speed-alone' in sys.argv else 'all')")
    assert current_probe() == cached_probe() == first.model_copy(update={"step_seconds": expected})
    assert json.loads(probe_path().read_text())["of"] == of
    child(monkeypatch, "raise SystemExit('measured twice')")
    assert (current_probe() or first).step_seconds == expected


def test_the_last_speed_stays_where_it_cannot_be_measured_again(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    child(monkeypatch, f"print({json.dumps(json.dumps(MEASURED))})")
    first = probe()
    os.utime(probe_path(), (0, 0))
    monkeypatch.setattr(machine.os, "getloadavg", lambda: (0.0, 0.0, 0.0))
    child(monkeypatch, "raise SystemExit('no torch')")
    assert current_probe() == first == cached_probe()
    assert "this machine's speed cannot be measured: no torch" in capsys.readouterr().err


def test_a_speed_that_cannot_be_stored_leaves_the_last_one(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    child(monkeypatch, f"print({json.dumps(json.dumps(MEASURED))})")
    first = probe()
    os.utime(probe_path(), (0, 0))
    monkeypatch.setattr(machine.os, "getloadavg", lambda: (0.0, 0.0, 0.0))

    def refuse(*_: object) -> None:
        raise PermissionError("read-only")

    monkeypatch.setattr(machine, "write_json", refuse)
    assert current_probe() == first == cached_probe()
    assert "this machine's speed cannot be stored: read-only" in capsys.readouterr().err


def test_another_processor_is_measured_anew(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child(monkeypatch, f"print({json.dumps(json.dumps(MEASURED))})")
    assert probe()
    monkeypatch.setattr(machine, "_facts", lambda: {"model name": "another"})
    assert cached_probe() is None
    monkeypatch.undo()


@pytest.mark.parametrize(
    "text", ["", "[", "{}", '{"probe": {"step_seconds": "fast"}}', '{"probe": {"step_seconds": 0}}']
)
def test_what_is_no_probe_counts_as_none(cache: Path, text: str) -> None:
    machine.probe_path().parent.mkdir()
    machine.probe_path().write_text(text)
    assert cached_probe() is None


def test_a_crash_is_recorded_and_onednn_never_chosen(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on(monkeypatch, FLAGS512)
    die = "import os, signal, sys\nif '--without-onednn' not in sys.argv: os.kill(os.getpid(), signal.SIGFPE)\n"
    child(monkeypatch, f"{die}print({json.dumps(json.dumps(MEASURED))})")
    measured = probe()
    assert measured and measured.crash == "SIGFPE"
    assert [onednn_from(setting) for setting in ("auto", "onednn", "torch")] == [None] * 3
    assert cached_probe() == measured


def test_a_machine_that_cannot_be_measured_takes_torch(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    on(monkeypatch, FLAGS512)
    child(monkeypatch, "raise SystemExit('no torch')")
    assert probe() is None
    assert onednn_from("auto") is None
    assert "measuring this machine (once)" in capsys.readouterr().err
    assert not list(cache.glob("*.json"))


def test_onednn_is_chosen_where_it_gains(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child(monkeypatch, f"print({json.dumps(json.dumps(MEASURED))})")
    on(monkeypatch, FLAGS512)
    assert [onednn_from(setting) for setting in ("auto", "onednn", "torch")] == [99 * 9 * 9, LARGE, None]


def test_without_avx512_nothing_is_measured_to_choose(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on(monkeypatch, "avx2 fma")
    assert [onednn_from(setting) for setting in ("auto", "torch")] == [None, None]
    assert not cache.exists()


def maps(*times: tuple[int, float]) -> list[LinearMap]:
    """Maps of so many multiplications, for which oneDNN takes this share of torch's time."""
    return [LinearMap(rows=size, into=1, out=1, torch_seconds=1, onednn_seconds=share) for size, share in times]


@pytest.mark.parametrize(
    ("measured", "expected"),
    [
        (maps((10, 0.5), (20, 0.5)), 10),
        (maps((10, 1.5), (20, 0.5), (30, 0.9)), 20),
        (maps((10, 0.5), (20, 0.95), (30, 0.5)), 30),
        (maps((10, 0.5), (20, 1.2)), None),
        (maps((20, 0.5), (20, 1.0)), None),
        ([LinearMap(rows=9, into=1, out=1, torch_seconds=1)], None),
    ],
)
def test_all_maps_as_large_gain(measured: list[LinearMap], expected: int | None) -> None:
    assert onednn_threshold(measured) == expected


@pytest.mark.slow
def test_the_probe_measures_what_is_asked(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = probe()
    assert isinstance(measured, Probe) and not measured.crash
    assert 0.001 < measured.step_seconds < 10
    assert all(each.onednn_seconds for each in measured.maps) and len(measured.maps) == 5
    os.utime(probe_path(), (0, 0))
    monkeypatch.setattr(machine.os, "getloadavg", lambda: (0.0, 0.0, 0.0))
    again = current_probe()
    assert again and again.maps == measured.maps and again.step_seconds != measured.step_seconds
    assert probe_path().stat().st_mtime > 0


def test_records_of_before_stay_valid() -> None:
    made = {"started": "", "seconds": 1.0, "attempts": 1, "host": "h", "commit": None, "dirty": None, "device": "d"}
    BuildInfo.model_validate({**made, "packages": {}})
    BuildInfo.model_validate({**made, **environment()})


def test_threads_that_wait_sleep() -> None:
    code = "import os, recompose; print(os.environ['OMP_WAIT_POLICY'], os.environ['GOMP_SPINCOUNT'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["PASSIVE", "0"]
