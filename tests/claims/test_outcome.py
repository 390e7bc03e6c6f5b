"""What came out, in words, for every combination of verdicts."""

import re
from itertools import product
from typing import Any

from recompose.claims.outcome import HANDFUL, generalisation, outcome
from recompose.claims.verdicts import NEGLIGIBLE, REVERSED, SUPPORTED, UNDECIDED
from recompose.parts.cells import Cell


def claim(name: str, verdict: str, price: str = "", needed: int | None = None) -> Cell:
    """The cell of a verdict on a claim, with the price of its only comparison."""
    comparison = {"sides": ["a", "b"], "verdict": verdict, "margin": 0.1, "is_kept": False, "p": None, "p_margin": None}
    evidence: dict[str, Any] = {"unit": "", "values": {"a": {}, "b": {}}, "family": 1, "margin_family": 1}
    evidence["comparisons"] = [comparison | {"price": price, "needed": needed}]
    return Cell.model_validate({"row": name, "column": "d", "text": verdict, "n": 4, "evidence": evidence})


def claims(verdict: str, count: int, start: str, *price: Any) -> list[Cell]:
    return [claim(f"{start}{number}", verdict, *price) for number in range(count)]


def count_of(word: str, text: str) -> int:
    (number,) = re.findall(rf"(\w+) (?:is|are) {word}", text)
    return 0 if number.lower() == "none" else int(number)


def test_every_claim_is_counted_and_named_once_in_every_combination() -> None:
    for counts in product((0, 1, HANDFUL + 1), repeat=6):
        if any(counts):
            check(*counts)


def check(supported: int, reverse: int, negligible: int, priced: int, dear: int, unpriced: int) -> None:
    found = [
        *claims(SUPPORTED, supported, "s"),
        *claims(REVERSED, reverse, "r"),
        *claims(NEGLIGIBLE, negligible, "n"),
        *claims(UNDECIDED, unpriced, "u"),
        *claims(UNDECIDED, dear, "x", "> 1000 / 9"),
        *claims(UNDECIDED, priced, "p", "12 / 9", 12),
    ]
    holds, contradicted, undecided = sentences = outcome("d", True, found)
    many = "hold" if supported > 1 else "holds"
    assert re.match(
        rf"On d, synthetic, 4 replicates: {supported or 'none'} of {len(found)} claims? {many} here\b", holds
    )
    assert (count_of("reversed", contradicted), count_of("negligible", contradicted)) == (reverse, negligible)
    for sentence, starts in zip(sentences, ("s", "rn", "pxu"), strict=True):
        names = re.findall(r"\b[srnpxu]\d\b", sentence)
        hidden = map(int, re.findall(r"(\d+) more\)", sentence))
        assert len(set(names)) == len(names)
        assert len(names) + sum(hidden) == sum(cell.row[0] in starts for cell in found)
        assert {name[0] for name in names} <= set(starts)
    priced_words = ("12 replicates" in undecided, "too many" in undecided, "unknown" in undecided)
    assert priced_words == (priced > 0, dear > 0, unpriced > 0)
    if open_claims := priced + dear + unpriced:
        assert count_of("undecided", undecided) == open_claims


def test_the_cheapest_undecided_claims_are_named_with_the_range_of_their_prices() -> None:
    prices = [40, 9, None, 300, 25, 31, 7]
    found = [claim(f"c{price}", UNDECIDED, "a / b", price) for price in prices]
    last = outcome("d", False, found)[-1]
    assert last.startswith(f"7 are undecided (c7, c9, c25, c31, c40, {len(prices) - HANDFUL} more): ")
    assert "7 to 300 replicates would decide 6 of them" in last
    assert "1 would take too many" in last


def test_a_reversed_claim_on_synthetic_data_refutes_no_paper() -> None:
    synthetic, published = map(generalisation, (True, False))
    assert "does not refute the paper" in synthetic
    assert "published data" in published
