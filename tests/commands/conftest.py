"""What tests of commands share."""

import pytest

from recompose.tables.reports import Reports
from recompose.workspace import Workspace
from tests.audit.invented import cell_of, publish
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
    planned = {"msci/table-2": Reports(work).artifact("msci/table-2")}
    publish(work.reports, {"msci/table-2": (evaluations, cells)}, planned=planned)
    return work
