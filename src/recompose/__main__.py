"""``python -m recompose``: the command line."""

import signal

from recompose.interrupts import end_at_once

handler = signal.getsignal(signal.SIGINT)
end_at_once()  # imports take a while, and need no traceback
from recompose.main import main  # noqa: E402

signal.signal(signal.SIGINT, handler)
main()
