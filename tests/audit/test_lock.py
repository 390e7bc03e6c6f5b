"""What DVC's lock says of reports that nothing is there to make again."""

from pathlib import Path

import pytest

from recompose.audit import checks as module

LOCK = """\
schema: '2.0'
stages:
  reports:
    outs:
    - path: reports/demo
      md5: 978ca45691cd12e610fb0788867f8252.dir
      size: 2
      nfiles: 1
"""


@pytest.mark.parametrize("change", ["modified", "deleted"])
@pytest.mark.parametrize("lock", [LOCK, "stages: [", "stages: {reports: 3}"])
def test_reports_that_differ_from_the_lock_are_tampered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str, lock: str
) -> None:
    (tmp_path / "dvc.lock").write_text(lock)
    changed = {"reports/demo": change}
    monkeypatch.setattr(module, "_dvc_status", lambda root: {"reports": [{"changed outs": changed}, "changed command"]})
    findings = list(module.check_lock(tmp_path))
    assert [(finding.state, finding.place) for finding in findings] == [("tampered", "reports/demo")]


def test_reports_of_a_profile_that_the_lock_tells_nothing_of_are_not_called_tampered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dvc.lock").write_text(LOCK)
    changed = {"reports/large": "modified"}
    monkeypatch.setattr(module, "_dvc_status", lambda root: {"reports": [{"changed outs": changed}]})
    findings = module.check_lock(tmp_path)
    assert [(finding.state, finding.place) for finding in findings] == [("unchecked", path) for path in changed]
