"""What CLIP-CAE printed: the cells that cannot be are flagged, and what is declared of it."""

from functools import cache

import pytest

from recompose.papers.declaration import load_paper
from tests.papers.sections import section

PAPER = load_paper("clip-cae")
CORPUS = "coco-100k"
WAYS = ("Attention-Based", "GradCAM-Based", "Perturbation-Based", "Gradient-Based")
OURS = tuple(f"CLIP-CAE ({way})" for way in WAYS)


@cache
def cells(table: str) -> dict[tuple[str, str], str]:
    """Row and column, without the corpus -> text."""
    return {
        (row["row"], column.removeprefix(f"{CORPUS} ")): text
        for row in PAPER.reported(table)
        for column, text in row.items()
        if column not in ("row", "category")
    }


def flagged(table: str) -> dict[tuple[str, str], str]:
    return {(flag.row, flag.column.removeprefix(f"{CORPUS} ")): flag.correct for flag in PAPER.artifacts[table].flags}


CHOSEN = {"Attention-Based": "50.0", "GradCAM-Based": "100.0", "Perturbation-Based": "0.2", "Gradient-Based": "10.0"}


@pytest.mark.parametrize("way", WAYS)
def test_the_lambda_of_each_way_that_can_be_that_of_table_1_is_what_is_trained_here(way: str) -> None:
    row = f"CLIP-CAE ({way})"
    searched_by = PAPER.variants[PAPER.artifacts["table-8"].rows[f"{row}, λ = {CHOSEN[way]}"]]
    method = PAPER.artifacts["table-1"].rows[row]
    own = PAPER.variants[method].settings if method in PAPER.variants else {}
    assert section().settings("clip-cae", CORPUS, own) == section().settings("clip-cae", CORPUS, searched_by.settings)


def test_what_is_combined_with_negatives_differs_from_its_own_in_them_alone() -> None:
    alone, combined = (PAPER.artifacts[table].rows for table in ("table-1", "table-2"))
    for row in OURS:
        first, second = (
            section().settings("clip-cae", CORPUS, PAPER.variants[name].settings if name in PAPER.variants else {})
            for name in (alone[row], combined[row])
        )
        assert first.document() | {"negatives": ["negclip"]} == second.document()


def test_the_settings_are_those_that_the_text_says() -> None:
    table = PAPER.artifacts["settings"]
    for row in table.rows:
        name, place = table.setting_of(row)
        variant = PAPER.variants.get(name)
        settings = section().settings("clip-cae", CORPUS, variant.settings if variant else {})
        value: object = settings.active().document()
        for key in place.split("."):
            value = value[key]  # type: ignore[index]
        if (row, CORPUS) in cells("settings") and (row, CORPUS) not in flagged("settings"):
            assert float(value) == float(cells("settings")[row, CORPUS].replace("×10^", "e")), row  # type: ignore[arg-type]
