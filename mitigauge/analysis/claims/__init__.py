"""Figures somebody published, set beside our measurements."""
