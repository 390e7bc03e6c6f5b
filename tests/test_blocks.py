"""The generated parts of the documents."""

from pathlib import Path

import pytest

from docs import blocks
from docs.blocks import joined_names, number

TABLE = """row,column,source,view,text
MSCI,pairs AUC,reported,,21.9
MSCI,pairs AUC,measured,exact,27.9 ± 1.6
MSCI,pairs AUC,measured,field,27.7 ± 1.7
"""


def test_a_number_is_the_measured_one_of_the_first_view_or_of_a_named_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "table.csv").write_text(TABLE, encoding="utf-8")
    monkeypatch.setattr(blocks, "REPORTS", tmp_path)
    assert number("table", "MSCI", "pairs AUC") == "27.9 ± 1.6"
    assert number("table", "MSCI", "pairs AUC", "field") == "27.7 ± 1.7"
    with pytest.raises(LookupError, match="'CSP'"):
        number("table", "CSP", "pairs AUC")


def test_names_that_differ_in_one_part_share_a_pattern() -> None:
    names = [f"{split}/{world}/{part}" for split in ("val", "test") for world in ("closed", "open") for part in "ab"]
    assert [pattern for pattern, _ in joined_names(dict.fromkeys(names, 1))] == ["{val,test}/{closed,open}/{a,b}"]
    metrics = {"val/a": 1, "val/b": 1, "test/a": 1, "test/b": 1, "test/c": 2, "test": 1, "test/a/x": 1}
    assert [pattern for pattern, _ in joined_names(metrics)] == ["{val,test}/{a,b}", "test/c", "test", "test/a/x"]
