"""Candidate kernels: what they are built from, and what came of it."""
