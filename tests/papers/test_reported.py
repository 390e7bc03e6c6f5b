"""What papers printed, held to what was compared with their texts, and what is declared of it."""

import hashlib
import re
from collections.abc import Mapping
from functools import cache

import pytest

from recompose.papers.declaration import FOLDER, PAPERS, Claim, Flag, Paper, Variant, load_paper
from recompose.papers.printed import number_in
from recompose.recipes.records import flat as values_in
from recompose.tracks import TRACKS
from recompose.tracks.czsl import catalogue as czsl
from recompose.tracks.czsl.catalogue import Czsl
from recompose.tracks.gzsl import catalogue as gzsl
from recompose.tracks.gzsl.catalogue import Gzsl
from recompose.tracks.vlc import catalogue as vlc
from recompose.tracks.vlc.params import Vlc
from tests.configuration import params_text, parse_params

ABOUT = ("row", "category", "citation", "venue")
DATASETS = ("mit-states", "ut-zappos", "cgqa")
CORPORA = ("coco-100k", "cc3m-100k", "laion-coco-100k")
METHODS = {"czsl": czsl.METHODS, "gzsl": gzsl.METHODS, "vlc": vlc.METHODS}  # by track
PUBLISHED = {"czsl": DATASETS, "gzsl": ("cub", "sun", "awa2"), "vlc": CORPORA}
# stand for them
DRAWN = {"czsl": ("shapes-pairs",), "gzsl": ("shapes-classes",), "vlc": ("shapes-coco", "shapes-laion")}

SAME = {"duplex-semantic"}  # as a method: a row of its own for what is one recipe
PAPER = {name: load_paper(name) for name in PAPERS}


def cells(name: str, table: str) -> dict[tuple[str, str], str]:
    """Row and column -> text."""
    return {
        (row["row"], column): text
        for row in PAPER[name].reported(table)
        for column, text in row.items()
        if column not in ABOUT
    }


# the digest of a paper's printed tables, as they were compared with its text, digits and sums; and that of its flags of
# impossible and contradicting numbers, as they were found by arithmetic on these
COMPARED = {
    "clip-cae": ("464439c9daaf", "654776301505"),
    "crest": ("465b799ef4cf", "ecbdc41e037f"),
    "duplex": ("289ac918e2a1", "d529cd153612"),
    "fsc-clip": ("49c04b85252e", "b2ae6d302641"),
    "msci": ("fbf9ad636156", "076ac41941a6"),
}


@pytest.mark.parametrize("name", PAPERS)
def test_printed_tables_and_flags_are_as_they_were_compared_with_the_paper(name: str) -> None:
    tables = b"".join(path.name.encode() + path.read_bytes() for path in sorted((FOLDER / name).glob("reported/*.csv")))
    digests = [hashlib.sha256(text).hexdigest()[:12] for text in (tables, repr(flags(name)).encode())]
    assert tuple(digests) == COMPARED[name]


def flags(name: str) -> list[tuple[str, Flag]]:
    return [(table, flag) for table, artifact in PAPER[name].artifacts.items() for flag in artifact.flags]


EVERY_FLAG = [pytest.param(name, *found, id=f"{name}-{found[0]}") for name in PAPERS for found in flags(name)]


@pytest.mark.parametrize(("name", "table", "flag"), EVERY_FLAG)
def test_a_flag_names_a_cell_whose_printed_value_is_not_the_correct_one(name: str, table: str, flag: Flag) -> None:
    printed = cells(name, table)[flag.row, flag.column]
    assert printed != "-"
    output = [float(text) for text in re.findall(r"\d+(?:\.\d+)?", (flag.correct or flag.elsewhere).split(" in ")[0])]
    assert output
    assert flag.why
    if flag.correct.startswith("at least "):
        assert number_in(printed) < output[0]
    elif flag.correct.startswith("at most "):
        assert number_in(printed) > output[0]
    else:
        assert number_in(printed) not in output


# settings


@cache
def section_of_params(track: str) -> Czsl | Gzsl | Vlc:
    section = parse_params(params_text("paper")).tracks[track]
    assert isinstance(section, Czsl | Gzsl | Vlc)
    return section


TOLD = {"crest": PUBLISHED["gzsl"], "fsc-clip": CORPORA, "clip-cae": ("coco-100k",)}  # paper -> columns of settings
RELEASED = {("fsc-clip", "λ_g", "cc3m-100k"): 1.0}  # where the released code departs from the text


@pytest.mark.parametrize(("name", "dataset"), [(name, dataset) for name, of in TOLD.items() for dataset in of])
def test_the_settings_are_those_that_the_text_tells(name: str, dataset: str) -> None:
    paper, table, printed = PAPER[name], PAPER[name].artifacts["settings"], cells(name, "settings")
    flagged = {(flag.row, flag.column) for flag in table.flags}
    compared = [row for row in table.rows if (row, dataset) in printed and (row, dataset) not in flagged]
    assert compared
    for row in compared:
        method, place = table.setting_of(row)
        variant = paper.variants.get(method)
        section, changed = section_of_params(paper.track), variant.settings if variant else {}
        settings = flat(section.settings(variant.method if variant else method, dataset, changed).document())
        told = RELEASED.get((name, row, dataset), number_in(printed[row, dataset]))
        assert float(settings[place]) == pytest.approx(told), row


CHOSEN = {"Attention-Based": "50.0", "GradCAM-Based": "100.0", "Perturbation-Based": "0.2", "Gradient-Based": "10.0"}


@pytest.mark.parametrize(("way", "weight"), CHOSEN.items())
def test_the_lambda_of_each_way_that_can_be_that_of_table_1_is_what_is_trained_here(way: str, weight: str) -> None:
    paper, section, row = PAPER["clip-cae"], section_of_params("vlc"), f"CLIP-CAE ({way})"
    searched_by = paper.variants[paper.artifacts["table-8"].rows[f"{row}, λ = {weight}"]]
    method = paper.artifacts["table-1"].rows[row]
    own = paper.variants[method].settings if method in paper.variants else {}
    found = [section.settings("clip-cae", "coco-100k", changed) for changed in (own, searched_by.settings)]
    assert found[0] == found[1]


# claims and variants


EVERY_CLAIM = [pytest.param(paper, claim, id=name) for paper in PAPER.values() for name, claim in paper.claims.items()]
VARIANTS = {track: TRACKS[track].variants for track in METHODS}
KNOWN = {track: {*METHODS[track], *VARIANTS[track]} for track in METHODS}
EVERY_VARIANT = [
    pytest.param(track, name, variant, id=name)
    for track, variants in VARIANTS.items()
    for name, variant in variants.items()
]


@pytest.mark.parametrize(("paper", "claim"), EVERY_CLAIM)
def test_a_claim_is_of_methods_and_measures_that_its_artifact_shows(paper: Paper, claim: Claim) -> None:
    artifact = paper.artifacts[claim.artifact]
    gain = [claim.gain.higher, claim.gain.lower] if claim.gain else []
    compared = [claim.higher, *claim.lower, *gain]
    assert set(compared) == set(claim.methods) <= KNOWN[paper.track]
    assert set(compared) <= set(artifact.rows.values())
    assert claim.higher not in claim.lower
    assert len(set(compared)) == len(compared)
    assert claim.gain is None or claim.beyond is None
    assert claim.sentence
    views = artifact.all_views.values()
    shown = {metric for view in views for metric in view.columns.values()}
    begins = tuple(f"{view.of}/" for view in views if view.of)
    if artifact.kind == "groups":  # its paper's Seen and Unseen are S and U
        shown |= {"test/closed/dense/seen", "test/closed/dense/unseen"}
    metrics = {claim.metric, claim.beyond or claim.metric, *claim.lower_metrics}
    for metric in metrics:
        assert metric in shown or metric.startswith(begins or ("nothing",)), metric
    assert len({TRACKS[paper.track].description_of(metric) for metric in metrics}) == 1


@pytest.mark.parametrize(("paper", "claim"), EVERY_CLAIM)
def test_a_claim_can_be_tested_somewhere_and_in_the_demo(paper: Paper, claim: Claim) -> None:
    """Its methods have a data set of the papers in common, if its paper has one of these, and a drawn one."""
    variants, published, drawn = VARIANTS[paper.track], set(PUBLISHED[paper.track]), set(DRAWN[paper.track])
    common = (published | drawn).intersection(*(variants[name].datasets for name in claim.methods if name in variants))
    assert common & published or not published & paper.datasets.keys()
    assert common & drawn


def test_every_variant_is_shown_or_claimed_of_by_its_paper() -> None:
    for paper in PAPER.values():
        measuring = [artifact for artifact in paper.artifacts.values() if artifact.kind != "settings"]
        shown = {name for artifact in measuring for name in artifact.rows.values()}
        claimed = {method for claim in paper.claims.values() for method in claim.methods}
        assert set(paper.variants) <= shown | claimed, set(paper.variants) - shown - claimed


def flat(settings: Mapping[str, object]) -> dict[str, str]:
    """Return the values of settings as text, by their dotted names."""
    return {name: repr(value) for name, value in values_in(settings)}


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
        plain = flat(section.settings(variant.method, dataset).document())
        found = flat(section.settings(variant.method, dataset, variant.settings).document())
        changed = flat(variant.settings)
        assert changed.items() <= found.items()
        assert {key: value for key, value in found.items() if key not in changed}.items() <= plain.items()
    if variant.reuse_runs_of:
        assert variant.reuse_runs_of in KNOWN[track]
        trained = VARIANTS[track].get(variant.reuse_runs_of)
        settings = trained.settings if trained else {}
        assert {key: value for key, value in variant.settings.items() if key != "scoring"} == settings
        assert variant.backbone == (trained.backbone if trained else "main")
        assert "scoring" in variant.settings or variant.save
    else:
        assert name in SAME or variant.settings or variant.backbone != "main"
