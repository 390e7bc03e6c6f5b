"""The fingerprint of code: what counts as a change, and which modules are seen."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from recompose.errors import PluginError
from recompose.recipes import fingerprint as module
from tests.errors import raises

SOURCE = '''
"""A module."""
import math

unit = "cm2"


def area(radius):
    """The area."""
    from recompose.other import helper

    return math.pi * radius**2  # a disc
'''


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of two modules in place of this one."""
    (tmp_path / "disc.py").write_text(SOURCE)
    (tmp_path / "other.py").write_text("helper = 1\n")
    (tmp_path / "third.py").write_text("x = 1\n")
    summaries = module._Summaries(tmp_path / "summaries.json")  # those of this code, not of one before it
    monkeypatch.setattr(module, "_summaries", lambda: summaries)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    return tmp_path


def forget() -> None:
    """A process reads sources once."""
    for kept in (module._fingerprint_of_own, module._counts):
        kept.cache_clear()


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    forget()
    yield
    forget()


def prints() -> dict[str, str]:
    forget()
    return module.fingerprint(["recompose.disc"])


def test_imported_modules_of_the_package_are_seen_and_no_others(package: Path) -> None:
    assert list(prints()) == ["recompose.disc", "recompose.other"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  # a disc", "  # a circle"),
        ('"""The area."""', '"""Its area, in units."""'),
        ('"""A module."""\n', ""),
        ("math.pi * radius**2", "(math.pi\n            * radius ** 2)"),
        ("\n\n\ndef", "\n\ndef"),
    ],
)
def test_comments_docstrings_and_layout_do_not_count(package: Path, old: str, new: str) -> None:
    before = prints()
    assert old in SOURCE
    (package / "disc.py").write_text(SOURCE.replace(old, new))
    assert prints() == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("radius**2", "radius**3"),
        ("def area", "def surface"),
        ("import math", "import cmath as math"),
        ('"cm2"', '"m2"'),  # a string that is no docstring
    ],
)
def test_what_the_code_does_counts(package: Path, old: str, new: str) -> None:
    before = prints()
    (package / "disc.py").write_text(SOURCE.replace(old, new))
    assert prints()["recompose.disc"] != before["recompose.disc"]
    assert prints()["recompose.other"] == before["recompose.other"]


def test_a_module_with_the_marker_is_outside_whatever_its_name(package: Path) -> None:
    (package / "other.py").write_text("OUTSIDE_FINGERPRINTS = True\nhelper = 1\n")
    (package / "third.py").write_text("x = 'OUTSIDE_FINGERPRINTS'\n")
    (package / "settings.py").write_text("y = 1\n")
    (package / "disc.py").write_text(f"{SOURCE}\nfrom recompose import settings, third\n")
    assert list(prints()) == ["recompose.disc", "recompose.settings", "recompose.third"]


def test_an_unknown_module_is_an_error(package: Path) -> None:
    with pytest.raises(ModuleNotFoundError) as error:
        module.fingerprint(["recompose.nothing"])
    assert "recompose.nothing" in str(error.value)


def test_modules_that_were_edited_or_are_gone_have_changed(package: Path) -> None:
    code = prints()
    assert module.changed_modules(code | {"numpy": "1"}) == []  # which is none of ours
    (package / "disc.py").write_text(SOURCE.replace("radius**2", "radius**3"))
    (package / "other.py").unlink()
    forget()
    assert module.changed_modules(code) == ["recompose.disc", "recompose.other"]


def test_all_that_a_plugin_imports_of_its_own_counts(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = tmp_path / "my_discs"
    (plugin / "inner").mkdir(parents=True)
    (plugin / "plan.py").write_text("x = 1\n")  # which would be outside of this package's
    (plugin / "inner/__init__.py").write_text("from .. import plan\nfrom recompose import plan, third\n")
    monkeypatch.syspath_prepend(tmp_path)
    with raises(PluginError, "no-fingerprint", "my_discs.inner"):
        module.fingerprint(["my_discs.inner"])
    (plugin / module.DECLARATION).touch()
    forget()
    assert list(module.fingerprint(["my_discs.inner"])) == ["my_discs.inner", "my_discs.plan", "recompose.third"]
    assert module.location("my_discs") == plugin and module.location("my-discs") is module.location("no_discs") is None


def test_summaries_of_sources_are_kept_in_a_file(package: Path, tmp_path: Path) -> None:
    file = tmp_path / "kept" / "summaries.json"
    first = module._Summaries(file)
    first.write()
    assert not file.exists()  # as there is nothing new
    summary = first.of(package / "disc.py")
    first.write()
    assert [*json.loads(file.read_text()).values()] == [summary]
    file.write_text(file.read_text().replace(summary[0], "kept"))
    assert module._Summaries(file).of(package / "disc.py")[0] == "kept"


def test_no_module_reaches_the_planning_of_the_workflow_from_a_run() -> None:
    """Runs must not depend on code that cannot move their numbers."""
    reached = set(module.fingerprint(["recompose.tracks.czsl.methods.gipcol", "recompose.tracks.czsl.training"]))
    rooms = ("cli", "commands", "metric_cache", "phases", "recipes", "tables.artifacts", "tracks.track", "workflow")
    outside = tuple(f"recompose.{name}" for name in rooms)
    assert not [name for name in reached if name == "recompose.tracks.czsl" or name.startswith(outside)]
    assert "recompose.tracks.czsl.metrics.curves" in reached
    assert "recompose.tracks.czsl.methods.clip_coop_csp" not in reached
