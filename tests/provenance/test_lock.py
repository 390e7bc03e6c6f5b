"""What DVC's lock says of reports that nothing is there to make again."""

from pathlib import Path

import pytest

from recompose.provenance.checks import lock as module

LOCK = """\
schema: '2.0'
stages:
  reports:
    outs:
    - path: reports/crest
      md5: d751713988987e9331980363e24189ce.dir
      size: 0
      nfiles: 0
    - path: reports/msci
      md5: 978ca45691cd12e610fb0788867f8252.dir
      size: 2
      nfiles: 1
"""


@pytest.mark.parametrize(
    ("changed", "lock", "found"),
    [
        ({"reports/crest": "deleted"}, LOCK, []),  # an empty folder, which git does not keep
        ({"reports/crest": "modified"}, LOCK, ["reports/crest"]),  # there is something in it now
        ({"reports/crest": "deleted", "reports/msci": "deleted"}, LOCK, ["reports/msci"]),
        ({"reports/crest": "deleted"}, "stages: [", ["reports/crest"]),
        ({"reports/crest": "deleted"}, "stages: {reports: 3}", ["reports/crest"]),
    ],
)
def test_an_empty_folder_that_a_clone_has_not_is_no_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, str], lock: str, found: list[str]
) -> None:
    (tmp_path / "dvc.lock").write_text(lock)
    monkeypatch.setattr(module, "_dvc", lambda root: {"reports": [{"changed outs": changed}, "changed command"]})
    findings = module.check_lock(tmp_path).findings
    assert [(finding.state, finding.place) for finding in findings] == [("tampered", place) for place in found]
