"""The settings of chance."""

from recompose.params.method import MethodSettings


class ChanceSettings(MethodSettings):
    """Random scores: no settings."""
