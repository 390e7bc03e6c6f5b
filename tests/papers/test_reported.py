"""What papers printed, against counts and sums that were taken from their texts, and what is declared of it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import pytest

from recompose.papers.declaration import FOLDER, PAPERS, Claim, Flag, Paper, Variant, declared_variants, load_paper
from recompose.report.kinds import is_figure
from recompose.tracks import TRACKS
from recompose.tracks.czsl import catalogue as czsl
from recompose.tracks.czsl.params import Czsl
from recompose.tracks.gzsl import catalogue as gzsl
from recompose.tracks.gzsl.params import Gzsl
from recompose.tracks.vlc import catalogue as vlc
from recompose.tracks.vlc.params import Vlc
from tests.configuration import params_text, parse_params

ABOUT = ("row", "category", "citation", "venue")
DATASETS = ("mit-states", "ut-zappos", "cgqa")
CORPORA = ("coco-100k", "cc3m-100k", "laion-coco-100k")
METHODS = {"czsl": czsl.METHODS, "gzsl": gzsl.METHODS, "vlc": vlc.METHODS}  # by track
PUBLISHED = {"czsl": DATASETS, "gzsl": ("cub", "sun", "awa2"), "vlc": CORPORA}
DRAWN = {
    "czsl": ("shapes-pairs",),
    "gzsl": ("shapes-classes",),
    "vlc": ("shapes-coco", "shapes-laion"),
}  # stand for them
METRICS = ("S", "U", "H", "AUC")  # of a data set, in the order of print
ADE = 4  # numbers that it has none of, on MIT-States


@dataclass(frozen=True)
class Printed:
    """A table as it stands in a paper's text: its rows, its columns, the cells left empty, and the sum of all numbers,
    spreads left out.
    """

    rows: int
    columns: int
    total: float | None  # None: its cells are words
    empty: int = 0


SAME = {"duplex-semantic"}  # as a method: a row of its own for what is one recipe
OURS = (
    "claims",
    "interpretations",
    "one-scale",
    "comparisons",
    "factors",
    "selection",
    "paths",
    "activation",
)  # of no paper
PRINTED = {
    # 3 data sets: pairs and images of training, seen and unseen pairs and images of validation and of testing
    ("msci", "table-1"): Printed(3, 2 + 3 + 3, 134_683),
    # 5 models without CLIP, 8 with it; S, U, H and AUC on 3 data sets
    ("msci", "table-2"): Printed(5 + 8, 3 * 4, 5642.2, ADE),
    ("msci", "table-3"): Printed(3 + 8, 3 * 4, 3531.6, ADE),
    ("msci", "table-4"): Printed(5 + 1, 4, 1437.9),
    # as MSCI's, with states, objects and their product in front
    ("duplex", "table-1"): Printed(3, 3 + 8, 449_083),
    ("duplex", "table-2"): Printed(5, 3, 4823.000615),
    ("duplex", "table-3"): Printed(9 + 11, 3 * 4, 8067.0, ADE),
    ("duplex", "table-4"): Printed(7 + 11, 3 * 4, 5255.3, ADE),
    ("duplex", "table-5"): Printed(4, 2 * 4, 1602.7),
    ("duplex", "table-6"): Printed(3, 2 * 4, 829.3),
    ("duplex", "table-7"): Printed(1 + 3 * 2, 4, 1565.5),
    ("duplex", "table-8"): Printed(1 + 3 * 2, 4, 1050.1),
    ("duplex", "table-9"): Printed(2 * 2, 3 * 4, 1832.8),
    # parameters and memory, seconds of training and of the test, AUC and H
    ("duplex", "table-10"): Printed(4, 3 * 2, 765.9),
    ("duplex", "table-11"): Printed(4, 4, 928.6),
    # four groups and their total; count and share in training and in the test
    ("duplex", "table-12"): Printed(5, 2 * 2, 64_436.0),
    # four groups and the seen ones together; samples, two accuracies and the gain
    ("duplex", "table-13"): Printed(5, 4, 9348.78),
    # images, classes, seen and unseen ones, attributes
    ("crest", "data"): Printed(3, 5, 65_883),
    ("crest", "settings"): Printed(5, 3, 3 * 64.2012),
    # 17 models and its own; ACC, U, S and H on 3 data sets
    ("crest", "table-1"): Printed(17 + 1, 3 * 4, 12_232.0, 13),
    # six ablations and the whole; U, S, H and ACC on 2 data sets
    ("crest", "table-2"): Printed(6 + 1, 2 * 4, 31.76),
    # of 100,000 captions each
    ("fsc-clip", "data"): Printed(3, 1, 300_000),
    ("fsc-clip", "settings"): Printed(10, 3, 3 * 317.820005),
    ("fsc-clip", "text"): Printed(3, 4, 49.9 + 53.5 + 55.9 + 58.2 + 54.2, 7),
    # id, and Comp, ZS, I2T and T2I Ret
    ("fsc-clip", "table-2"): Printed(8, 4, 1738.2),
    ("fsc-clip", "table-4"): Printed(4, 4, 901.1),
    ("fsc-clip", "table-7"): Printed(2 * 3, 4, 1335.2),
    # 11 suites and the four means
    ("fsc-clip", "table-8"): Printed(2, 11 + 4, 1624.8),
    # benchmarks, with the query and the licence that the text says
    ("fsc-clip", "table-6"): Printed(15, 2, None, 4 + 11),
    # mean attribution of objects and of the rest, as the introduction says them
    ("clip-cae", "attribution"): Printed(1, 2, 0.355),
    ("clip-cae", "data"): Printed(1, 1, 110_000),
    ("clip-cae", "settings"): Printed(8, 1, 311.2000005 + 50.2),
    # chance, CLIP, SDS-CLIP on ARO alone, CLIP-FT and four of its own; nine parts of suites, and Winoground's scores
    ("clip-cae", "table-1"): Printed(3 + 1 + 4, 9 + 3, 4739.6, 10),
    ("clip-cae", "table-2"): Printed(2 + 1 + 4, 9 + 3, 4798.4),
    # two sets, two ways, R@1 and R@5; the last row is an average
    ("clip-cae", "table-3"): Printed(1 + 4 + 1, 2 * 2 * 2, 3293.0),
    ("clip-cae", "table-4"): Printed(3, 2 * 2, 801.5),
    ("clip-cae", "table-5"): Printed(4, 5 + 1, 1620.6),
    ("clip-cae", "table-6"): Printed(7, 3, 7 * 151 + 5 * 1.1 + 7 * 0.4, 2),
    # rows of one number, then means, and where intervals begin and end
    ("clip-cae", "table-7"): Printed(3 + 5 * 3, 12, (516.7 + 656.7 + 115) + 3451.42 + 3430.99 + 3471.85, 10),
    ("clip-cae", "table-8"): Printed(5 + 4 * 5, 12, 17_173.9),
    ("clip-cae", "table-9"): Printed(2 * 2, 9, 2730.6),
    # recalls, each with its gain over the first row
    ("clip-cae", "table-10"): Printed(1 + 4, 4 * 2, 1012.7, 4),
    # scores, each with the ends of its interval
    ("clip-cae", "table-11"): Printed(5, 3 * 3, 627.42),
    ("clip-cae", "table-12"): Printed(5, 3, 730.6),
    ("clip-cae", "table-13"): Printed(5 + 2, 1, None),
    ("clip-cae", "table-14"): Printed(7, 3 + 1, 391.0),
    ("clip-cae", "table-15"): Printed(2 + 4, 1, 167.22),
    # Not printed in the text that we have: sums are those of the tables that were released, each number rounded first.
    # 9 models and its own two, each on 3 corpora: one model stands under all, eight under one
    ("fsc-clip", "table-1"): Printed(9 + 2, 3 * (11 + 4), 11_225.4, (9 * 3 - 11) * 15 + 11 * 4),
    ("fsc-clip", "table-5"): Printed(3, 4, 512.2, 3),
    ("fsc-clip", "table-9"): Printed(9 + 2, 3 * (21 + 1), 13_474.2, (9 * 3 - 11) * 22 + 2 * 3 * 21),
    ("fsc-clip", "table-10"): Printed(9 + 2, 3 * (2 * 6 + 2), 10_401.5, (9 * 3 - 11) * 14 + 11 * 2 + 2 * 3 * 12),
}
UNPRINTED = {("fsc-clip", f"table-3{part}") for part in "abc"}  # without a cell in the text that we have
# data sets in the order in which a table prints them
ACROSS = {
    "msci": {"table-2": DATASETS, "table-3": DATASETS, "table-4": DATASETS[1:2]},
    "duplex": {
        "table-3": DATASETS,
        "table-4": DATASETS,
        "table-5": DATASETS[:2],
        "table-6": (DATASETS[0], DATASETS[2]),
        "table-7": DATASETS[1:2],
        "table-8": DATASETS[:1],
        "table-9": DATASETS,
        "table-11": DATASETS[1:2],
    },
}
PAPER = {name: load_paper(name) for name in PAPERS}
TABLES = [(name, table) for name, paper in PAPER.items() for table in paper.artifacts if not is_figure(paper, table)]


def number(text: str) -> float:
    """Of a printed text, without its spread."""
    text = text.split(" ± ")[0].lstrip("+")
    factor, power = re.fullmatch(r"(?:([\d.]+)×)?10\^(-?\d+)", text).groups() if "^" in text else (text, "0")
    return float(factor or 1) * 10.0 ** int(power)


def cells(name: str, table: str) -> dict[tuple[str, str], str]:
    """Row and column -> text."""
    return {
        (row["row"], column): text
        for row in PAPER[name].reported(table)
        for column, text in row.items()
        if column not in ABOUT
    }


def row_of(name: str, table: str, row: str, *columns: str) -> list[str]:
    found = cells(name, table)
    return [found[row, column] for column in columns]


def accuracies(dataset: str) -> list[str]:
    return [f"{dataset} {metric}" for metric in METRICS]


# tables


def test_every_printed_table_is_there_and_no_other() -> None:
    counted = {name for name, _ in PRINTED}
    shown = {(name, table) for name, table in TABLES if name in counted and table not in OURS}
    assert shown == set(PRINTED) | UNPRINTED
    files = {(name, path.stem) for name in counted for path in (FOLDER / name).glob("reported/*.csv")}
    assert files == set(PRINTED)


@pytest.mark.parametrize(("name", "table"), PRINTED)
def test_a_table_has_as_many_cells_as_it_has_in_print_and_their_sum(name: str, table: str) -> None:
    printed, found = PRINTED[name, table], cells(name, table)
    rows, columns = ({cell[place] for cell in found} for place in (0, 1))
    assert (len(rows), len(columns)) == (printed.rows, printed.columns)
    assert len(found) == len(PAPER[name].reported(table)) * printed.columns == printed.rows * printed.columns
    texts = [text for text in found.values() if text != "-"]
    assert len(found) - len(texts) == printed.empty
    if printed.total is None:
        assert not any(re.fullmatch(r"[\d.]+", text) for text in texts)
    else:
        assert sum(map(number, texts)) == pytest.approx(printed.total, abs=1e-7)


@pytest.mark.parametrize(("name", "table"), [(name, table) for name, tables in ACROSS.items() for table in tables])
def test_accuracies_stand_in_the_order_of_print(name: str, table: str) -> None:
    header = [column for column in PAPER[name].reported(table)[0] if column not in ABOUT]
    assert header == [column for dataset in ACROSS[name][table] for column in accuracies(dataset)]
    empty = {cell for cell, text in cells(name, table).items() if text == "-"}
    full = ("table-2", "table-3") if name == "msci" else ("table-3", "table-4")
    assert empty == ({("ADE", column) for column in accuracies("mit-states")} if table in full else set())


SPREAD = {  # the rows with a standard deviation
    **{("duplex", table): {"Duplex(ours)"} for table in ("table-3", "table-4")},
    ("fsc-clip", "table-8"): {"FSC-CLIP", "FSC-CLIP, LoRA"},
    ("clip-cae", "table-7"): {
        "CLIP-FT",
        *(f"CLIP-CAE ({way}-Based)" for way in ("Attention", "GradCAM", "Perturbation", "Grad")),
    },
}


@pytest.mark.parametrize(("name", "table"), PRINTED)
def test_only_the_paper_s_own_rows_have_a_spread(name: str, table: str) -> None:
    assert {row for (row, _), text in cells(name, table).items() if "±" in text} == SPREAD.get((name, table), set())


# what one paper prints in several places


def test_groups_add_up_to_their_total() -> None:
    found = cells("duplex", "table-12")
    for column in ("train count", "train instance %", "test count", "test instance %"):
        parts = [number(found[row, column]) for row in ("Head", "Medium", "Tail", "Unseen")]
        assert sum(parts) == pytest.approx(number(found["Total", column]), abs=1e-9)


@pytest.mark.parametrize("split", ["train", "test"])
@pytest.mark.parametrize("row", ["Head", "Medium", "Tail", "Unseen", "Total"])
def test_shares_of_groups_follow_from_their_counts(row: str, split: str) -> None:
    found = cells("duplex", "table-12")
    share = 100 * number(found[row, f"{split} count"]) / number(found["Total", f"{split} count"])
    assert number(found[row, f"{split} instance %"]) == round(share, 1)


def test_groups_and_data_sets_have_the_same_images_everywhere() -> None:
    groups, accuracy, sizes = (cells("duplex", f"table-{number}") for number in (12, 13, 1))
    for row in ("Head", "Medium", "Tail", "Unseen"):
        assert accuracy[row, "samples"] == groups[row, "test count"]
    seen = sum(int(accuracy[row, "samples"]) for row in ("Head", "Medium", "Tail"))
    assert int(accuracy["Seen", "samples"]) == seen
    for split in ("train", "test"):
        assert sizes["CGQA", f"{split} images"] == groups["Total", f"{split} count"]
    for row in ("UT-Zappos", "MIT-States", "CGQA"):
        assert int(sizes[row, "pairs"]) == int(sizes[row, "states"]) * int(sizes[row, "objects"])


@pytest.mark.parametrize("row", ["Head", "Medium", "Tail", "Seen", "Unseen"])
def test_gains_of_groups_follow_from_both_accuracies(row: str) -> None:
    columns = ("accuracy (%) w/o L.G.", "accuracy (%) Duplex", "delta")
    without, with_it, gain = row_of("duplex", "table-13", row, *columns)
    assert gain.startswith("+")
    assert number(gain) == pytest.approx(number(with_it) - number(without), abs=1e-9)


FINAL = {  # table -> the row of the whole model
    "table-5": "(3) c-s-o + SP + VP",
    "table-6": "(2) N_blend",
    "table-7": "(3) L_c^h + L_c^t + (L_s + L_o)",
    "table-8": "(3) p(c^h) + p(c^t) + p(s)·p(o)",
    "table-11": "Soft Prompt + Visual Prototype",
}


@pytest.mark.parametrize("table", FINAL)
def test_the_whole_model_has_the_same_values_in_every_ablation(table: str) -> None:
    for dataset in ACROSS["duplex"][table]:
        whole = row_of("duplex", "table-3", "Duplex(ours)", *accuracies(dataset))
        assert row_of("duplex", table, FINAL[table], *accuracies(dataset)) == [text.split(" ± ")[0] for text in whole]


def test_rows_that_stand_in_two_tables_agree() -> None:
    columns = ("ut-zappos H", "ut-zappos AUC")
    of_costs = {"C-S-O": ("table-5", "(0) c-s-o"), "Duplex (L.G. + G.C.)": ("table-5", FINAL["table-5"])}
    for row, (table, other) in of_costs.items():
        assert row_of("duplex", "table-10", row, *columns) == row_of("duplex", table, other, *columns)
    semantic = row_of("duplex", "table-5", "(1) c-s-o + SP", *accuracies("ut-zappos"))
    assert row_of("duplex", "table-11", "Soft Prompt", *accuracies("ut-zappos")) == semantic
    assert row_of("msci", "table-4", "MSCI", *accuracies("ut-zappos")) == row_of(
        "msci", "table-2", "MSCI", *accuracies("ut-zappos")
    )


def test_both_papers_print_the_same_data_sets() -> None:
    """But for MIT-States' test images, which one of them has wrong."""
    msci, duplex = (cells(name, "table-1") for name in ("msci", "duplex"))
    differ = {cell for cell, text in msci.items() if duplex[cell[0].replace("C-GQA", "CGQA"), cell[1]] != text}
    assert differ == {("MIT-States", "test images")}


# what cannot be


def impossible(s: float, u: float, h: float, auc: float) -> Iterator[str]:
    """The metrics that no falling curve from S to U has, however they were rounded.

    The area is at most S x U, and at least that of the rectangle below the point of the best H, which is H squared or
    more.
    """
    half = 0.05
    if h - half > 2 * (s + half) * (u + half) / (s + u + 2 * half):
        yield "H"
    if auc - half > (s + half) * (u + half) / 100 or auc + half < (h - half) ** 2 / 100:
        yield "AUC"


@pytest.mark.parametrize("name", ACROSS)
def test_accuracies_that_cannot_be_are_flagged(name: str) -> None:
    found = set()
    for table, datasets in ACROSS[name].items():
        for row in {row for row, _ in cells(name, table)}:
            for dataset in datasets:
                texts = row_of(name, table, row, *accuracies(dataset))
                if "-" not in texts:
                    wrong = impossible(*map(number, texts))
                    found |= {(table, row, f"{dataset} {metric}") for metric in wrong}
    flagged = {(table, flag.row, flag.column) for table, flag in flags(name)}
    assert found <= flagged
    assert len(found) == {"msci": 0, "duplex": 3}[name]


OF_CLASSES = {"table-1": (("cub", "sun", "awa2"), 0.1), "table-2": (("cub", "sun"), 0.001)}  # data sets, last digit


def harmonic_mean(u: float, s: float) -> float:
    return 2 * u * s / (u + s)


def test_harmonic_means_that_do_not_follow_from_u_and_s_are_flagged_with_those_that_do() -> None:
    """However all three were rounded: nine cells are wrong, with the ACC that two tables print differently."""
    found = set()
    for table, (datasets, digit) in OF_CLASSES.items():
        for row in {row for row, _ in cells("crest", table)}:
            for dataset in datasets:
                u, s, h = map(number, row_of("crest", table, row, *(f"{dataset} {metric}" for metric in "USH")))
                low, high = (harmonic_mean(u + half, s + half) for half in (-digit / 2, digit / 2))
                if not low - digit / 2 <= h + 1e-9 or not h - 1e-9 <= high + digit / 2:
                    found.add((table, row, f"{dataset} H", round(harmonic_mean(u, s) / digit)))
    flagged = {
        (table, flag.row, flag.column, round(float(flag.correct) / OF_CLASSES[table][1]))
        for table, flag in flags("crest")
    }
    assert flagged - found == {("table-2", "CREST (Full)", "cub ACC", 786)}
    assert found < flagged
    assert len(flagged) == 9


def test_the_whole_model_s_numbers_are_the_same_in_both_tables() -> None:
    for dataset in OF_CLASSES["table-2"][0]:
        for metric in ("ACC", *"USH"):
            (first,) = row_of("crest", "table-1", "CREST (Ours)", f"{dataset} {metric}")
            (second,) = row_of("crest", "table-2", "CREST (Full)", f"{dataset} {metric}")
            is_flagged = (dataset, metric) == ("cub", "ACC")
            assert (number(first) == pytest.approx(100 * number(second))) != is_flagged


# flags


def flags(name: str) -> list[tuple[str, Flag]]:
    return [(table, flag) for table, artifact in PAPER[name].artifacts.items() for flag in artifact.flags]


EVERY_FLAG = [pytest.param(name, *found, id=f"{name}-{found[0]}") for name in PAPERS for found in flags(name)]


@pytest.mark.parametrize(("name", "table", "flag"), EVERY_FLAG)
def test_a_flag_names_a_cell_whose_printed_value_is_not_the_correct_one(name: str, table: str, flag: Flag) -> None:
    printed = cells(name, table)[flag.row, flag.column]
    assert printed != "-"
    said = [float(text) for text in re.findall(r"\d+(?:\.\d+)?", (flag.correct or flag.elsewhere).split(" in ")[0])]
    assert said
    assert flag.why
    if flag.correct.startswith("at least "):
        assert number(printed) < said[0]
    elif flag.correct.startswith("at most "):
        assert number(printed) > said[0]
    else:
        assert number(printed) not in said


@pytest.mark.parametrize("name", PAPERS)
def test_no_cell_is_flagged_twice(name: str) -> None:
    found = [(table, flag.row, flag.column) for table, flag in flags(name)]
    assert len(found) == len(set(found))


ELSEWHERE = {"MSCI": "msci", "Duplex": "duplex"}
OTHER_TABLE = {("msci", "table-2"): "table-3", ("msci", "table-3"): "table-4"}
OTHER_ROW = {"DFSP": "DFSP(t2i)", "DFSP(t2i)": "DFSP"}


@pytest.mark.parametrize(("name", "table", "flag"), EVERY_FLAG)
def test_what_a_flag_says_of_another_place_stands_there(name: str, table: str, flag: Flag) -> None:
    """Of the other paper, whose flag says the same of this one, or of another table of the same paper."""
    value, _, place = flag.elsewhere.partition(" in ")
    if place in ELSEWHERE:
        other = ELSEWHERE[place]
        tables = (
            OTHER_TABLE if name == "msci" else {("duplex", theirs): ours for (_, ours), theirs in OTHER_TABLE.items()}
        )
        there = tables[name, table], OTHER_ROW.get(flag.row, flag.row), flag.column
        assert cells(other, there[0])[there[1:]] == value
        back = {(table, flag.row, flag.column): flag.elsewhere for table, flag in flags(other)}
        assert back[there].split(" in ")[0] == cells(name, table)[flag.row, flag.column]
    elif match := re.fullmatch(r"Table (\d+)", place):
        assert cells(name, f"table-{match[1]}")[flag.row, flag.column] == value
    else:
        assert place == ("the text" if flag.elsewhere else "") and " in " not in flag.correct


# settings


@cache
def section_of_params(track: str) -> Czsl | Gzsl | Vlc:
    section = parse_params(params_text()).tracks[track]
    assert isinstance(section, Czsl | Gzsl | Vlc)
    return section


TABLE_2 = {"mit-states": (1e-4, 64, 15), "ut-zappos": (5e-4, 64, 20), "cgqa": (1.5e-5, 32, 20)}


@pytest.mark.parametrize("dataset", PUBLISHED["gzsl"])
def test_the_settings_of_crest_are_those_that_its_text_says(dataset: str) -> None:
    printed = {row: number(text) for (row, column), text in cells("crest", "settings").items() if column == dataset}
    settings = dict(flat(section_of_params("gzsl").settings("crest", dataset).document()))
    measured = PAPER["crest"].artifacts["settings"].rows
    assert {row: float(settings[measured[row]]) for row in printed} == printed


@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize("method", ["duplex", "c-s-o"])
def test_the_settings_on_each_data_set_are_those_of_duplex_s_table_2(method: str, dataset: str) -> None:
    printed = [number(cells("duplex", "table-2")[row, dataset]) for row in PAPER["duplex"].artifacts["table-2"].rows]
    assert printed == pytest.approx(TABLE_2[dataset])
    measured = list(PAPER["duplex"].artifacts["table-2"].rows.values())
    assert measured == [f"training.{setting}" for setting in ("lr", "batch_size", "epochs")]
    section = section_of_params("czsl")
    own = section.methods.of(method).per_dataset[dataset]["training"]  # type: ignore[attr-defined]
    assert (own["lr"], own["batch_size"], own["epochs"]) == pytest.approx(TABLE_2[dataset])
    settings = section.settings(method, dataset).document()
    training = settings["training"]
    assert (training["lr"], training["batch_size"], training["epochs"]) == pytest.approx(TABLE_2[dataset])
    assert (training["accumulate"], training["halve_every"], settings["adapter_bottleneck"]) == (1, 5, 64)
    assert settings["adapter_dropout"] == 0.1


# claims and variants


EVERY_CLAIM = [pytest.param(paper, claim, id=name) for paper in PAPER.values() for name, claim in paper.claims.items()]
VARIANTS = {track: declared_variants(track) for track in METHODS}
KNOWN = {track: {*METHODS[track], *VARIANTS[track]} for track in METHODS}
EVERY_VARIANT = [
    pytest.param(track, name, variant, id=name)
    for track, variants in VARIANTS.items()
    for name, variant in variants.items()
]


def methods_of(claim: Claim) -> list[str]:
    gain = [claim.gain.higher, claim.gain.lower] if claim.gain else []
    return [claim.higher, *claim.lower, *gain]


def measured_by(paper: Paper) -> set[str]:
    """The methods and variants that artifacts show."""
    return {
        name for artifact in paper.artifacts.values() if artifact.kind != "settings" for name in artifact.rows.values()
    }


@pytest.mark.parametrize(("paper", "claim"), EVERY_CLAIM)
def test_a_claim_is_of_an_artifact_that_measures_its_methods(paper: Paper, claim: Claim) -> None:
    artifact = paper.artifacts[claim.artifact]
    compared = methods_of(claim)
    assert set(compared) <= KNOWN[paper.track]
    assert set(compared) <= set(artifact.rows.values())
    assert claim.higher not in claim.lower
    assert len(set(compared)) == len(compared)
    assert claim.gain is None or claim.beyond is None
    assert claim.sentence


@pytest.mark.parametrize(("paper", "claim"), EVERY_CLAIM)
def test_a_claim_is_of_measures_that_its_artifact_shows(paper: Paper, claim: Claim) -> None:
    views = paper.artifacts[claim.artifact].all_views.values()
    shown = {metric for view in views for metric in view.columns.values()}
    begins = tuple(f"{view.of}/" for view in views if view.of)
    if paper.artifacts[claim.artifact].kind == "groups":  # its paper's Seen and Unseen are S and U
        shown |= {"test/closed/dense/seen", "test/closed/dense/unseen"}
    metrics = {claim.metric, claim.beyond or claim.metric, *claim.lower_metrics}
    for metric in metrics:
        assert metric in shown or metric.startswith(begins or ("nothing",)), metric
    assert len({TRACKS[paper.track].description_of(metric) for metric in metrics}) == 1


def test_every_column_of_measures_is_one_that_its_track_knows() -> None:
    for paper in PAPER.values():
        for artifact in paper.artifacts.values():
            if artifact.kind in ("metrics", "sweep"):
                columns = [metric for view in artifact.all_views.values() for metric in view.columns.values()]
                assert columns
                assert all(TRACKS[paper.track].description_of(metric).digits >= 0 for metric in columns)


@pytest.mark.parametrize(("paper", "claim"), EVERY_CLAIM)
def test_a_claim_can_be_tested_somewhere_and_in_the_demo(paper: Paper, claim: Claim) -> None:
    """Its methods have a data set of the papers in common, if its paper has one of these, and a drawn one."""
    variants, published, drawn = VARIANTS[paper.track], set(PUBLISHED[paper.track]), set(DRAWN[paper.track])
    common = (published | drawn).intersection(
        *(variants[name].datasets for name in methods_of(claim) if name in variants)
    )
    assert common & published or not published & paper.datasets.keys()
    assert common & drawn


@pytest.mark.parametrize("name", PAPERS)
def test_what_artifacts_measure_is_a_method_or_a_variant(name: str) -> None:
    assert measured_by(PAPER[name]) <= KNOWN[PAPER[name].track]


def test_of_each_reading_the_table_says_what_sources_say() -> None:
    for paper in map(load_paper, ("msci", "duplex", "crest")):
        table = paper.artifacts["interpretations"]
        says = table.views["sources"].says
        in_words = {table.rows[row] for row in says}
        assert {name for name, variant in paper.variants.items() if variant.interpretation} - in_words <= {
            "crest-vgt-alone"
        }
        assert len({tuple(of_row) for of_row in says.values()}) == 1, "each row has the same sources"


@pytest.mark.parametrize("name", [name for name, paper in PAPER.items() if "interpretations" in paper.artifacts])
def test_what_is_trained_for_the_table_of_readings_has_the_seeds_of_readings(name: str) -> None:
    paper = load_paper(name)
    shown = set(paper.artifacts["interpretations"].rows.values())
    trained = {name for name, variant in paper.variants.items() if not (variant.reuse_runs_of or variant.every_seed)}
    assert {name for name in trained if paper.variants[name].interpretation} == shown & trained


def test_every_variant_is_shown_or_claimed_of_by_its_paper() -> None:
    for paper in PAPER.values():
        used = measured_by(paper) | {method for claim in paper.claims.values() for method in methods_of(claim)}
        assert set(paper.variants) <= used, set(paper.variants) - used


def flat(settings: Mapping[str, object], path: str = "") -> Iterator[tuple[str, str]]:
    """Dotted names of settings, and the values as text."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", repr(value)


@pytest.mark.parametrize(("track", "name", "variant"), EVERY_VARIANT)
def test_a_variant_changes_settings_of_a_method_or_its_backbone(track: str, name: str, variant: Variant) -> None:
    """One that scores the runs of another has its settings, but for those of scoring, and its backbone."""
    section = section_of_params(track)
    assert name not in METHODS[track]
    assert variant.method in METHODS[track]
    assert sum(name in paper.variants for paper in PAPER.values()) == 1
    assert set(variant.datasets) <= {*PUBLISHED[track], *DRAWN[track]}
    assert len(set(variant.datasets)) == len(variant.datasets)
    for dataset in variant.datasets:
        plain = dict(flat(section.settings(variant.method, dataset).document()))
        found = dict(flat(section.settings(variant.method, dataset, variant.settings).document()))
        changed = dict(flat(variant.settings))
        assert changed.items() <= found.items()
        assert {key: value for key, value in found.items() if key not in changed}.items() <= plain.items()
        optional = {name for name, value in plain.items() if value == "None"}  # a section that may be asked for
        within = {name for name in found if name.rpartition(".")[0] in optional}
        assert found.keys() - within == plain.keys() - {name.rpartition(".")[0] for name in within}
    if variant.reuse_runs_of:
        assert variant.reuse_runs_of in KNOWN[track]
        trained = VARIANTS[track].get(variant.reuse_runs_of)
        settings = trained.settings if trained else {}
        assert {key: value for key, value in variant.settings.items() if key != "scoring"} == settings
        assert variant.backbone == (trained.backbone if trained else "main")
        assert "scoring" in variant.settings or variant.save
    else:
        assert name in SAME or variant.settings or variant.backbone != "main"


UNPRINTED_ROWS = {  # of settings, accuracies and costs that no paper printed: ours, and those that stand for others
    "msci": {"Troika", "C-S-O", "CoOp", "CLIP", "GIPCOL", "chance", "MSCI with V com as printed"},
    "duplex": {
        "chance",
        "C-S-O",
        "Duplex without L.G.",
        "Duplex",
        "Semantic Proto, convolutional CLIP",
        "+ Visual Proto, convolutional CLIP",
    },
    "crest": {"SJE", "DEVISE", "ALE", "ESZSL", "Number of epochs"},
    "fsc-clip": {"CLIP, fine-tuned", "NegCLIP‡", "+ NegCLIP"},
    "clip-cae": {
        "CLIP",
        "CLIP-FT",
        "NegCLIP",
        *(f"CLIP-CAE ({way}-Based)" for way in ("Attention", "GradCAM", "Perturbation", "Gradient")),
        "λ, attention-based",
        "λ, gradient-based",
        *(f"{model}, {whose}" for model in ("CLIP", "CLIP-FT", "CLIP-CAE") for whose in ("its own", "the other")),
    },
}


@pytest.mark.parametrize("name", UNPRINTED_ROWS)
def test_what_is_measured_stands_under_a_printed_row_or_is_said_to_be_another(name: str) -> None:
    for table, artifact in PAPER[name].artifacts.items():
        if artifact.kind in ("settings", "metrics") and table not in OURS and (name, table) not in UNPRINTED:
            assert set(artifact.rows) - {row for row, _ in cells(name, table)} <= UNPRINTED_ROWS[name], table
        if artifact.kind == "groups":
            assert set(artifact.rows) <= {column for _, column in cells(name, table)}
