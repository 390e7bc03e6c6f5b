"""The file ``results.json`` that ``recompose evaluate`` writes, read again."""

from pathlib import Path
from shlex import quote

from pydantic import BaseModel, ValidationError

from recompose.errors import DataError

RESULTS = "results.json"


class Weights(BaseModel):
    """The weights of an evaluated model."""

    name: str | None  # None: a function of the user's own that was called without


class EvaluationResult(BaseModel):
    """The parts of a result that other commands read."""

    model: str
    weights: Weights
    alpha: float = 1.0
    suites: list[str]
    metrics: dict[str, float]
    items: dict[str, dict[str, int]]  # by the names of scores
    files: dict[str, str] = {}  # the digests of scores and items

    @classmethod
    def read(cls, folder: Path) -> "EvaluationResult":
        """Read the result in a folder.

        Raises:
            DataError: the file is absent, damaged, or of another form.
        """
        path = folder / RESULTS
        try:
            return cls.model_validate_json(path.read_text(encoding="utf-8"))
        except OSError as error:
            message = f"{path}: {error.strerror}; `recompose evaluate ... --out {quote(str(folder))}` writes it"
            raise DataError(message, code="no-result", place=path) from None
        except (UnicodeDecodeError, ValidationError):
            message = f"{path} is not as `recompose evaluate` writes it: evaluate again"
            raise DataError(message, code="damaged-result", place=path) from None

    @property
    def title(self) -> str:
        """The model and its weights."""
        weights = f" with {self.weights.name}" if self.weights.name else ""
        return f"{self.model}{weights}" + (f", alpha {self.alpha:g}" if self.alpha != 1 else "")
