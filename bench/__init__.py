"""Benchmarks that print our figures beside those of named peers."""
