"""The audit of documents that quote the reports, as the page shows it and as the command does."""

from pathlib import Path

import pytest

from recompose.provenance.audit import audit, audit_artifacts
from recompose.report.documents import Sources
from recompose.report.published import PublishedLineage
from recompose.workspace import Workspace
from tests.conftest import ROOT


@pytest.mark.slow
def test_the_page_and_the_command_find_the_same_stale_block(tmp_path: Path) -> None:
    (tmp_path / "params.yaml").write_text((ROOT / "params.yaml").read_text())
    readme = tmp_path / "README.md"
    work, published = Workspace(tmp_path), PublishedLineage({})
    sources = Sources(work.reports, {"rows": "| new |"})
    for table, states in (("| old |", ["stale"]), ("| new |", [])):
        readme.write_text(f"<!-- generated: rows -->\n{table}\n<!-- /generated -->\n")
        of_page = audit_artifacts(work, [], published, sources).findings
        of_command = [each for each in audit(work, [], published, sources).findings if each.place == "README.md"]
        assert of_page == of_command
        assert [(each.place, each.state) for each in of_page] == [("README.md", state) for state in states]
    assert audit_artifacts(work, [], published).findings == []
