"""The dialog of a claim: its values and evaluations, compared with plain loops over the lineage."""

from typing import Any

from recompose.papers.declaration import Claim, Margin
from recompose.site.claims import claim_dialog
from recompose.tables.lineage import Lineage
from tests.audit.invented import lineage_of
from tests.site.test_site import MEASURE, cell, evaluation_of

VALUES = {"csp": {"0": 10.04, "1": 12.0}, "clip": {"0": 9.0, "1": 13.5}}


def evidence() -> dict[str, Any]:
    test = {"replicates": 2, "difference": -0.23, "p": 0.4, "p_margin": 0.9}
    comparison = {"sides": ["csp", "clip"], "verdict": "undecided (interval spans zero)", "margin": 1.0}
    tests = {"is_kept": False, "test": test, "p": 0.0004, "p_margin": 1.0, "price": "11 / 86", "needed": 11}
    return {"unit": "points", "values": VALUES, "comparisons": [comparison | tests], "family": 3, "margin_family": 2}


EVALUATIONS = {
    name: [evaluation_of(seed, method=name) for seed in (0, 1)] for name in (*VALUES, "coop")
}  # of which the claim compares two


def lineage() -> Lineage:
    every = [each for of in EVALUATIONS.values() for each in of]
    known = lineage_of(
        every, [cell("one", "d verdict", "", [1.0] * 6, every, part="verdict", metric=MEASURE, evidence=evidence())]
    )
    asked = [{"name": name, "benchmark": "d", "evaluations": [e.key for e in of]} for name, of in EVALUATIONS.items()]
    return Lineage.model_validate({**known.plain(), "asked": asked})


def dialog() -> dict[str, Any]:
    claim = Claim(
        sentence="It is so",
        artifact="table-1",
        metric=MEASURE,
        margin=Margin(value=1.0, source="by hand"),
        higher="csp",
        lower=["clip"],
    )
    known = lineage()
    return claim_dialog(known, claim, known.cells[0], "-4.0 to +3.5", is_synthetic=True)


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
