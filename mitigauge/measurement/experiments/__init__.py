"""Experiments: the question and its plan."""
