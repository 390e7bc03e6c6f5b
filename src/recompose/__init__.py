"""Recompose: rebuilds the tables and figures of five papers, and traces every number to its runs."""
