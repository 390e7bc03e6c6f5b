"""Mistakes in what a paper's folder declares."""

from pathlib import Path

import pytest

from recompose.errors import PlanError
from recompose.papers import declaration
from recompose.papers.declaration import load_paper


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "kind: metrics",
            "kynd: metrics",
            ["wrong", "  artifacts.table-2.kind: Field required", "table-2.kynd: Extra"],
        ),
        ("{method: csp, settings", "{method: 7, settings", ["wrong", "  variants.csp-wide.method: Input should be"]),
        (
            "says: {CSP:",
            "says: {CSQ:",
            ["wrong", "  artifacts.table-2: Value error, a view has statements on CSQ, which"],
        ),
        ("title:", "title: [", ["not valid YAML", "line 2"]),
    ],
)
def test_a_mistake_in_a_declaration_is_one_error_with_its_place(
    old: str, new: str, said: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = """title: A title
authors: a
venue: v
track: czsl
datasets: {}
variants:
  csp-wide: {method: csp, settings: {dropout: 0.5}, datasets: [mit-states]}
artifacts:
  table-2:
    kind: metrics
    caption: c
    rows: {CSP: csp}
    views: {sources: {heading: h, says: {CSP: {the text: so}}}}
"""
    monkeypatch.setattr(declaration, "FOLDER", tmp_path)
    (tmp_path / "p").mkdir()
    path = tmp_path / "p" / "paper.yaml"
    path.write_text(text)
    assert load_paper.__wrapped__("p").variants["csp-wide"].method == "csp"
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    with pytest.raises(PlanError, match=r"papers/p/paper\.yaml is ") as error:
        load_paper.__wrapped__("p")
    for part in said:
        assert part in str(error.value), str(error.value)


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "word"])
def test_a_declaration_without_sections_is_one_error(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(declaration, "FOLDER", tmp_path)
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "paper.yaml").write_text(text)
    with pytest.raises(PlanError, match=r"papers/p/paper\.yaml is not a mapping of sections"):
        load_paper.__wrapped__("p")
