"""What tests see of calls that others make."""

from collections.abc import Callable
from typing import Any

import pytest


def watch(patch: pytest.MonkeyPatch, owner: Any, name: str, see: Callable[..., object]) -> None:
    """Have another function see the arguments of each call of a function, before it is carried out."""
    right = getattr(owner, name)

    def watched(*given: Any, **named: Any) -> Any:
        see(*given, **named)
        return right(*given, **named)

    patch.setattr(owner, name, watched)
