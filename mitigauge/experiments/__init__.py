"""Experiments: the question, its plan, what was measured and what follows from it."""
