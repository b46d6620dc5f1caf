"""Runs: boots in their blocks, how they were proven, and what came of them."""
