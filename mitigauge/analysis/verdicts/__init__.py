"""Verdicts: what the values say about an arm."""
