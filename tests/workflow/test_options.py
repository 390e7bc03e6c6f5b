"""Options of Snakemake: each does what its help tells, or ends in one line; none loses or falsifies a result."""

import re

import pytest

from tests.conftest import ROOT, Project
from tests.workflow.processes import stored

pytestmark = pytest.mark.engines
NOTHING = "Nothing to be done"
TRAIN = "train_c_s_o"


@pytest.fixture(scope="module")
def finished(trained_project: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy, one for each worker, in which nothing is due and options have nothing to change."""
    return trained_project.copy(tmp_path_factory.mktemp("options") / "project")


def listing(project: Project) -> dict[str, tuple[int, int]]:
    """The size of each file and when it was written, but for Snakemake's and Git's own."""
    paths = [path for path in project.root.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    names = {str(path.relative_to(project.root)): path.stat() for path in paths}
    kept = {name: (at.st_size, at.st_mtime_ns) for name, at in names.items()}
    return {name: at for name, at in kept.items() if not name.startswith((".snakemake/", ".git/"))}


def own_lines(output: str) -> list[str]:
    """What a command says, without Snakemake's lines about its profile and configuration."""
    return [line for line in output.splitlines() if not line.startswith(("Using workflow specific", "Config file"))]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--dry-run", "--forceall"], "train c-s-o on shapes-pairs, seed 0"),
        (["--dry-run", "--forcerun", TRAIN], "evaluate c-s-o on shapes-pairs, seed 0"),
        (["--dry-run", "--until", TRAIN], NOTHING),
        (["--dry-run", "--set-resources", f"{TRAIN}:mem_mb=100"], NOTHING),
        (["--dry-run", "--delete-all-output"], "Would delete reports/smoke/msci/table-2.csv"),
        (["--summary"], "no update"),
        (["--dag"], "digraph"),
        (["--rulegraph"], f'label = "{TRAIN}"'),
    ],
)
def test_where_nothing_is_due_an_option_writes_nothing(finished: Project, options: list[str], line: str) -> None:
    before = listing(finished)
    done = finished.snakemake(*options)
    assert line in done.stdout + done.stderr
    assert listing(finished) == before


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--delete-all-output"], "--delete-all-output would delete the record"),
        (["--no-hooks"], "--no-hooks leaves out what writes the recipes"),
        (["--export-cwl", "workflow.cwl"], "--export-cwl is not carried out by Snakemake 9"),
        (["--config", "profile=nope"], "'nope' is not allowed"),
        (["--config", "czsl=1"], "--config czsl=...: it sets the profile alone; edit czsl in params.yaml"),
        (["--forcerun", "trian_c_s_o"], f"there is no target 'trian_c_s_o'; the nearest is '{TRAIN}'"),
        (["--until", "trian_c_s_o"], f"there is no target 'trian_c_s_o'; the nearest is '{TRAIN}'"),
    ],
)
def test_what_would_do_harm_or_names_nothing_ends_in_one_line(finished: Project, options: list[str], line: str) -> None:
    before = listing(finished)
    done = finished.snakemake(*options, check=False)
    (output,) = own_lines(done.stdout + done.stderr)
    assert done.returncode == 1 and line in output
    assert listing(finished) == before


def test_touching_everything_makes_nothing_due_and_metadata_are_not_needed(trained: Project) -> None:
    before = stored(trained), trained.reports()
    trained.snakemake("--touch", "--forceall")
    record = next(trained.root.glob("results/runs/*/record.json")).relative_to(trained.root)
    trained.snakemake("--cleanup-metadata", str(record))
    assert (stored(trained), trained.reports()) == before
    assert NOTHING in trained.snakemake().stderr


def test_the_report_of_snakemake_shows_what_artifacts_are(finished: Project) -> None:
    finished.snakemake("--report", "report.html")
    page = finished.root / "report.html"
    assert "msci/table-2" in page.read_text()
    page.unlink()


# there is one locked environment for all rules, as the Snakefile says; short functions stand where they are used
ARGUED = {"Specify a conda environment or container for each rule.", "Mixed rules and functions in same snakefile."}


def test_the_workflow_is_clean_but_for_what_is_argued(chance_project: Project) -> None:
    assert (chance_project.root / "workflow/Snakefile").read_text() == (ROOT / "workflow/Snakefile").read_text()
    output = chance_project.call("snakemake", "--lint", check=False)
    found = set(re.findall(r"^    \* (.*?):?$", output.stdout + output.stderr, flags=re.MULTILINE))
    assert found == ARGUED
