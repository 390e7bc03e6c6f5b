"""Each module of src has a test file at the same place in tests, or stands in the list of those tested elsewhere."""

import ast
from pathlib import Path

import pytest

from tests.conftest import ROOT

SOURCE, TESTS = ROOT / "src" / "recompose", ROOT / "tests"
# module -> where it is tested; a folder, which ends in a slash, stands for its modules without a test file of their own
ELSEWHERE = {
    "__main__.py": "test_docs.py",
    "allocation/stages.py": "monitor/test_decide.py",
    "backbones/images.py": "backbones/test_pixels.py",
    "backbones/stem.py": "backbones/test_clip.py",
    "data/content.py": "data/test_upstream.py",
    "data/lock.py": "data/test_upstream.py",
    "data/mat_version_5.py": "tracks/gzsl/data/test_matlab.py",
    "data/raw.py": "tracks/czsl/data/test_acquire.py",
    "errors.py": "test_doctests.py",
    "exhibits/": "exhibits/test_cells.py",
    "extras.py": "test_wheel.py",
    "interrupts.py": "worker/test_server.py",
    "job_server.py": "worker/test_server.py",
    "monitor/doctor/check.py": "monitor/doctor/test_doctor.py",
    "monitor/plan_summary.py": "monitor/test_impact.py",
    "monitor/reproduction.py": "terminal/test_live.py",
    "monitor/snakemake_call.py": "terminal/test_live.py",
    "nn/gathering.py": "training/test_devices.py",
    "palette.py": "report/test_claims.py",
    "paper_checks.py": "plugins/test_plugins.py",
    "papers/comparison.py": "test_comparisons.py",
    "params/": "params/test_params.py",
    "plugins.py": "plugins/test_plugins.py",
    "provenance/checks/": "provenance/test_audit.py",
    "provenance/citation.py": "provenance/test_release.py",
    "provenance/codecheck.py": "provenance/test_release.py",
    "provenance/contents.py": "provenance/test_artifact_names.py",
    "provenance/crate_graph.py": "provenance/test_crate.py",
    "provenance/crate_names.py": "provenance/test_crate.py",
    "provenance/remote.py": "workflow/test_sharing.py",
    "provenance/rerun.py": "monitor/test_verify.py",
    "provenance/settings_difference.py": "test_comparisons.py",
    "records.py": "test_store.py",
    "report/": "report/test_tables.py",
    "report/claims/": "report/test_claims.py",
    "report/differences.py": "provenance/test_trace.py",
    "report/figures/": "tracks/czsl/figures/test_figures.py",
    "report/figures/sweep.py": "report/test_sweep.py",
    "report/findings.py": "provenance/test_audit.py",
    "report/formats.py": "report/test_tables.py",
    "report/published.py": "provenance/test_audit_command.py",
    "scaffolds/": "scaffolds/test_scaffolds.py",
    "site/": "site/test_site.py",
    "synthetic/looks.py": "synthetic/test_shapes.py",
    "synthetic/objects.py": "synthetic/test_creatures.py",
    "synthetic/scenes.py": "synthetic/test_sentences.py",
    "terminal/audit.py": "provenance/test_audit_command.py",
    "terminal/cell.py": "provenance/test_cell_place.py",
    "terminal/comparison.py": "tracks/vlc/suites/test_comparison.py",
    "terminal/doctor.py": "monitor/doctor/test_doctor.py",
    "terminal/evaluate.py": "tracks/vlc/suites/test_harness.py",
    "terminal/groups.py": "monitor/test_work_plan.py",
    "terminal/impact.py": "monitor/test_impact.py",
    "terminal/items.py": "tracks/vlc/items/test_items.py",
    "terminal/lineage.py": "provenance/test_trace.py",
    "terminal/plan.py": "monitor/test_work_plan.py",
    "terminal/progress.py": "terminal/test_live.py",
    "terminal/settings.py": "test_comparisons.py",
    "terminal/status.py": "monitor/test_status.py",
    "terminal/summary.py": "terminal/test_live.py",
    "terminal/text.py": "terminal/test_live.py",
    "terminal/trace.py": "provenance/test_trace.py",
    "terminal/verify.py": "monitor/test_verify.py",
    "tracks/": "test_plan.py",
    "tracks/building.py": "tracks/czsl/test_building.py",
    "tracks/czsl/": "tracks/czsl/test_planning.py",
    "tracks/czsl/data/": "tracks/czsl/data/test_layouts.py",
    "tracks/czsl/data/shapes_pairs.py": "synthetic/test_shapes.py",
    "tracks/czsl/data/words.py": "synthetic/test_shapes.py",
    "tracks/czsl/data/worlds.py": "tracks/czsl/metrics/test_worlds.py",
    "tracks/czsl/expectations.py": "report/test_expectations.py",
    "tracks/czsl/figures/": "tracks/czsl/figures/test_figures.py",
    "tracks/czsl/methods/": "tracks/czsl/methods/test_pair_methods.py",
    "tracks/czsl/methods/parts/": "tracks/czsl/methods/test_three_path.py",
    "tracks/czsl/metric_values.py": "tracks/czsl/test_evaluation.py",
    "tracks/czsl/metrics/": "tracks/czsl/metrics/test_czsl.py",
    "tracks/czsl/params.py": "params/test_params.py",
    "tracks/czsl/tables.py": "report/test_measured.py",
    "tracks/gzsl/": "tracks/gzsl/test_training.py",
    "tracks/gzsl/data/": "tracks/gzsl/data/test_acquire.py",
    "tracks/gzsl/expectations.py": "report/test_expectations.py",
    "tracks/gzsl/figures/": "tracks/czsl/figures/test_figures.py",
    "tracks/gzsl/methods/": "tracks/gzsl/methods/test_grounded_methods.py",
    "tracks/gzsl/methods/parts/": "tracks/gzsl/methods/test_grounded_methods.py",
    "tracks/gzsl/params.py": "tracks/gzsl/test_catalogue.py",
    "tracks/seen_unseen.py": "tracks/gzsl/test_metrics.py",
    "tracks/vlc/": "tracks/vlc/test_planning.py",
    "tracks/vlc/attribution/": "tracks/vlc/attribution/test_attribution.py",
    "tracks/vlc/data/": "tracks/vlc/data/test_index.py",
    "tracks/vlc/data/formats/": "tracks/vlc/data/formats/test_retrieval.py",
    "tracks/vlc/data/formats/parquet.py": "tracks/vlc/data/test_arrange.py",
    "tracks/vlc/data/formats/sick.py": "tracks/vlc/data/formats/test_graded.py",
    "tracks/vlc/data/formats/sources.py": "tracks/vlc/data/test_arrange.py",
    "tracks/vlc/data/formats/sts_b.py": "tracks/vlc/data/formats/test_graded.py",
    "tracks/vlc/data/synthetic_suites/": "tracks/vlc/data/test_shapes_suites.py",
    "tracks/vlc/expectations.py": "report/test_expectations.py",
    "tracks/vlc/figures/": "tracks/vlc/figures/test_figures.py",
    "tracks/vlc/items/": "tracks/vlc/items/test_items.py",
    "tracks/vlc/methods/": "tracks/vlc/methods/test_methods.py",
    "tracks/vlc/methods/parts/": "tracks/vlc/methods/test_methods.py",
    "tracks/vlc/suites/": "tracks/vlc/suites/test_harness.py",
    "tracks/vlc/text/aro_captions.py": "tracks/vlc/attribution/test_compute_attributions.py",
    "tracks/vlc/text/small_lexicon.py": "tracks/vlc/text/test_lexicon.py",
    "training/best.py": "tracks/czsl/test_training.py",
    "training/hardware.py": "training/test_devices.py",
    "training/resources.py": "training/test_cost.py",
    "training/rows.py": "tracks/czsl/test_training.py",
    "worker/__main__.py": "workflow/test_engines.py",
    "worker/client.py": "worker/test_server.py",
}


def has_code(path: Path) -> bool:
    """Return True for modules that define something; packages often have a docstring and imports alone."""
    definitions = (ast.FunctionDef, ast.ClassDef)
    return path.name != "__init__.py" or any(isinstance(node, definitions) for node in ast.parse(path.read_text()).body)


MODULES = sorted(path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py") if has_code(path))


def mirrors(module: str) -> list[Path]:
    """Return the places of a module's test file, of which one exists if the module is mirrored.

    A method's folder has one test file, and those of parts of methods stand beside those of methods.
    """
    path = Path(module)
    names = [path.parent / f"test_{path.name}"]
    if path.name == "__init__.py":
        names.append(path.parent / f"test_{path.parent.name}.py")
    if path.parent.parent.name == "methods":
        names.append(path.parent.parent / f"test_{path.parent.name}.py")
    if path.parent.name == "parts":
        names.append(path.parent.parent / f"test_{path.name}")
    return names


def is_mirrored(module: str) -> bool:
    return any((TESTS / name).is_file() for name in mirrors(module))


def entry_of(module: str) -> str | None:
    """Return the entry of the list that has a module, or else its folder, or the folder of all methods."""
    folder = Path(module).parent
    names = [
        module,
        f"{folder.as_posix()}/",
        *([f"{folder.parent.as_posix()}/"] if folder.parent.name == "methods" else []),
    ]
    return next((name for name in names if name in ELSEWHERE), None)


@pytest.mark.parametrize("module", MODULES)
def test_a_module_is_tested_at_its_place_or_where_the_list_says(module: str) -> None:
    assert is_mirrored(module) or entry_of(module), f"{module} has no {mirrors(module)[0]}, and no entry in the list"


@pytest.mark.parametrize(("name", "test"), ELSEWHERE.items())
def test_the_list_names_what_exists_and_needs_an_entry(name: str, test: str) -> None:
    assert (SOURCE / name).exists()
    assert (TESTS / test).is_file()
    assert name in {entry_of(module) for module in MODULES if not is_mirrored(module)}


def test_the_mirror_knows_methods_of_one_folder_and_their_parts() -> None:
    assert Path("tracks/czsl/methods/test_csp.py") in mirrors("tracks/czsl/methods/csp/model.py")
    assert Path("tracks/czsl/methods/test_lora.py") in mirrors("tracks/czsl/methods/parts/lora.py")
    assert entry_of("nowhere/new.py") is None
