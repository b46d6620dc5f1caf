"""Benchmarks of prices of a processor."""
