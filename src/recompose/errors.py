"""What goes wrong in ways that a message to the user explains: the tree of errors.

::

    RecomposeError
    └── ParamsError    params.yaml, or what is asked of it
"""


class RecomposeError(Exception):
    """An error whose message says what to do; it needs no traceback."""


class ParamsError(RecomposeError, ValueError):
    """params.yaml is wrong: the message says where and what is allowed."""
