"""The page of sentences names the claims that the papers declare, and no others."""

import re

import pytest

from recompose.papers.declaration import load_paper
from tests.conftest import ROOT

PAGE = ROOT / "docs" / "reference" / "sentences.md"
OTHERS = {"aggregated", "paper"}  # a setting and a profile
TITLES = {"MSCI": "msci", "Duplex": "duplex", "CREST": "crest", "FSC-CLIP": "fsc-clip", "CLIP-CAE": "clip-cae"}


@pytest.mark.parametrize("title", TITLES)
def test_the_page_has_every_claim_of_a_paper(title: str) -> None:
    section = PAGE.read_text().split(f"\n## {title}\n")[1].split("\n## ")[0]
    tested = {name for row in section.splitlines() for name in re.findall("`([^`]+)`", row.split(" | ")[-1])}
    assert set(load_paper(TITLES[title]).claims) == tested - OTHERS
