"""The checks of the audit."""
