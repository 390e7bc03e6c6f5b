"""The dialog of a claim, compared with plain loops over its evaluations, and the settings in which rows differ."""

from typing import Any

from recompose.site.claims import claim_dialog
from recompose.site.document import differing_rows
from recompose.tables.measured import OVER_ROWS
from recompose.tracks import TRACKS
from tests.audit.invented import published_of
from tests.site.test_site import MEASURE, cell, claim_of, evaluation_of

VALUES = {"csp": {"0": 10.04, "1": 12.0}, "clip": {"0": 9.0, "1": 13.5}}


def evidence() -> dict[str, Any]:
    test = {"replicates": 2, "difference": -0.23, "p": 0.4, "p_margin": 0.9}
    comparison = {"sides": ["csp", "clip"], "verdict": "undecided (interval spans zero)", "margin": 1.0}
    tests = {"is_kept": False, "test": test, "p": 0.0004, "p_margin": 1.0, "price": "11 / 86", "needed": 11}
    return {"unit": "points", "values": VALUES, "comparisons": [comparison | tests], "family": 3, "margin_family": 2}


EVALUATIONS = {
    name: [evaluation_of(seed, method=name) for seed in (0, 1)] for name in (*VALUES, "coop")
}  # of which the claim compares two


def dialog() -> dict[str, Any]:
    every = [each for of in EVALUATIONS.values() for each in of]
    about = {
        "part": "verdict",
        "metric": MEASURE,
        "evidence": evidence(),
        "names": [*EVALUATIONS],
        "benchmark": "shapes-pairs",
    }
    known = published_of({"toy/claims": (every, [cell("one", "shapes-pairs verdict", "", [1.0] * 6, every, **about)])})
    (verdict,) = known.cells["toy/claims"]
    claim, interval = claim_of("It is so"), "-4.0 to +3.5"
    return claim_dialog(known, "toy/claims", TRACKS["czsl"], claim, verdict, interval, is_synthetic=True)


def test_values_stand_pair_by_pair_with_the_evaluations_of_their_sides() -> None:
    (comparison,) = dialog()["comparisons"]
    for place, pair in enumerate(comparison["pairs"]):
        seed = str(place)
        assert pair["seed"] == seed
        assert [side["text"] for side in pair["sides"]] == [f"{VALUES[name][seed]:.1f}" for name in VALUES]
        assert [side["key"] for side in pair["sides"]] == [EVALUATIONS[name][place].key for name in VALUES]
        assert pair["difference"] == f"{VALUES['csp'][seed] - VALUES['clip'][seed]:+.1f}"


def test_only_evaluations_of_its_sides_belong_to_a_claim() -> None:
    assert dialog()["belonging"] == [each.key for name in VALUES for each in EVALUATIONS[name]]


def test_the_tests_and_the_price_are_there() -> None:
    (comparison,) = dialog()["comparisons"]
    assert comparison["interval"] == "-4.0 to +3.5"
    assert (comparison["p"], comparison["p_margin"], comparison["price"]) == ("< 0.001", "1.000", ["11", "86"])
    assert comparison["test"] == {"replicates": 2, "difference": "-0.2", "p": "0.400", "p_margin": "0.900"}


def test_rows_of_a_method_differ_in_the_settings_of_their_runs_and_other_methods_are_left_out() -> None:
    rows = {"CSP": ("csp", 0.1), "CSP, faster": ("csp", 0.2), "CoOp": ("coop", 0.3)}
    evaluations = [evaluation_of(0, method=method, lr=rate, prompt="a") for method, rate in rows.values()]
    cells = [cell(row, "AUC", "", [1.0], [one]) for row, one in zip(rows, evaluations, strict=True)]
    cells.append(cell("not run", "AUC", "", [], []))
    cells.append(cells[1] | {"row": "mean", "rule": OVER_ROWS, "made_from": [each.key for each in evaluations[:2]]})
    published = published_of({"toy/table-1": (evaluations, cells)})
    tables = differing_rows(published, published.cells["toy/table-1"])
    # a mean over rows has no settings of its own
    assert tables == [{"rows": ["CSP", "CSP, faster"], "settings": [{"name": "lr", "values": ["0.1", "0.2"]}]}]
