"""What is still open in a plugin or a comparison: its tests, and what its checklist leaves empty."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from recompose.errors import ArgumentError
from recompose.papers.declaration import COMPARISONS
from recompose.params.mistakes import UserFile, unknown_name
from recompose.params.sections import Section
from recompose.workspace import Workspace

FILE = "checklist.yaml"
UNWRITTEN = "not written yet"  # how the reason begins with which a test of a scaffold fails


class Checklist(UserFile, Section):
    """The content of checklist.yaml."""

    released_code: str | None = Field(default=None, description="The comparison with released code.")
    printed_values: str | None = Field(default=None, description="The comparison with printed values.")
    sources: dict[str, str | None] = Field(default={}, description="Setting -> where its value comes from.")


@dataclass(frozen=True)
class OpenPoint:
    """Something that is still to be done, and its place."""

    code: str
    place: str
    message: str

    @property
    def line(self) -> str:
        """The point as one line."""
        return f"{self.place}: {self.message}"


def open_points(work: Workspace, name: str) -> list[OpenPoint]:
    """Return what is still open in a plugin or a comparison of a project.

    Args:
        work: the project.
        name: of a plugin, its package or the same with hyphens; or of a comparison.

    Raises:
        ArgumentError: there is neither.
        ParamsError: the checklist has errors.
    """
    plugins = {plugin.name.replace("_", "-"): plugin for plugin in work.plugins}
    comparisons = [comparison.name for comparison in work.comparisons]
    if (plugin := plugins.get(name.replace("_", "-"))) is not None:
        return [*_tests(plugin.folder.parent / "tests"), *_empty(plugin.folder / FILE)]
    for problem in unknown_name(("NAME",), name, [*plugins, *comparisons]):
        raise ArgumentError("NAME", f"{problem.message} (plugins and comparisons of this project)", code=problem.code)
    return list(_empty(work.root / COMPARISONS / name / FILE))


def _tests(folder: Path) -> Iterator[OpenPoint]:
    """Yield the tests that are as the scaffold wrote them, or that there is none."""
    texts = {file: file.read_text(encoding="utf-8") for file in sorted(folder.rglob("test_*.py"))}
    if not any("def test" in text for text in texts.values()):
        yield OpenPoint("no-test", str(folder), "there is no test")
    for file, text in texts.items():
        for number, line in enumerate(text.splitlines(), start=1):
            if UNWRITTEN in line:
                yield OpenPoint("unwritten-test", f"{file}:{number}", "a test is not written yet")


def _empty(file: Path) -> Iterator[OpenPoint]:
    """Yield what a checklist leaves empty."""
    if not file.is_file():
        yield OpenPoint("no-checklist", str(file), "there is no checklist; `recompose new` writes one")
        return
    checklist = Checklist.read(file, str(file))
    entries = [
        ("no-released-code", "released_code", checklist.released_code, "no comparison with released code"),
        ("no-printed-values", "printed_values", checklist.printed_values, "no comparison with printed values"),
        *(("no-source", f"sources.{name}", text, "no source") for name, text in checklist.sources.items()),
    ]
    for code, place, text, message in entries:
        if not (text or "").strip():
            yield OpenPoint(code, f"{file}: {place}", message)
