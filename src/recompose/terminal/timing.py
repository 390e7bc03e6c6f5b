"""How a calibration reads in a terminal."""

from recompose.monitor.timing_runs import Outcome
from recompose.terminal.text import counted, gibibytes, plain
from recompose.timing import FILE


def line(outcome: Outcome) -> str:
    """What a run takes, or why that cannot be told."""
    found = outcome.timing
    if found is None:
        return plain(f"{outcome.run.name}: {outcome.fault}")
    backbone = f" with {found.backbone}" if found.backbone else ""
    memory = f", {gibibytes(found.memory_bytes)} of memory" if found.memory_bytes is not None else ""
    rate = f"{1 / found.image_seconds:.1f} images/s" if found.image_seconds else "too fast to be timed"
    return plain(f"{found.method} on {found.dataset}{backbone}: {rate}{memory}")


def verdict(outcomes: list[Outcome]) -> str:
    """How many were calibrated, and what follows."""
    done = sum(outcome.timing is not None for outcome in outcomes)
    if not outcomes:
        return f"everything that trains is calibrated on this machine already; results/{FILE} has it"
    failed = f", {len(outcomes) - done} could not be" if done < len(outcomes) else ""
    return f"{counted(done, 'training')} calibrated{failed}; `recompose plan` and `recompose cost` go by it"
