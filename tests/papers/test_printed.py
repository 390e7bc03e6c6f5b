"""The numbers that printed texts tell, margins from them, and the page of sentences."""

import re

import pytest
from hypothesis import given
from hypothesis import settings as checked
from hypothesis import strategies as st

from recompose.papers.declaration import Claim, Paper, all_papers, load_paper
from recompose.papers.printed import number_in
from tests.conftest import ROOT


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
        ("\N{MINUS SIGN}0.4±0.1", -0.4),
        ("10^\N{MINUS SIGN}4", 1e-4),
    ],
)
def test_a_printed_number_is_read_without_its_spread(text: str, number: float) -> None:
    assert number_in(text) == number


@checked(deadline=None)
@given(st.text(alphabet="0123456789.+-×^± e", max_size=10))
def test_no_text_is_an_error(text: str) -> None:
    assert isinstance(number_in(text), float | None)


CLAIMS = [(paper, name, claim) for paper in all_papers() for name, claim in paper.claims.items()]
FROM_CELLS = [pytest.param(*each, id=f"{each[0].name}/{each[1]}") for each in CLAIMS if each[2].margin.half_of]
# claims whose margin names a row or a column that is not measured under its printed name: whose rows the paper prints
# under other names, on other backbones, or for another attribution; whose columns are gains
ELSEWHERE = {
    "other-backbones-gain",
    "codebook-helps",
    "graph-helps",
    "graph-helps-unseen-pairs",
    "graph-helps-seen-pairs",
    "graph-helps-unseen-more-than-seen",
    "objects-lead-by-attention",
    "objects-lead-by-perturbation",
    "objects-lead-by-gradient",
    "retrieval-of-images-gains-more",
}


def compared(claim: Claim) -> list[tuple[set[str], str]]:
    """Return the sides of a claim's difference in the order of cells: its methods or variants, and its metric."""
    if claim.lower_metrics:
        return [({claim.higher}, metric) for metric in claim.metrics]
    gain = [{claim.gain.higher}, {claim.gain.lower}] if claim.gain else []
    return [(names, claim.metric) for names in ({claim.higher}, set(claim.lower), *gain)]


@pytest.mark.parametrize(("paper", "name", "claim"), FROM_CELLS)
def test_the_cells_of_a_margin_are_those_that_its_claim_compares(paper: Paper, name: str, claim: Claim) -> None:
    artifact, cells, sides = paper.artifacts[claim.artifact], claim.margin.half_of, compared(claim)
    measured = {item for view in artifact.all_views.values() for item in view.columns.items()}
    agrees = len(cells) == len(sides) and all(
        artifact.rows.get(cell[0]) in names and (not cell[1:] or (cell[1], metric) in measured)
        for cell, (names, metric) in zip(cells, sides, strict=True)
    )
    assert agrees != (name in ELSEWHERE)


PAGE = ROOT / "docs" / "reference" / "sentences.md"
OTHERS = {"aggregated", "paper"}  # a setting and a profile
TITLES = {"MSCI": "msci", "Duplex": "duplex", "CREST": "crest", "FSC-CLIP": "fsc-clip", "CLIP-CAE": "clip-cae"}


@pytest.mark.parametrize("title", TITLES)
def test_the_page_has_every_claim_of_a_paper(title: str) -> None:
    section = PAGE.read_text().split(f"\n## {title}\n")[1].split("\n## ")[0]
    tested = {name for row in section.splitlines() for name in re.findall("`([^`]+)`", row.split(" | ")[-1])}
    assert set(load_paper(TITLES[title]).claims) == tested - OTHERS
