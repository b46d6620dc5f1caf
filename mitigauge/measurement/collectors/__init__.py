"""Collectors: what was read of a host once a second beside a case."""
