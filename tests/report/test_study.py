"""The verdicts of the study, which other reports show."""

from pathlib import Path

from recompose.papers.declaration import load_paper
from recompose.report.study import study_claims, verdicts_in


def test_the_study_itself_and_papers_without_claims_there_have_none(tmp_path: Path) -> None:
    papers = [load_paper("msci"), load_paper("crest")]
    file = tmp_path / "study" / "msci" / "claims.csv"
    file.parent.mkdir(parents=True)
    file.write_text("row,column,text\na,d verdict,reversed here\n", encoding="utf-8")
    assert study_claims(tmp_path / "demo", papers) == {"msci": file}
    assert study_claims(tmp_path / "study", papers) == {}
    assert verdicts_in(file) == {"reversed here": 1}


def test_a_file_without_verdicts_has_none(tmp_path: Path) -> None:
    file = tmp_path / "claims.csv"
    for content in (b"", b"row\n", b"row,column\na,d verdict\n", b"a,b,c\n1,2,3\n", b"\xff\xfe\x00,column\n\x00"):
        file.write_bytes(content)
        assert verdicts_in(file) == {}
