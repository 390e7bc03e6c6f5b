"""The table of budgets: what training may spend, and what it spent."""

from collections.abc import Mapping

from recompose.params import parse_params
from recompose.records import BuildInfo, StableRecord
from recompose.report.lineage import Lineage
from recompose.report.published import PublishedLineage
from recompose.report.training_budgets import budgets_table
from recompose.tracks import FORMS
from tests.configuration import params_text

DFSP = "czsl.methods.dfsp"


def table(edits: Mapping[str, object], *runs: tuple[str, float]) -> dict[tuple[str, str], list[str]]:
    """The table's rows by data set and method; the runs of DFSP are those of these names, of so many seconds."""
    records, made = {}, {}
    for number, (name, seconds) in enumerate(runs):
        labels = {"name": name, "method": "dfsp", "dataset": "shapes-pairs"}
        records[f"runs/{number}"] = StableRecord.model_construct(kind="runs", labels=labels)
        made[f"runs/{number}"] = BuildInfo.model_construct(seconds=seconds)
    published = PublishedLineage({"p/a": Lineage.model_construct(records=records)}, made)
    text = budgets_table(parse_params(params_text("large", edits), FORMS), published)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]
    return {(row[0], row[1]): row[2:] for row in rows}


def test_steps_and_images_follow_from_the_parameters_and_seconds_from_the_runs_of_the_method_itself() -> None:
    edits = {
        "czsl.datasets.shapes-pairs.images.train": 200,
        f"{DFSP}.training.batch_size": 30,
        f"{DFSP}.training.accumulate": 2,
        f"{DFSP}.training.epochs": 3,
        f"{DFSP}.per_dataset": {"cgqa": {"training": {"epochs": 9}}, "ut-zappos": {}, "mit-states": {}},
        "vlc.datasets.shapes-laion.images": 160,
    }
    rows = table(edits, ("dfsp", 4.0), ("dfsp", 5.0), ("dfsp-longer", 100.0))
    published = "mit-states 3, ut-zappos 3, cgqa 9"
    assert rows["shapes-pairs", "dfsp"] == ["60", "3", "12", "600", "4.5", published]  # 200 / 60 is 4 steps
    assert rows["shapes-pairs", "csp"][4] == "-"
    assert int(rows["shapes-laion", "negclip"][3]) == 160 * int(rows["shapes-laion", "negclip"][1])
    assert ("shapes-pairs", "clip") not in rows
    assert ("shapes-classes", "eszsl") not in rows
