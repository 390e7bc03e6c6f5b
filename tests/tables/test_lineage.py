"""What is said of an artifact's cells."""

from recompose.plan import Recipe, closure
from recompose.records import BuildInfo, Record
from recompose.tables.artifacts import lineage_of
from recompose.tables.measured import metrics
from tests.tables.fakes import Fake, by_seed, evaluation_of, key, paper_of

AUC, H = "test/closed/dense/auc", "test/closed/dense/harmonic_mean"


class Stored(Fake):
    """Results with records."""

    def is_complete(self, recipe: Recipe) -> bool:
        return recipe.kind == "runs" or super().is_complete(recipe)

    def recipe(self, name: str) -> Recipe:
        evaluations = [evaluation_of(method, "d", 0) for method in self.measured]
        return next(recipe for recipe in closure(evaluations) if recipe.key == name)

    def record(self, recipe: Recipe) -> Record:
        made = BuildInfo.model_construct()
        return Record(**dict(recipe.description()), inputs={}, files={}, made=made)


def test_a_row_without_any_of_the_measures_is_asked_for_all_the_same() -> None:
    results = Stored({"csp": {"d": by_seed({H: 0.3})}, "clip": {"d": by_seed({AUC: 0.1})}, "coop": {"d": by_seed({})}})
    results.missing = {("coop", "d", 0)}
    paper = paper_of(kind="metrics", rows={"CSP": "csp", "CLIP": "clip"}, columns={"H": H})
    cells = list(metrics(results, paper, "table-1"))  # type: ignore[arg-type]
    assert [cell.row for cell in cells] == ["CSP"]
    planned = {(name, "d"): results.planned("czsl", name, "d") for name in ("clip", "coop", "csp")}
    lineage = lineage_of(results, "czsl", cells, planned)  # type: ignore[arg-type]
    assert [each.name for each in lineage.planned] == ["clip", "coop", "csp"]
    assert key("clip", "d", 0) in lineage.records and key("coop", "d", 0) in lineage.other_recipes
