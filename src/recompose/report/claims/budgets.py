"""Verdicts at another budget of training: whether a claim's verdict depends on the budget."""

from collections.abc import Mapping

from recompose.exhibits.results import PartialResults, Results
from recompose.inference.sequential import Looks
from recompose.papers.declaration import Claim, Paper
from recompose.plan import OtherBudget, Recipe
from recompose.report.claims.paper_tests import compare_all, planned_claims
from recompose.report.claims.verdicts import UNDECIDED, TestedComparison, comparisons_of, deciding_comparison

DEPENDS = "depends on the budget"


class OtherBudgetResults(PartialResults):
    """The results of the profile at the other budget, under the plain names of methods and variants."""

    def __init__(self, results: Results, other: OtherBudget) -> None:
        super().__init__(results)
        self._other = other

    def looks(self, track: str) -> Looks | None:
        plan = self._other.plan.tracks.get(track)
        return plan.looks if plan else None

    def planned(self, track: str, name: str, benchmark: str) -> list[Recipe]:
        return super().planned(track, self._other.name_of(name), benchmark)


def at_other_budget(results: Results, paper: Paper, benchmark: str) -> Mapping[str, TestedComparison | None]:
    """Return the deciding comparison at the other budget of each claim that is planned there, on a benchmark.

    None: it was not run, as a method of the claim has no complete evaluation. The verdicts are those of the other
    profile's own table: corrected for all comparisons that are planned there.
    """
    if results.plan.other_budget is None:
        return {}
    results_there = OtherBudgetResults(results, results.plan.other_budget)
    tested = compare_all(results_there, paper, benchmark)

    def decisive(claim: Claim) -> TestedComparison | None:
        if not all(results_there.complete(paper.track, method, benchmark) for method in claim.methods):
            return None
        return deciding_comparison([tested[comparison] for comparison in comparisons_of(claim)])

    return {row: decisive(claim) for row, claim in planned_claims(results_there, paper, benchmark).items()}


def depends_on_budget(verdict: str, other: str | None) -> bool:
    """Return True if a claim's verdicts at two budgets are both decisions, and differ.

    An undecided claim is no evidence of a dependence.
    """
    return other is not None and UNDECIDED not in (verdict, other) and verdict != other


def budget_text(verdict: str, other: str | None, budget: str) -> str:
    """Return how a claim's verdict compares with that at another budget.

    Example:
        >>> budget_text("supported here", "reversed here", "3 x epochs")
        'depends on the budget: reversed at 3 x epochs'
        >>> budget_text("supported here", None, "3 x epochs")
        'not run at 3 x epochs'
    """
    if other is None:
        return f"not run at {budget}"
    if depends_on_budget(verdict, other):
        return f"{DEPENDS}: {_short(other)} at {budget}"
    same = "also " if verdict == other else ""
    return f"{same}{_short(other)} at {budget}"


def _short(verdict: str) -> str:
    return verdict.removesuffix(" here")
