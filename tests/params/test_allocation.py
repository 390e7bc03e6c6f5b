"""The file allocation.yaml: what is written is read again, and what is wrong is said in one error."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recompose.errors import PlanError
from recompose.params import ParamsError, load_params
from recompose.params.allocation import HEADER, Allocation, Observation, Stage, allocation_text, read_allocation
from recompose.params.reading import document_text, read_document
from recompose.tracks import FORMS
from recompose.workspace import PROFILE, Workspace
from tests.configuration import GONE, edit, parameters, text_of, write_params
from tests.errors import raises

SEEN = Observation(
    paper="msci",
    benchmark="shapes-pairs",
    comparison="csp - clip in test/closed/dense/auc margin 0.5",
    replicates=3,
    difference=-0.5,
    p=1e-12,
    p_margin=1.0,
    verdict="undecided",
)
ALLOCATION = Allocation(
    profile="study",
    looks={"czsl": [3, 6]},
    core_seconds={"czsl": {"csp": {"runs csp": 2.5}, "clip": {"data": 1.0}}},
    stages=[
        Stage(replicates={"czsl": {"csp": 3, "clip": 3}}, core_seconds=10.0, hours=1.0),
        Stage(
            replicates={"czsl": {"csp": 6, "clip": 3}}, core_seconds=7.5, hours=1.5, seen=[SEEN], too_dear=["x: - y"]
        ),
    ],
)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "allocation.yaml"
    path.write_text(allocation_text(ALLOCATION))
    assert path.read_text().startswith(HEADER)
    assert read_allocation(path) == ALLOCATION
    assert read_allocation(tmp_path / "none.yaml") is None


@given(st.dictionaries(st.text(), st.one_of(st.text(), st.floats(allow_nan=False), st.lists(st.integers()))))
def test_a_text_stays_a_text(document: dict[str, Any]) -> None:
    assert read_document(document_text(document), "it") == document


@pytest.mark.parametrize("name", ["1e5", "0o7", "on", "~", "null", "12", ".inf", "<<", "a: b", "# c", "\x1b[1m"])
def test_a_name_that_looks_like_something_else_stays_a_name(name: str) -> None:
    assert read_document(document_text({name: [name]}), "it") == {name: [name]}


@pytest.mark.parametrize(
    ("values", "code", "place"),
    [
        ({"stages": []}, None, "stages"),
        ({"stages.0.replicates.czsl.csp": 0}, None, "stages.0.replicates.czsl.csp"),
        ({"stages.1.replicates.czsl.csp": 4}, None, "stages.1.replicates.czsl.csp"),
        ({"stages.1.replicates.czsl.csp": 60}, None, "stages.1.replicates.czsl.csp"),
        ({"stages.0.replicates.czsl.clip": 6}, None, "stages.1.replicates.czsl.clip"),  # fewer in the second
        ({"stages.1.replicates.czsl": {}}, None, "stages.1.replicates.czsl.csp"),
        ({"stages.0.replicates.gzsl": {"ale": 3}}, None, "stages.0.replicates.gzsl.ale"),
        ({"stages.1.replicates.czsl.coop": 3}, "missing-key", "stages.1.replicates.czsl.coop"),
        ({"stages.1.seen.0.p": "low"}, None, "stages.1.seen.0.p"),
        ({"stages.1.seen.0.q": 1}, "unknown-key", "stages.1.seen.0.q"),
        ({"stages.1.core_seconds": -1}, None, "stages.1.core_seconds"),
        ({"looks.czsl": [6, 3]}, None, "looks.czsl"),
        ({"looks.czsl": [2, 3, 4, 5, 6, 7]}, None, "looks.czsl"),
        ({"profile": "../x"}, None, "profile"),
    ],
)
def test_a_wrong_file_is_one_error_that_names_it_the_place_and_the_remedy(
    values: dict[str, Any], code: str | None, place: str, tmp_path: Path
) -> None:
    document = read_document(allocation_text(ALLOCATION), "it")
    edit(document, values)
    path = tmp_path / "allocation.yaml"
    path.write_text(text_of(document))
    with raises(ParamsError, code, place) as caught:
        read_allocation(path)
    assert str(path) in str(caught.value)
    assert "restore" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "code", "place"),
    [
        (b"profile: study\nlooks: [", "no-yaml", "allocation.yaml:3"),
        (b"profile: a\nprofile: b\n", "no-yaml", "allocation.yaml:2"),
        (b"a: &a [*a]\n", "no-yaml", "allocation.yaml"),
        (b"[" * 100_000, "no-yaml", "allocation.yaml"),
        (b"!!python/object/apply:os.system ['true']", "no-yaml", "allocation.yaml:1"),
        (b"\xff\xfe\x00", "unreadable-file", "allocation.yaml"),
        (b"", "no-section", ""),
        (b"- 1\n", "no-section", ""),
    ],
)
def test_what_is_no_allocation_is_refused(content: bytes, code: str, place: str, tmp_path: Path) -> None:
    path = tmp_path / "allocation.yaml"
    path.write_bytes(content)
    with raises(ParamsError, code, place):
        read_allocation(path)
    (tmp_path / "folder").mkdir()
    with raises(ParamsError, "unreadable-file", "folder"):
        read_allocation(tmp_path / "folder")


@pytest.mark.parametrize("values", [{"profile": "demo"}, {"looks.toy": [3, 6]}])
def test_the_allocation_of_another_profile_is_refused(values: dict[str, Any], tmp_path: Path) -> None:
    document = read_document(allocation_text(ALLOCATION), "it")
    edit(document, values)
    (tmp_path / "allocation.yaml").write_text(text_of(document))
    with raises(ParamsError, "other-profile", "profiles.study.allocation"):
        load_params(write_params(tmp_path, "study"), FORMS)


@pytest.mark.slow
def test_the_plan_has_as_many_replicates_as_are_allocated_and_none_of_the_pilot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(PROFILE, raising=False)
    (tmp_path / "allocation.yaml").write_text(allocation_text(ALLOCATION))
    gone = {"profiles.study.other_budget": GONE, "profiles.study-long": GONE}
    seeds_of = {
        "profiles.study.czsl.seeds": list(range(100, 108)),
        "profiles.study.czsl.looks": [3, 8],
        "profiles.study.czsl.variant_seeds": [100],
        "profiles.study.czsl.interpretation_seeds": [100, 101],
    }
    write_params(tmp_path, "study", {"profiles.study.gzsl": None, "profiles.study.vlc": None, **gone, **seeds_of})
    plan = Workspace(tmp_path).plan
    seeds = {
        name: [recipe.labels["seed"] for recipe in plan.evaluations("czsl", name, "shapes-pairs")]
        for name in ("csp", "clip", "troika", "msci-as-printed", "msci-1-layer")
    }
    assert seeds == {
        "csp": [100, 101, 102, 103, 104, 105],
        "clip": [100, 101, 102],
        "troika": [100, 101, 102],  # a method that no claim compares: as often as the first look
        "msci-as-printed": [100, 101],  # an interpretation
        "msci-1-layer": [100],  # a sweep
    }
    assert {recipe.labels.get("seed", 100) for recipe in plan.of("evaluations")} == {100, 101, 102, 103, 104, 105}
    worlds = {recipe.digest for recipe in plan.of("data")}
    assert worlds.isdisjoint({recipe.digest for recipe in Workspace(Path.cwd(), ("profile=demo",)).plan.of("data")})


def test_the_pilot_s_seeds_are_none_of_the_study_s() -> None:
    profiles = parameters()["profiles"]
    for track in ("czsl", "gzsl", "vlc"):
        demo, study = (profiles[name][track] for name in ("demo", "study"))
        assert set(study["seeds"]).isdisjoint(demo["seeds"])
        assert set(study["variant_seeds"]) <= set(study["seeds"])
        assert study["looks"][-1] <= len(study["seeds"])


def test_a_method_that_the_profile_does_not_have_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PROFILE, raising=False)
    text = allocation_text(ALLOCATION).replace("csp: ", "cps: ")
    (tmp_path / "allocation.yaml").write_text(text)
    write_params(tmp_path, "study")
    with raises(PlanError, "unknown-name", "allocation.yaml: czsl.cps"):
        _ = Workspace(tmp_path).plan
