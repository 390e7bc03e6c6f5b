"""``python -m recompose``: the command line."""

import signal

from recompose.interrupts import end_at_once

before = signal.getsignal(signal.SIGINT)
end_at_once()  # importing takes a while, and is nothing to keep a trace of
from recompose.cli import main  # noqa: E402

signal.signal(signal.SIGINT, before)
main()
