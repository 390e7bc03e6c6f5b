"""The output of `recompose timing`."""

from recompose.monitor.timing_runs import Outcome
from recompose.progress import printable
from recompose.terminal.text import gibibytes, pluralize
from recompose.timing import FILE


def line(outcome: Outcome) -> str:
    """Return the speed and memory of a run, or the reason why timing it failed."""
    timing = outcome.timing
    if timing is None:
        return printable(f"{outcome.run.name}: {outcome.fault}")
    backbone = f" with {timing.backbone}" if timing.backbone else ""
    memory = f", {gibibytes(timing.memory_bytes)} of memory" if timing.memory_bytes is not None else ""
    rate = f"{1 / timing.image_seconds:.1f} images/s" if timing.image_seconds else "too fast to measure"
    return printable(f"{timing.method} on {timing.dataset}{backbone}: {rate}{memory}")


def verdict(outcomes: list[Outcome]) -> str:
    """Return the number of timed runs, and the commands that use the timings."""
    done = sum(outcome.timing is not None for outcome in outcomes)
    if not outcomes:
        return f"all methods are timed on this machine already; see results/{FILE}"
    failed = f", {len(outcomes) - done} failed" if done < len(outcomes) else ""
    return f"{pluralize(done, 'run')} timed{failed}; `recompose plan` uses the timings"
