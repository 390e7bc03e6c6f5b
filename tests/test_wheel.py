"""The wheel without a checkout: it evaluates and compares with the core's packages alone, and names the extra of what
needs more.
"""

import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import Distribution, distribution
from pathlib import Path
from shutil import copy, copytree, ignore_patterns

import pytest
from packaging.requirements import Requirement

from recompose.extras import EXTRAS
from tests.conftest import ROOT
from tests.tracks.vlc.tiny_suites import write_sugarcrepe

SETS = ("replace_obj", "replace_att", "replace_rel", "swap_obj", "swap_att", "add_obj", "add_att")
MODULES = {"scikit_learn": "sklearn", "markdown_it_py": "markdown_it"}  # that have other names than their packages
BUILD = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"


def build(folder: Path) -> Path:
    """Build the wheel of a copy of the sources, without an index."""
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        copy(ROOT / name, folder)
    copytree(ROOT / "src", folder / "src", ignore=ignore_patterns("__pycache__", "*.egg-info"))
    subprocess.run([sys.executable, "-c", BUILD, str(folder)], cwd=folder, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def required(metadata: Distribution, extras: frozenset[str] = frozenset()) -> dict[str, Distribution]:
    """Return all distributions that one needs on this machine, by name."""
    found: dict[str, Distribution] = {}
    waiting = [(metadata, extras)]
    while waiting:
        current, wanted = waiting.pop()
        for requirement in map(Requirement, current.requires or ()):
            marker = requirement.marker
            if marker and not any(marker.evaluate({"extra": extra}) for extra in (wanted or {""})):
                continue
            if requirement.name not in found:
                found[requirement.name] = distribution(requirement.name)
                waiting.append((found[requirement.name], frozenset(requirement.extras)))
    return found


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The folder of the unpacked wheel, and one with links to the packages of its core."""
    folder = tmp_path_factory.mktemp("wheel")
    (folder / "sources").mkdir()
    with zipfile.ZipFile(build(folder / "sources")) as wheel:
        wheel.extractall(folder / "installed")
    metadata = Distribution.at(next((folder / "installed").glob("*.dist-info")))
    packages = folder / "packages"
    packages.mkdir()
    for package in required(metadata).values():
        for name in {file.parts[0] for file in package.files or ()} - {"..", "__pycache__"}:
            link = packages / name
            if not link.exists():
                link.symlink_to(Path(str(package.locate_file(name))))
    return folder / "installed", packages


def run(environment: tuple[Path, Path], folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a folder; -S: without the packages of the environment that runs the tests."""
    variables = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "PYTHONPATH": ":".join(map(str, environment))}
    command = [sys.executable, "-S", *arguments]
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_wheel_evaluates_and_compares_in_an_empty_folder(environment: tuple[Path, Path], tmp_path: Path) -> None:
    for module in ("snakemake", "dvc", "spacy"):
        assert run(environment, tmp_path, "-c", f"import {module}").returncode == 1
    data = tmp_path / "data"
    write_sugarcrepe(data, SETS)
    empty = tmp_path / "empty"
    empty.mkdir()
    for name in ("shapes-clip", "shapes-clip-sentences"):
        model = ["--model", "shapes-clip", "--weights", str(ROOT / "assets" / f"{name}.safetensors"), "--device", "cpu"]
        options = ["--suites", "sugarcrepe", "--data", str(data), "--out", name]
        done = run(environment, empty, "-m", "recompose", "evaluate", *model, *options)
        assert done.returncode == 0, done.stderr
    done = run(environment, empty, "-m", "recompose", "compare", "shapes-clip", "shapes-clip-sentences", "--out", "c")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (empty / "c").iterdir()} == {
        *(f"comparison.{ending}" for ending in ("csv", "json", "md")),
        *(f"figure.{ending}" for ending in ("csv", "png", "svg")),
    }


@pytest.mark.slow
def test_a_command_of_the_workflow_names_its_extra(environment: tuple[Path, Path], tmp_path: Path) -> None:
    needs_more = "from recompose import cli; cli.app = lambda **_: __import__('snakemake'); cli.main()"
    done = run(environment, tmp_path, "-c", needs_more)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1 and "recompose[workflow]" in done.stderr and "snakemake" in done.stderr


def test_the_modules_of_extras_are_those_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {name: lines for name, lines in project["optional-dependencies"].items() if name != "dev"}
    packages = {re.sub(r"[^a-z0-9]+", "_", line.lower()): name for name, lines in extras.items() for line in lines}
    modules = {MODULES.get(package, package): extra for package, extra in packages.items()}
    assert {module: EXTRAS.get(module, "workflow") for module in modules} == modules
