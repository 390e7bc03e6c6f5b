"""What tests of commands share."""

import pytest

from recompose.tables.lineage import lineage_path
from recompose.workspace import Workspace
from tests.audit.invented import cell_of, lineage_of
from tests.configuration import write_params


@pytest.fixture(scope="session")
def printing(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A project in which a table of MSCI was made, which the paper printed; only read."""
    root = tmp_path_factory.mktemp("printing")
    write_params(root)
    work = Workspace(root)
    evaluations = work.plan.evaluations("czsl", "csp", "shapes-pairs")
    places = [("CSP", "AUC", "exact"), ("CSP", "AUC", "field"), ("CSP", "H", "exact"), ("MSCI", "AUC", "exact")]
    cells = [
        cell_of(row, evaluations, names=["csp"], view=view, column=f"shapes-pairs {column}", text=f"{column} {view}")
        for row, column, view in places
    ]
    lineage_of(evaluations, cells).write(lineage_path(work.reports / "msci/table-2"))
    return work
