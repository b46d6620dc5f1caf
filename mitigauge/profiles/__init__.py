"""Profiles: from what perf printed to stacks that can be compared."""
