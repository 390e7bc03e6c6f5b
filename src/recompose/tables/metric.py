"""The description of a metric, in a module of its own: it counts as code of metrics, what shows them does not."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """The unit of a metric, its number of digits, and the direction in which it is better."""

    unit: str  # empty: a plain number
    factor: float  # from the stored number to that unit
    digits: int
    better: int  # 1: higher is better, -1: lower is, 0: neither
