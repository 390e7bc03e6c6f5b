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

    return math.pi * radius**2 + helper  # a disc
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
    for kept in (module._own_reach, module._fingerprint_of_own):
        kept.cache_clear()


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    forget()
    yield
    forget()


def prints() -> dict[str, str]:
    forget()
    return module.fingerprint(["recompose.disc"])


def test_what_a_module_uses_of_the_package_is_seen_and_nothing_else(package: Path) -> None:
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


def test_a_message_an_annotation_and_a_description_do_not_count_and_a_value_does(package: Path) -> None:
    source = (
        "from recompose.third import x\n"
        "class Settings:\n    rate: float = Field(default=0.1, description='The rate.')\n"
        "def run(rate: float) -> float:\n"
        "    say('It begins.')\n"
        "    if rate < 0:\n        message = f'{rate} is negative'\n        raise ValueError(message + '.')\n"
        "    return rate * Settings.rate * x\n"
    )
    prints_of = {}
    for old, new in (
        ("", ""),
        ("'The rate.'", "'The learning rate.'"),
        (" -> float", " -> int"),
        ("rate: float)", "rate)"),
        ("It begins", "It starts"),
        ("is negative", "is below zero"),
        ("'.'", "'!'"),
        ("default=0.1", "default=0.2"),
        ("rate < 0", "rate < 1"),
        ("rate: float = Field", "rate: int = Field"),
    ):
        (package / "disc.py").write_text(source.replace(old, new) if old else source)
        forget()
        prints_of[new] = module.fingerprint(["recompose.disc:run"])
    assert [new for new, code in prints_of.items() if code != prints_of[""]] == [
        "default=0.2",
        "rate < 1",
        "rate: int = Field",
    ]


def test_only_definitions_that_names_lead_to_are_reached(package: Path) -> None:
    (package / "other.py").write_text(
        "import os\nfrom recompose import third as shared\n"
        "LIMIT, SIZE = 3, 4\n"
        "def used(x):\n    return shared.x + LIMIT\n"
        "def unused():\n    return SIZE\n"
        "os.environ.setdefault('X', '1')\n"
    )
    (package / "third.py").write_text("x = 1\ny = 2\n")
    (package / "disc.py").write_text(
        "import recompose.other as there\n"
        "class Base:\n    def area(self):\n        return there.used(1)\n"
        "class Disc(Base):\n    pass\n"
        "class Square(Base):\n    pass\n"
    )
    assert module.reached(["recompose.disc:Disc"]) == {
        ("recompose.disc", "Disc"),
        ("recompose.disc", "Base"),
        ("recompose.other", "used"),
        ("recompose.other", "LIMIT"),
        ("recompose.other", module.REST),  # which runs when the module is imported
        ("recompose.third", "x"),
    }
    before = module.fingerprint(["recompose.disc:Disc"])
    text = (package / "other.py").read_text()
    for old, new, counts in (("SIZE\n", "SIZE + 1\n", False), ("+ LIMIT", "- LIMIT", True), ("'1'", "'2'", True)):
        (package / "other.py").write_text(text.replace(old, new))
        forget()
        assert (module.fingerprint(["recompose.disc:Disc"]) != before) == counts


def test_a_name_that_a_module_passes_on_is_followed_and_a_hidden_one_brings_all_of_it(package: Path) -> None:
    (package / "other.py").write_text("from recompose.third import x\n")
    (package / "disc.py").write_text("from recompose.other import x\ny = x\n")
    assert module.reached(["recompose.disc:y"]) == {("recompose.disc", "y"), ("recompose.third", "x")}
    (package / "other.py").write_text("globals().update(x=1)\nz = 1\n")
    assert ("recompose.other", "z") in _reached_anew("recompose.disc:y")
    (package / "disc.py").write_text("from recompose import other\ny = [other]\n")
    assert ("recompose.other", "z") in _reached_anew("recompose.disc:y")


def _reached_anew(root: str) -> set[tuple[str, str]]:
    forget()
    return module.reached([root])


def test_what_is_outside_is_not_followed(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "OUTSIDE", {"recompose.other": "a reason"})
    assert list(prints()) == ["recompose.disc"]


def test_each_module_outside_exists_and_has_its_reason() -> None:
    for name, reason in module.OUTSIDE.items():
        path, _, part = name.partition(":")
        assert part in module.path_of(path).read_text() and reason


def test_an_unknown_module_is_an_error(package: Path) -> None:
    with pytest.raises(ModuleNotFoundError) as error:
        module.fingerprint(["recompose.nothing"])
    assert "recompose.nothing" in str(error.value)


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
    (plugin / "inner/__init__.py").write_text("from .. import plan\nx = 1\ny = 2\n")
    assert {name for _, name in module.reached(["my_discs.inner:x"])} == {module.REST, "x", "y"}
    assert module.location("my_discs") == plugin and module.location("my-discs") is module.location("no_discs") is None


def test_summaries_of_sources_are_kept_in_a_file(package: Path, tmp_path: Path) -> None:
    file = tmp_path / "kept" / "summaries.json"
    first = module._Summaries(file)
    first.write()
    assert not file.exists()  # as there is nothing new
    summary = first.of(package / "disc.py")
    first.write()
    (kept,) = json.loads(file.read_text()).values()
    digest = summary.definitions["area"].digest
    assert kept["definitions"]["area"]["digest"] == digest
    file.write_text(file.read_text().replace(digest, "kept"))
    assert module._Summaries(file).of(package / "disc.py").definitions["area"].digest == "kept"


def test_no_module_reaches_the_planning_of_the_workflow_from_a_run() -> None:
    """Runs must not depend on code that cannot move their numbers."""
    roots = ["recompose.tracks.czsl.methods.gipcol:GIPCOL", "recompose.tracks.czsl.training:train"]
    reached = set(module.fingerprint(roots))
    rooms = ("cli", "commands", "papers", "phases", "recipes", "tables", "tracks.track", "workflow")
    outside = tuple(f"recompose.{name}" for name in rooms)
    assert not [name for name in reached if name == "recompose.tracks.czsl" or name.startswith(outside)]
    assert "recompose.tracks.czsl.metrics.curves" in reached
    assert "recompose.tracks.czsl.methods.clip_coop_csp" not in reached
