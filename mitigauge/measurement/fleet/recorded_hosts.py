"""Hosts that were read from a file: rows beside ours, which nothing leases. Pure."""

from __future__ import annotations

# No folder of ansible/envs/ is called so.
_MARK = ", recorded "


def recorded_environment(environment: str, where: str) -> str:
    """The environment of hosts that were recorded in *environment*; *where* tells files apart."""
    return f"{environment}{_MARK}{where}"


def is_recorded(environment: str) -> bool:
    """Whether hosts of that environment were read from a file."""
    return _MARK in environment
