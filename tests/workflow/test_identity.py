"""Whatever runs where a content is made is part of its identity, or in the one list of what cannot change it."""

import json
import sys
from pathlib import Path

import pytest

from recompose.phases import FOLLOWING, KINDS
from tests.conftest import ROOT, Project, with_values

pytestmark = pytest.mark.engines


def traced(project: Project, scratch: Path, *methods: str) -> dict[str, int]:
    """The modules in an identity of which nothing ran, by content; all that ran is in an identity."""
    (scratch / "assets").symlink_to(project.root / "assets")
    done = project.call(sys.executable, "-m", "tests.tracing", str(project.root), str(scratch), " ".join(methods))
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["unidentified"] == {}
    never = dict[str, int](told["never"])
    most = sorted(never.items(), key=lambda item: -item[1])[:5]
    print(f"{len(never)} contents, {sum(never.values())} modules of identities in which nothing ran; most: {most}")
    return never


def test_whatever_runs_where_something_is_made_is_identified(smoke_project: Project, tmp_path: Path) -> None:
    (tmp_path / "params.yaml").write_text((smoke_project.root / "params.yaml").read_text())
    made = traced(smoke_project, tmp_path)
    assert {name.partition(" ")[0] for name in made} == {*KINDS, *FOLLOWING}


def test_whatever_runs_of_a_plugin_is_identified(smoke_project: Project, tmp_path: Path) -> None:
    text = (smoke_project.root / "params.yaml").read_text()
    plugins = [str(ROOT / "examples" / name) for name in ("csp-offset", "vp-cmjl")]
    methods = ["csp-offset", "vp-cmjl"]
    values = {"plugins": plugins, "profiles.smoke.czsl.methods": [*methods, "csp", "troika"]}
    (tmp_path / "params.yaml").write_text(with_values(text, values))
    made = traced(smoke_project, tmp_path, *methods)
    assert {name.split()[1] for name in made} == {*methods}
