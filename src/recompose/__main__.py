"""``python -m recompose``: the command line."""

from recompose.cli import main

main()
