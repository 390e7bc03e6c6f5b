"""Scaffolds: the files of a new method, data set, suite, metric, paper or comparison."""
