"""What DVC's lock says of reports that nothing is there to make again."""

from pathlib import Path

import pytest

from recompose.audit import audit as checks

LOCK = "stages: {reports: {outs: [{path: reports/demo}]}}"


@pytest.mark.parametrize(
    ("lock", "place", "state"),
    [
        (LOCK, "reports/demo", "tampered"),
        (LOCK, "reports/large", "unchecked"),  # of a profile that the lock tells nothing of
        ("stages: [", "reports/demo", "tampered"),
        ("stages: {reports: 3}", "reports/demo", "tampered"),
    ],
)
def test_reports_differ_from_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lock: str, place: str, state: str
) -> None:
    (tmp_path / "dvc.lock").write_text(lock)
    status = {"reports": [{"changed outs": {place: "modified"}}, "changed command"]}
    monkeypatch.setattr(checks, "_dvc_status", lambda root: status)
    assert [(finding.state, finding.place) for finding in checks.check_lock(tmp_path)] == [(state, place)]
