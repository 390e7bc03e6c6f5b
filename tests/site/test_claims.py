"""The dialog of a claim: its values and evaluations, compared with plain loops over the lineage."""

from typing import Any

from recompose.papers.declaration import Claim, Margin
from recompose.site.claims import claim_dialog
from recompose.tables.cells import ClaimEvidence
from recompose.tables.lineage import Lineage
from tests.site.test_site import MEASURE, cell, lineage_of, record

VALUES = {"csp": {"0": 10.04, "1": 12.0}, "clip": {"0": 9.0, "1": 13.5}}


def evidence() -> dict[str, Any]:
    test = {"replicates": 2, "difference": -0.23, "p": 0.4, "p_margin": 0.9}
    comparison = {"sides": ["csp", "clip"], "verdict": "undecided (interval spans zero)", "margin": 1.0}
    tests = {"is_kept": False, "test": test, "p": 0.0004, "p_margin": 1.0, "price": "11 / 86", "needed": 11}
    return {"unit": "points", "values": VALUES, "comparisons": [comparison | tests], "family": 3, "margin_family": 2}


def lineage() -> Lineage:
    """A lineage of three methods, one of which the claim does not compare."""
    verdict = cell("one", "d verdict", "", [1.0] * 6, part="verdict", metric=MEASURE)
    document = lineage_of([verdict], {f"evaluations/{n}23456789abc": record(n) for n in range(6)}).model_dump()
    document["records"] = {
        key: described | {"labels": {"seed": number % 2}}
        for number, (key, described) in enumerate(document["records"].items())
    }
    document["cells"][0]["evidence"] = evidence()
    keys = list(document["records"])
    places = zip(("csp", "clip", "coop"), (keys[:2], keys[2:4], keys[4:]), strict=True)
    document["asked"] = [{"name": name, "benchmark": "d", "evaluations": own} for name, own in places]
    document["wanted"] = document.pop("other_recipes")
    return Lineage.model_validate(document)


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
    keys = list(lineage().records)
    for place, pair in enumerate(comparison["pairs"]):
        seed = str(place)
        assert pair["seed"] == seed
        assert [side["text"] for side in pair["sides"]] == [f"{VALUES[name][seed]:.1f}" for name in VALUES]
        assert [side["key"] for side in pair["sides"]] == [keys[place], keys[2 + place]]
        assert pair["difference"] == f"{VALUES['csp'][seed] - VALUES['clip'][seed]:+.1f}"


def test_only_evaluations_of_its_sides_belong_to_a_claim() -> None:
    assert dialog()["belonging"] == list(lineage().records)[:4]


def test_the_tests_and_the_price_are_there() -> None:
    (comparison,) = dialog()["comparisons"]
    assert comparison["interval"] == "-4.0 to +3.5"
    assert (comparison["p"], comparison["p_margin"], comparison["price"]) == ("< 0.001", "1.000", ["11", "86"])
    assert comparison["test"] == {"replicates": 2, "difference": "-0.2", "p": "0.400", "p_margin": "0.900"}


def test_a_claim_without_evidence_has_no_dialog() -> None:
    known = lineage()
    bare = known.cells[0].model_copy(update={"evidence": None})
    assert claim_dialog(known, None, bare, "", is_synthetic=True) == {}  # type: ignore[arg-type]


def test_evidence_is_as_lineage_has_it() -> None:
    assert ClaimEvidence.model_validate(evidence()).comparisons[0].text == "csp - clip"
