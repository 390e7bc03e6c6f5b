"""The words for cells that were made again, on small invented lineages."""

from typing import Any

from recompose.inference.retraining import COST, DIFFERENT, IDENTICAL, LAST_DIGITS, WITHIN
from recompose.provenance.compare_cells import RevisionCell, RevisionCells, compare_cells
from recompose.report.retraining import RetrainedMetric, RetrainingSpreads

METRIC = "test/auc"


def revision_cell(**values: Any) -> RevisionCell:
    """A cell of a mean over two replicates."""
    plain = {"row": "CSP", "column": "AUC", "view": "", "text": "", "value": None, "spread": None, "values": []}
    return RevisionCell.model_validate(plain | values)


def cells(*members: RevisionCell) -> RevisionCells:
    """An artifact with these cells, of a method and a variant of it."""
    asked = [
        {"name": name, "benchmark": "pairs", "evaluations": [f"evaluations/{name}"]} for name in ("csp", "csp-large")
    ]
    records = {f"evaluations/{name}": {"labels": {"method": "csp"}} for name in ("csp", "csp-large")}
    document = {"cells": [member.plain() for member in members], "track": "czsl", "asked": asked, "records": records}
    return RevisionCells.model_validate(document)


def spreads() -> RetrainingSpreads:
    """A standard deviation of one, well known."""
    line = {"track": "czsl", "benchmark": "pairs", "method": "csp", "name": "csp", "metric": METRIC}
    return RetrainingSpreads((RetrainedMetric.model_validate(line | {"variance": 1, "freedom": 100, "step": 0.01}),))


def mean(numbers: list[float], **more: Any) -> RevisionCell:
    measured = {"values": numbers, "value": sum(numbers) / len(numbers), "metric": METRIC, "benchmark": "pairs"}
    return revision_cell(**{**measured, "names": ["csp"], "n": len(numbers), **more})


def word(then: RevisionCell, now: RevisionCell) -> str:
    (compared,) = compare_cells("msci/table-2", cells(then), cells(now), spreads())
    return compared.word


def test_a_mean_is_judged_by_the_spread_of_its_method_also_for_a_variant() -> None:
    assert word(mean([50.0, 51.0]), mean([50.0, 51.0])) == IDENTICAL
    assert word(mean([50.0, 51.0]), mean([51.0, 50.5])) == WITHIN
    assert word(mean([50.0, 51.0]), mean([60.0, 61.0])) == DIFFERENT
    assert word(mean([50.0, 51.0], names=["csp-large"]), mean([51.0, 50.5], names=["csp-large"])) == WITHIN
    assert word(mean([50.0, 51.0], names=["clip"]), mean([51.0, 50.5], names=["clip"])) == DIFFERENT
    assert word(mean([50.0]), mean([50.0, 51.0])) == DIFFERENT


def test_a_difference_of_means_has_the_spread_of_both_sides() -> None:
    names = ["csp-large", "csp"]
    then = mean([1.0], values=[], value=1.0, names=names, n=2)
    assert word(then, mean([1.0], values=[], value=5.0, names=names, n=2)) == WITHIN
    assert word(then, mean([1.0], values=[], value=9.0, names=names, n=2)) == DIFFERENT


def test_costs_and_texts() -> None:
    assert word(mean([1.0], metric="cost/test_seconds"), mean([2.0], metric="cost/test_seconds")) == COST
    assert word(revision_cell(text="not run"), revision_cell(text="0.5", value=0.5)) == DIFFERENT


def claim(csp: float, text: str, row: str = "best") -> list[RevisionCell]:
    """The verdict and the interval of a claim on a difference of two variants, with one replicate."""
    comparison = {
        "sides": ["csp", "csp-large"],
        "verdict": text.partition(" (")[0],
        "margin": 0.5,
        "is_kept": False,
        "p": None,
        "p_margin": None,
        "price": "",
        "needed": None,
    }
    values = {"csp": {"0": csp}, "csp-large": {"0": 50.0}}
    evidence = {"unit": "", "values": values, "comparisons": [comparison], "family": 1, "margin_family": 1}
    place = {"row": row, "benchmark": "pairs", "metric": METRIC}
    return [
        revision_cell(**place, column="pairs verdict", part="verdict", text=text, evidence=evidence),
        revision_cell(**place, column="pairs 95 % interval", part="95 % interval", text=f"{csp - 50:+.1f}"),
    ]


def test_a_claim_is_judged_by_the_values_that_it_rests_on_and_its_flip_is_named() -> None:
    then = cells(*claim(51.0, "undecided (interval spans zero)"))
    now = cells(*claim(52.0, "supported here"))
    verdict, interval = compare_cells("msci/claims", then, now, spreads())
    assert (verdict.word, verdict.is_flip) == (WITHIN, True)
    assert (interval.word, interval.is_flip) == (WITHIN, False)
    far = cells(*claim(70.0, "undecided (one seed)"))
    verdict, interval = compare_cells("msci/claims", then, far, spreads())
    assert (verdict.word, verdict.is_flip, interval.word) == (DIFFERENT, False, DIFFERENT)
    same_values = cells(*claim(51.0, "supported here"))
    verdict, interval = compare_cells("msci/claims", then, same_values, spreads())
    assert (verdict.word, verdict.is_flip, interval.word) == (DIFFERENT, True, IDENTICAL)


def test_a_corrected_value_rests_on_all_claims_of_the_table() -> None:
    then = cells(*claim(51.0, "undecided (a)"), *claim(51.0, "undecided (a)", row="other"))
    now = cells(*claim(51.0, "undecided (b)"), *claim(51.00001, "undecided (a)", row="other"))
    words = {(c.cell.row, c.cell.part): c.word for c in compare_cells("msci/claims", then, now, spreads())}
    assert words["best", "verdict"] == LAST_DIGITS


def test_other_evaluations_are_told_from_the_same_ones() -> None:
    then, now = mean([1.0], made_from=["evaluations/a"]), mean([1.0], made_from=["evaluations/b"])
    (compared,) = compare_cells("msci/table-2", cells(then), cells(now), spreads())
    assert (compared.word, compared.is_other_recipe) == (IDENTICAL, True)
