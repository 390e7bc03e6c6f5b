"""The settings in which rows of a table differ."""

from typing import Any

from recompose.site.document import differing_rows
from recompose.tables.measured import OVER_ROWS
from recompose.tables.published import PublishedLineage
from tests.site.test_site import cell, key_of, lineage_of, record

RUN = "runs/a0000000000{}"


def run(number: int, **settings: Any) -> dict[str, Any]:
    return record(number) | {
        "kind": "runs",
        "digest": f"a0000000000{number}" * 5 + "0000",
        "document": {"settings": settings},
    }


def evaluation(number: int, method: str) -> dict[str, Any]:
    need = {"kind": "runs", "digest": run(number)["digest"]}
    plain = record(number)
    return plain | {
        "document": {"settings": {}},
        "labels": plain["labels"] | {"method": method},
        "needs": {"run": need},
    }


def test_rows_of_a_method_differ_in_the_settings_of_their_runs_and_other_methods_are_left_out() -> None:
    rows = {"CSP": "csp", "CSP, faster": "csp", "CoOp": "coop", "not run": "csp"}
    records = {key_of(number): evaluation(number, method) for number, method in enumerate(rows.values()) if number < 3}
    rates = (0.1, 0.2, 0.3)
    runs = {RUN.format(number): run(number, lr=rate, prompt="a") for number, rate in enumerate(rates)}
    cells = [
        cell(row, "AUC", "", [1.0] if number < 3 else []) | ({"made_from": [key_of(number)]} if number < 3 else {})
        for number, row in enumerate(rows)
    ]
    cells.append(cells[1] | {"row": "mean", "rule": OVER_ROWS, "made_from": [key_of(0), key_of(1)]})
    lineage = lineage_of(cells, records | runs)
    tables = differing_rows(PublishedLineage({"toy/table-1": lineage}), lineage.cells)
    # a mean over rows has no settings of its own
    assert tables == [{"rows": ["CSP", "CSP, faster"], "settings": [{"name": "lr", "values": ["0.1", "0.2"]}]}]
