"""Receipts hold while what they name is as it was."""

from pathlib import Path

from recompose.receipts import drop_outdated, holds, write_receipt


def test_a_receipt_holds_until_a_file_changes_or_goes(tmp_path: Path) -> None:
    one, two, receipt = tmp_path / "one", tmp_path / "two", tmp_path / "receipts" / "r.json"
    one.write_text("1")
    two.write_text("2")
    write_receipt(receipt, tmp_path, [one, two])
    assert holds(receipt, tmp_path)
    two.write_text("3")
    assert not holds(receipt, tmp_path)
    two.write_text("2")
    assert holds(receipt, tmp_path)
    one.unlink()
    assert not holds(receipt, tmp_path)


def test_no_receipt_or_nonsense_in_it_does_not_hold(tmp_path: Path) -> None:
    assert not holds(tmp_path / "none.json", tmp_path)
    for text in ("", "[]", "3", '{"one": 1}'):
        (tmp_path / "r.json").write_text(text)
        assert not holds(tmp_path / "r.json", tmp_path)


def test_only_outdated_receipts_are_dropped(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("1")
    good, bad, none = (tmp_path / name for name in ("good.json", "bad.json", "none.json"))
    write_receipt(good, tmp_path, [file])
    bad.write_text('{"file": "0"}')
    assert drop_outdated([good, bad, none], tmp_path) == [bad]
    assert good.exists()
    assert not bad.exists()
