"""What is declared of FSC-CLIP's paper: its flags, variants and settings."""

from recompose.papers.declaration import load_paper
from recompose.tracks.vlc.catalogue import UNTRAINED
from tests.papers.sections import section

PAPER = load_paper("fsc-clip")
CORPORA = ("coco-100k", "cc3m-100k", "laion-coco-100k")
DRAWN = ("shapes-coco", "shapes-laion")
ABOUT = ("row", "category")


def cells(table: str) -> dict[tuple[str, str], str]:
    """Row and column -> text."""
    return {
        (row["row"], column): text
        for row in PAPER.reported(table)
        for column, text in row.items()
        if column not in ABOUT
    }


def test_what_the_text_says_differs_from_the_tables_where_that_is_flagged_and_nowhere_else() -> None:
    said = {cell: text for cell, text in cells("text").items() if text != "-"}
    tables = cells("table-1")
    differ = {cell for cell, text in said.items() if tables[cell] != text}
    (flag,) = PAPER.artifacts["text"].flags
    assert differ == {(flag.row, flag.column)}
    assert tables[flag.row, flag.column] == flag.correct
    assert said[flag.row, flag.column] == tables["FSC-CLIP, LoRA", flag.column]
    assert len(said) == 5
    assert not any(artifact.flags for name, artifact in PAPER.artifacts.items() if name != "text")


def test_every_trajectory_goes_from_clip_to_its_model() -> None:
    rows = PAPER.artifacts["figure-4"].rows
    assert rows["CLIP"] == UNTRAINED
    for model in ("FSC-CLIP", "FSC-CLIP, LoRA", "NegCLIP‡", "CE-CLIP"):
        steps = {row: name for row, name in rows.items() if row.startswith(f"{model} at ")}
        assert list(steps.values()) == [f"{rows[model]}-at-0.{tenth}" for tenth in range(1, 10)]
        assert list(steps) == [f"{model} at 0.{tenth}" for tenth in range(1, 10)]


def test_the_settings_are_those_that_the_text_says_but_for_what_was_released_for_cc3m() -> None:
    params, table = section(), PAPER.artifacts["settings"]
    for corpus in CORPORA:
        for row in table.rows:
            name, place = table.setting_of(row)
            variant = PAPER.variants.get(name)
            settings = params.settings("fsc-clip", corpus, variant.settings if variant else {})
            value = settings.active().document()
            for key in place.split("."):
                value = value[key]
            printed = cells("settings")[row, corpus].replace("×10^", "e")
            expected = 1.0 if (corpus, row) == ("cc3m-100k", "λ_g") else float(printed)
            assert float(value) == expected, (corpus, row)  # type: ignore[arg-type]
