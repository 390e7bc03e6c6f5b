"""What DVC's lock says of reports that nothing is there to make again."""

from pathlib import Path

import pytest

from recompose.provenance.checks import lock as module

LOCK = """\
schema: '2.0'
stages:
  reports:
    outs:
    - path: reports/demo/crest
      md5: d751713988987e9331980363e24189ce.dir
      size: 0
      nfiles: 0
    - path: reports/demo/msci
      md5: 978ca45691cd12e610fb0788867f8252.dir
      size: 2
      nfiles: 1
"""


@pytest.mark.parametrize(
    ("changed", "lock", "found"),
    [
        ({"reports/demo/crest": "deleted"}, LOCK, []),  # an empty folder, which git does not keep
        ({"reports/demo/crest": "modified"}, LOCK, ["reports/demo/crest"]),  # there is something in it now
        ({"reports/demo/crest": "deleted", "reports/demo/msci": "deleted"}, LOCK, ["reports/demo/msci"]),
        ({"reports/demo/crest": "deleted"}, "stages: [", ["reports/demo/crest"]),
        ({"reports/demo/crest": "deleted"}, "stages: {reports: 3}", ["reports/demo/crest"]),
    ],
)
def test_an_empty_folder_that_a_clone_has_not_is_no_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, str], lock: str, found: list[str]
) -> None:
    (tmp_path / "dvc.lock").write_text(lock)
    monkeypatch.setattr(module, "_dvc_status", lambda root: {"reports": [{"changed outs": changed}, "changed command"]})
    findings = module.check_lock(tmp_path).findings
    assert [(finding.state, finding.place) for finding in findings] == [("tampered", place) for place in found]


def test_reports_of_a_profile_that_the_lock_tells_nothing_of_are_not_called_tampered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dvc.lock").write_text(LOCK)
    changed = {"reports/study/msci": "modified", "reports/study/crest": "deleted"}
    monkeypatch.setattr(module, "_dvc_status", lambda root: {"reports": [{"changed outs": changed}]})
    report = module.check_lock(tmp_path)
    assert report.findings == []
    assert report.unchecked == [f"{path} against dvc.lock, which has no entry for it" for path in changed]
