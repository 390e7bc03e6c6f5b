"""What CLIP-CAE printed: the cells that cannot be are flagged, and what is declared of it."""

from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from functools import cache

import pytest

from recompose.papers.declaration import load_paper
from recompose.tracks import TRACKS
from recompose.tracks.vlc.attribution.subsets import METHODS
from tests.papers.sections import section

PAPER = load_paper("clip-cae")
CORPUS, DRAWN = "coco-100k", "shapes-laion"
WAYS = ("Attention-Based", "GradCAM-Based", "Perturbation-Based", "Gradient-Based")
OURS = tuple(f"CLIP-CAE ({way})" for way in WAYS)
IN_TABLE_7 = {"CLIP-CAE (Gradient-Based)": "CLIP-CAE (Grad-Based)"}
TUNED = ("CLIP-FT", *OURS)
T_OF_FOUR = 2.7764451051977934  # 97.5 % of Student's t with 4 degrees of freedom lies below
RUNS, ITEMS = 5, 171
EPSILON = 1e-9


@cache
def cells(table: str) -> dict[tuple[str, str], str]:
    """Row and column, without the corpus -> text."""
    return {
        (row["row"], column.removeprefix(f"{CORPUS} ")): text
        for row in PAPER.reported(table)
        for column, text in row.items()
        if column not in ("row", "category")
    }


def number(table: str, row: str, column: str) -> float:
    return float(cells(table)[row, column].split(" ± ")[0])


def columns(table: str) -> list[str]:
    return list(dict.fromkeys(column for _, column in cells(table)))


def rows(table: str) -> list[str]:
    return list(dict.fromkeys(row for row, _ in cells(table)))


def rounded(value: float | str, digit: str = "0.1") -> str:
    return str(Decimal(str(value)).quantize(Decimal(digit), ROUND_HALF_UP))


def flagged(table: str) -> dict[tuple[str, str], str]:
    return {(flag.row, flag.column.removeprefix(f"{CORPUS} ")): flag.correct for flag in PAPER.artifacts[table].flags}


# Tables 1 and 7


def intervals() -> Iterator[tuple[tuple[str, str], float, float]]:
    """Each printed end, and the least and the largest number that the mean and the spread beside it give."""
    for row in (IN_TABLE_7.get(row, row) for row in TUNED):
        for column in columns("table-7"):
            middle, spread = map(float, cells("table-7")[row, column].split(" ± "))
            for end, sign in (("from", -1), ("to", 1)):
                slack = 0.01 + T_OF_FOUR * 0.005 / RUNS**0.5 + EPSILON  # of the mean and the end, and of the spread
                expected = middle + sign * T_OF_FOUR * spread / RUNS**0.5
                yield (f"{row}, interval {end}", column), expected - slack, expected + slack


def test_intervals_follow_from_spreads_over_five_runs_but_for_the_two_that_are_flagged() -> None:
    wrong = {place for place, low, high in intervals() if not low <= number("table-7", *place) <= high}
    assert wrong == set(flagged("table-7"))
    assert {place: rounded((low + high) / 2, "0.01") for place, low, high in intervals() if place in wrong} == flagged(
        "table-7"
    )


# Winoground's items


def shares(items: int) -> set[str]:
    """The percentages of so many items, rounded once, or to four digits of the share before: 10 of 171 is 5.9 so, for
    5.848 that is 5.85.
    """
    once = {rounded(100 * right / items) for right in range(items + 1)}
    return once | {rounded(str(100 * Decimal(rounded(right / items, "0.0001")))) for right in range(items + 1)}


@pytest.mark.parametrize("table", ["table-2", "table-8", "table-14"])
def test_winoground_s_scores_are_shares_of_171_items_but_for_the_one_that_is_flagged(table: str) -> None:
    possible = shares(ITEMS)
    named = [column for column in columns(table) if column.startswith("Winoground")]
    assert len(named) == 3
    wrong = {
        (row, column)
        for row in rows(table)
        for column in named
        if row != "Random Chance" and rounded(number(table, row, column)) not in possible
    }
    assert wrong == set(flagged(table))
    assert set(flagged(table).values()) <= possible


def test_intervals_are_as_far_to_either_side_of_their_mean_but_for_the_row_that_is_flagged() -> None:
    """Where the lower end is cut at 0, the upper one is at least as far off as 0 is; four groups of 171 items differ
    in size, so the mean over groups is a little off the mean over items.
    """
    wrong = set()
    for row in rows("table-11"):
        for sense in ("Text", "Image", "Group"):
            middle, low, high = (number("table-11", row, f"{sense} Score{end}") for end in ("", " from", " to"))
            below, above = middle - low, high - middle
            if (above < below - 0.25) or (low > 0 and above > below + 0.25):
                wrong.add((row, f"{sense} Score to"))
    assert wrong == set(flagged("table-11"))
    text, image, group = (number("table-11", "CE-CLIP", f"{sense} Score") for sense in ("Text", "Image", "Group"))
    least = (2 * text - number("table-11", "CE-CLIP", "Text Score from"), 2 * image, 2 * group)
    assert list(flagged("table-11").values()) == [f"at least {rounded(value)}" for value in least]


CHOSEN = {"Attention-Based": "50.0", "GradCAM-Based": "100.0", "Perturbation-Based": "0.2", "Gradient-Based": "10.0"}


@pytest.mark.parametrize("way", WAYS)
def test_the_lambda_of_each_way_that_can_be_that_of_table_1_is_what_is_trained_here(way: str) -> None:
    row = f"CLIP-CAE ({way})"
    searched_by = PAPER.variants[PAPER.artifacts["table-8"].rows[f"{row}, λ = {CHOSEN[way]}"]]
    method = PAPER.artifacts["table-1"].rows[row]
    own = PAPER.variants[method].settings if method in PAPER.variants else {}
    assert section().settings("clip-cae", CORPUS, own) == section().settings("clip-cae", CORPUS, searched_by.settings)


# variants and claims


@pytest.mark.parametrize("name", PAPER.variants)
def test_a_variant_fits_the_settings_of_its_method_on_each_of_its_corpora(name: str) -> None:
    variant, params = PAPER.variants[name], section()
    assert CORPUS in variant.datasets
    assert set(variant.datasets) <= {CORPUS, DRAWN}
    for dataset in variant.datasets:
        plain = params.settings(variant.method, dataset)
        is_point = "attribution_weights" in variant.settings  # of a search, which the method's own value is among
        assert is_point or params.settings(variant.method, dataset, variant.settings) != plain or not variant.settings


def test_every_way_has_its_lambda_and_rows_of_table_8_say_theirs() -> None:
    measured = PAPER.artifacts["table-8"].rows
    for row, name in measured.items():
        changed = PAPER.variants[name].settings if name != "clip-cae" else {}
        settings = section().settings("clip-cae", CORPUS, changed).document()
        label, _, value = row.partition(" = ")
        if label.endswith("λ"):
            assert settings["attribution"] == row.removeprefix("CLIP-CAE (").partition("-Based")[0].lower()
            assert settings["attribution_weights"][settings["attribution"]] == float(value)
        else:
            assert settings["attribution"] == "none"
            assert settings["training"]["lr"] == pytest.approx(float(value.replace("×10^", "e")))


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


def test_figures_look_at_what_keeps_attribution_in_ways_that_there_are() -> None:
    for name in ("figure-1", "figure-4", "figure-6", "figure-7"):
        (view,) = PAPER.artifacts[name].all_views.values()
        assert {metric.split("/")[-2] for metric in view.columns.values()} <= set(METHODS)
    for name in ("figure-1", "figure-3", "figure-4", "figure-6", "figure-7", "attribution"):
        for method in PAPER.artifacts[name].rows.values():
            assert method.endswith("-attributed")
            assert PAPER.variants[method].reuse_runs_of == method.removesuffix("-attributed")
    assert "figure-5" not in PAPER.artifacts  # a vote among people


def test_artifacts_are_of_kinds_and_measures_that_the_track_knows() -> None:
    track = TRACKS["vlc"]
    for artifact in PAPER.artifacts.values():
        if artifact.kind in ("metrics", "intervals", "sweep"):
            for view in artifact.all_views.values():
                assert all(track.description_of(metric) for metric in view.columns.values())
    kinds = {artifact.kind for artifact in PAPER.artifacts.values()}
    core = {"statistics", "settings", "metrics", "intervals", "claims", "sweep", "forest"}
    assert kinds - core <= {*track.tables, *track.figures}
