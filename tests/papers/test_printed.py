"""The numbers that printed texts say; what follows from them is in test_margins and test_declaration."""

import pytest
from hypothesis import given
from hypothesis import settings as checked
from hypothesis import strategies as st

from recompose.papers.printed import number_in


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("10^-4", 1e-4),
        ("10^4", 1e4),
        ("5×10^-4", 5e-4),
        ("1.5×10^-5", 1.5e-5),
        ("49.7 ± 0.3", 49.7),
        ("+1.00", 1.0),
        ("-0.4", -0.4),
    ],
)
def test_a_printed_number_is_read_without_its_spread(text: str, number: float) -> None:
    assert number_in(text) == number


@pytest.mark.parametrize(
    "text",
    ["-", "", "± 0.3", "49.7 0.3", "not run", "1,262", "10^", "4M"],
)
def test_a_text_that_says_no_number_gives_none(text: str) -> None:
    assert number_in(text) is None


@checked(deadline=None)
@given(st.text(alphabet="0123456789.+-×^± e", max_size=10))
def test_no_text_is_an_error(text: str) -> None:
    assert isinstance(number_in(text), float | None)
