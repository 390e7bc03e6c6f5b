"""What `recompose power` says to its user."""

from dataclasses import replace

import pytest
from rich.console import Console

from recompose.inference.power import SampleSize
from recompose.monitor.power import GIVEN, MEASURED, PILOT, SIMILAR, UNKNOWN, ClaimPrice, ComparisonPrice, Spread
from recompose.report.claims.verdicts import SUPPORTED, UNDECIDED
from recompose.terminal.power import sentences, show_power

COMPARISON = ComparisonPrice(
    "a - b", ("a", "b"), 1.5, 0.5, 4, Spread(2.0, MEASURED), SampleSize(12), SampleSize(55, is_new=True)
)
UNDECIDED_CLAIM = ClaimPrice("p", "better\x1b[2J", "d", UNDECIDED, (COMPARISON,), 3600.0, None)
DECIDED_CLAIM = ClaimPrice("p", "decided-one", "d", SUPPORTED, ())


def test_a_table_has_each_undecided_claim_and_its_comparisons(capsys: pytest.CaptureFixture[str]) -> None:
    show_power(Console(width=120), [UNDECIDED_CLAIM, DECIDED_CLAIM], 2.0)
    out = capsys.readouterr().out
    assert "\x1b[2J" not in out
    assert "decided-one" not in out
    (row,) = (line for line in out.splitlines() if "a - b" in line)
    assert row.split()[3:] == ["+1.50", "0.5", "2.00", "4", "12", "/", "55", "new"]
    (claim,) = (line for line in out.splitlines() if line.startswith("better"))
    assert claim.split()[-2:] == ["/", "?"]
    assert "2 claims: 1 supported here, 0 reversed here, 0 negligible here, 1 undecided." in out
    assert "1 of 1 claims" in out


def test_numbers_are_never_cut_in_a_terminal_of_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = {"as_measured": SampleSize(598, is_new=True), "if_zero": SampleSize(404, is_new=True)}
    price = replace(UNDECIDED_CLAIM, comparisons=(replace(COMPARISON, n=24, **sizes),), core_seconds_if_zero=1500.0)
    claim = "graph-helps-unseen-more-than-seen"
    show_power(Console(width=80), [replace(price, claim=claim, core_seconds_as_measured=1440.0)], None)
    table = capsys.readouterr().out.split("\n\n")[0]
    assert "598 new / 404 new" in table
    assert "24 min / 25 min" in table


def test_ranges_that_do_not_fit_are_whole_and_make_the_table_wider(capsys: pytest.CaptureFixture[str]) -> None:
    ranged = replace(
        COMPARISON,
        difference=-1.25,
        n=2,
        range_as_measured=(SampleSize(6), SampleSize(1320, is_new=True)),
        range_if_zero=(SampleSize(40), SampleSize(4410, is_new=True)),
    )
    show_power(Console(width=80), [replace(UNDECIDED_CLAIM, comparisons=(ranged,))], None)
    (row,) = (line for line in capsys.readouterr().out.splitlines() if "a - b" in line)
    assert "-1.25 " in row and "12 (6 to 1320 new) / 55 new (40 to 4410 new)" in row


@pytest.mark.parametrize(("source", "mark"), [(SIMILAR, "~"), (PILOT, "~"), (GIVEN, "~"), (UNKNOWN, "?")])
def test_spreads_that_were_not_measured_here_are_marked_and_explained(
    source: str, mark: str, capsys: pytest.CaptureFixture[str]
) -> None:
    spread = Spread(None if source == UNKNOWN else 2.0, source)
    comparison = replace(COMPARISON, spread=spread)
    if source == UNKNOWN:
        comparison = replace(comparison, as_measured=None, if_zero=None)
    price = replace(UNDECIDED_CLAIM, comparisons=(comparison,))
    show_power(Console(width=120), [price], None)
    out = capsys.readouterr().out
    assert f"Spread: {mark} " in out
    (row,) = (line for line in out.splitlines() if "a - b" in line)
    assert row.split()[5] == ("?" if source == UNKNOWN else "~2.00")


def test_in_a_clone_without_results_the_verdicts_of_the_reports_are_named() -> None:
    """All verdicts are undecided there, which says nothing about the claims."""
    price = replace(UNDECIDED_CLAIM, comparisons=(replace(COMPARISON, difference=None, n=0),))
    said = "\n".join(sentences([price], None, ["reports/study/p/claims.md"]))
    assert "no results are on this disk" in said and "reports/study/p/claims.md" in said
    assert "1 undecided" not in said
    assert "no results" not in "\n".join(sentences([price, DECIDED_CLAIM], None))


def test_without_undecided_claims_there_is_nothing_to_price() -> None:
    assert list(sentences([DECIDED_CLAIM], 1.0)) == [
        "1 claim: 1 supported here, 0 reversed here, 0 negligible here, 0 undecided."
    ]
