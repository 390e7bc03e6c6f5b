"""Suites of a plugin's own form in `recompose evaluate`, `items` and `compare`: their numbers, and mistakes."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from safetensors.torch import save_file
from typer.testing import CliRunner

from recompose.data.pictures import Picture
from recompose.errors import DataError
from recompose.harness.evaluate import evaluate as evaluate_model
from recompose.harness.evaluation import EvaluationRequest
from recompose.harness.named_suites import KnownSuites
from recompose.main import app
from recompose.tracks.plugins import FILE, GROUP
from recompose.workspace import Workspace
from tests.clips import random_clip
from tests.configuration import text_of, write_params
from tests.errors import raises
from tests.tracks.vlc.tiny_suites import captions, plain_image, plain_text

pytestmark = pytest.mark.slow

FORM = """
LAYOUT = "<suite>/items.json"


def read(files):
    items = files.items("items.json")
    asked = [(item.path("image", files.images), [item.text("true"), item.text("false")], 0) for item in items]
    return files.suite({"pairs": files.choices("i2t", asked)})
"""
DECLARATION: dict[str, Any] = {
    "suites": {"vlc": {"my-form": {"module": "form", "subtasks": {"pairs": {"query": "i2t", "ties": "strict"}}}}},
    "params": {"vlc": {"suites": {"my-suite": {"adapter": "my-form", "folder": "my-files"}}}},
}
ITEMS = 9


def write_suite(data: Path, folder: str) -> list[dict[str, str]]:
    """Write items in the plugin's form, of noise and random captions."""
    rng, texts = np.random.default_rng(5), captions(2 * ITEMS)
    items = [{"image": f"{n}.png", "true": texts[n], "false": texts[ITEMS + n]} for n in range(ITEMS)]
    (data / "images" / folder).mkdir(parents=True)
    (data / folder).mkdir()
    for item in items:
        pixels = rng.integers(0, 256, (40, 40, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(data / "images" / folder / item["image"])
    (data / folder / "items.json").write_text(json.dumps(items))
    return items


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project as the working directory, with a plugin beside it and its suite on disk."""
    project, plugin = tmp_path / "project", tmp_path / "my-plugin/my_forms"
    project.mkdir()
    plugin.mkdir(parents=True)
    (plugin / "form.py").write_text(FORM)
    (plugin / FILE).write_text(text_of(DECLARATION))
    write_params(project, "demo", {"plugins": ["../my-plugin"]})
    write_suite(project / "data/vlc", "my-files")
    monkeypatch.chdir(project)
    return project


def call(*arguments: str) -> str:
    """Return what a command prints, after a check that it succeeds."""
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def evaluate(seed: int, suites: str, out: str) -> dict[str, Any]:
    """Evaluate a random CLIP by the command, and return its results."""
    weights = Path(f"{seed}.safetensors")
    if not weights.exists():
        save_file(random_clip(seed).model.state_dict(), weights)
    options = ("--model", "shapes-clip", "--weights", str(weights), "--suites", suites, "--out", out, "--device", "cpu")
    call("evaluate", *options)
    results: dict[str, Any] = json.loads(Path(out, "results.json").read_text())
    return results


def right_items(seed: int, data: Path, folder: str) -> list[bool]:
    """Return by plain cosines whether a random CLIP ranks the true caption of each item first."""
    model, items = random_clip(seed), json.loads((data / folder / "items.json").read_text())
    right = []
    for item in items:
        image = plain_image(model, data, Picture(f"images/{folder}/{item['image']}"))
        right.append(bool(image @ plain_text(model, item["true"]) > image @ plain_text(model, item["false"])))
    return right


def test_a_suite_of_the_project_is_evaluated_shown_and_compared(root: Path) -> None:
    data = root / "data/vlc"
    write_suite(data, "other")
    rights = [right_items(seed, data, "my-files") for seed in (0, 1)]
    for seed, right in enumerate(rights):
        results = evaluate(seed, "my-suite,other:my-form", f"out-{seed}")
        assert results["suites"] == ["my-suite", "other"]
        for name in results["suites"]:  # both have the same items
            assert results["metrics"][f"test/{name}/pairs"] == pytest.approx(sum(right) / ITEMS)

    sheet = json.loads(call("items", "out-0", "--suite", "my-suite", "--worst", "99", "--json"))
    wrong = [item["item"] for item in sheet["worst"] if not item["right"]]
    assert sorted(wrong) == [number for number, is_right in enumerate(rights[0]) if not is_right]

    compared = json.loads(call("compare", "out-0", "out-1", "--suites", "my-suite", "--json"))
    (row,) = compared["rows"]
    assert row["name"] == "my-suite/pairs" and row["items"] == ITEMS
    assert row["difference"] == pytest.approx((sum(rights[1]) - sum(rights[0])) / ITEMS)
    only = Counter(zip(*rights, strict=True))
    assert (row["only_first"], row["only_second"]) == (only[True, False], only[False, True])


def request(root: Path, *suites: str) -> EvaluationRequest:
    """A request whose suites are looked up as the command does; its model is read after them."""
    known = KnownSuites.of(Workspace(root), suites)
    return EvaluationRequest("nothing", None, suites, root / "data/vlc", root / "out", known=known)


@pytest.mark.parametrize(
    ("suite", "code", "near"),
    [
        ("my-suiet", "unknown-suite", "the nearest is 'my-suite'"),
        ("other:my-from", "unknown-suite", "the nearest is 'my-form'"),
        ("my-form:winoground", "wrong-name", "no name of a suite"),
        ("images:my-form", "wrong-name", "no name of a suite"),
        ("shapes-suites", "synthetic-suite", "--data"),
        ("my-suite,my-suite:winoground", "same", "my-suite"),
    ],
)
def test_a_wrong_name_is_one_line_with_the_nearest(root: Path, suite: str, code: str, near: str) -> None:
    with raises(DataError, code) as caught:
        evaluate_model(request(root, *suite.split(",")))
    assert near in str(caught.value) and "\n" not in str(caught.value)


def test_an_installed_plugin_needs_no_project(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere, site = tmp_path / "elsewhere", tmp_path / "my-plugin"
    elsewhere.mkdir()
    (site / "my_forms-1.0.dist-info").mkdir()
    (site / "my_forms-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: my-forms\nVersion: 1.0\n")
    (site / "my_forms-1.0.dist-info/entry_points.txt").write_text(f"[{GROUP}]\nmy-forms = my_forms\n")
    monkeypatch.syspath_prepend(site)
    known = KnownSuites.of(Workspace(elsewhere), ["other:my-form"])
    assert known.find("other:my-form").layout.startswith("other/items.json")
    with raises(DataError, "unknown-suite", "my-suite"):  # an entry is of a project
        KnownSuites.of(Workspace(elsewhere), ["my-suite"]).find("my-suite")
