"""How far a run is, from logs."""

import os
import time
from pathlib import Path

import pytest

from recompose import progress
from recompose.monitor.running import Progress, progress_of, read_progress

BEGIN = "11:16:45  run 12/31 0d8df971e429: duplex on shapes-pairs, seed 1"
FIRST = "11:16:54  duplex on shapes-pairs, seed 1: epoch 1/5, 0.119/s, 0:00:33 left, val_auc 0.2681, loss 7.024"
SECOND = "11:17:00  duplex on shapes-pairs, seed 1: epoch 2/5, 0.132/s, 0:00:23 left, val_auc 0.2385, loss 5.25"
RESUMES = "11:20:00  duplex on shapes-pairs, seed 1: resuming from the last whole epoch"
LATE = "11:17:00  duplex on shapes-pairs, seed 1: epoch 3/5, 0.14/s, unknown left, loss 5"
SCENES = "11:17:00  backbone shapes-clip: epoch 3/8, 2.5e-05/s, 2 days, 7:46:40 left, loss 2.194"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([], None),
        ([BEGIN], None),
        ([BEGIN, FIRST, SECOND], Progress("epoch", 2, 5, "0.132", 23.0, "val_auc 0.2385, loss 5.25")),
        (
            [BEGIN, FIRST, "11:17:01  something else, 1/2 left"],
            Progress("epoch", 1, 5, "0.119", 33.0, "val_auc 0.2681, loss 7.024"),
        ),
        ([BEGIN, LATE], Progress("epoch", 3, 5, "0.14", None, "loss 5")),
        # another attempt from the start, and one that goes on
        ([BEGIN, FIRST, SECOND, BEGIN], None),
        ([BEGIN, FIRST, SECOND, BEGIN, FIRST], Progress("epoch", 1, 5, "0.119", 33.0, "val_auc 0.2681, loss 7.024")),
        ([BEGIN, FIRST, SECOND, BEGIN, RESUMES], Progress("epoch", 2, 5, "", None, "val_auc 0.2385, loss 5.25")),
        ([BEGIN, FIRST, BEGIN, RESUMES, SECOND], Progress("epoch", 2, 5, "0.132", 23.0, "val_auc 0.2385, loss 5.25")),
        # a backbone's attempts do not say when they begin
        ([SCENES], Progress("epoch", 3, 8, "2.5e-05", 2 * 86400 + 7 * 3600 + 46 * 60 + 40.0, "loss 2.194")),
        (
            ["11:17:00  feasible world: 3/70, 0.5/s, 0:02:14 left (blocks of images)"],
            Progress("blocks of images", 3, 70, "0.5", 134.0, ""),
        ),
    ],
)
def test_the_last_attempt_says_how_far_it_is(lines: list[str], expected: Progress | None) -> None:
    assert progress_of("\n".join(lines)) == expected


@pytest.mark.parametrize("total", [5, 100_000_000])
def test_what_a_pace_says_is_read(total: int) -> None:
    pace = progress.Pace(total)
    time.sleep(0.01)
    found = progress_of(f"11:17:00  a [b] on c, seed 1: epoch {pace.at(3)}, loss 1")
    assert found
    assert (found.unit, found.done, found.total, found.metrics) == ("epoch", 3, total, "loss 1")
    assert found.seconds_left is not None
    assert found.seconds_left == pytest.approx((total - 3) / float(found.rate), rel=0.1, abs=1)


def test_what_is_left_becomes_less_after_it_was_said(tmp_path: Path) -> None:
    assert read_progress(tmp_path) is None
    log = tmp_path / "log.txt"
    log.write_text(f"{BEGIN}\n{FIRST}\n")
    for age, left in ((10, 23), (100, 0)):
        os.utime(log, (time.time() - age,) * 2)
        found = read_progress(tmp_path)
        assert found
        assert found.seconds_left == pytest.approx(left, abs=2)
