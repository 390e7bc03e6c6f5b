"""The settings in which rows of a table differ."""

from recompose.site.document import differing_rows
from recompose.tables.measured import OVER_ROWS
from recompose.tables.published import PublishedLineage
from tests.audit.invented import lineage_of
from tests.site.test_site import ABSENT, cell, evaluation_of


def test_rows_of_a_method_differ_in_the_settings_of_their_runs_and_other_methods_are_left_out() -> None:
    rows = {"CSP": ("csp", 0.1), "CSP, faster": ("csp", 0.2), "CoOp": ("coop", 0.3)}
    evaluations = [evaluation_of(0, method=method, lr=rate, prompt="a") for method, rate in rows.values()]
    cells = [cell(row, "AUC", "", [1.0], [one]) for row, one in zip(rows, evaluations, strict=True)]
    cells.append(cell("not run", "AUC", "", [], []))
    cells.append(cells[1] | {"row": "mean", "rule": OVER_ROWS, "made_from": [each.key for each in evaluations[:2]]})
    lineage = lineage_of(evaluations, cells, [ABSENT])
    tables = differing_rows(PublishedLineage({"toy/table-1": lineage}), lineage.cells)
    # a mean over rows has no settings of its own
    assert tables == [{"rows": ["CSP", "CSP, faster"], "settings": [{"name": "lr", "values": ["0.1", "0.2"]}]}]
