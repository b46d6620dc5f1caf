"""Modules of code that neither a symbol nor a file covers.

Standard library alone: the confined reader imports it.
"""

UNKNOWN_KERNEL, UNKNOWN_USER, GUEST = "unknown kernel", "unknown user", "guest"
NOWHERE = frozenset({UNKNOWN_KERNEL, UNKNOWN_USER, GUEST})
