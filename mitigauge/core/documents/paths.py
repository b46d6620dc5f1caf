"""Pages of the dashboard that documents and tables lead to. Pure."""

from __future__ import annotations

from urllib.parse import quote, urlencode


def host_path(host: str, environment: str) -> str:
    """The page of a host."""
    return f"/hosts/{quote(host, safe='')}?environment={quote(environment, safe='')}"


def case_path(experiment_id: int, case_id: int, host: str) -> str:
    """The page of a case on a host."""
    return f"/experiments/{experiment_id}/cases/{case_id}?host={quote(host, safe='')}"


def exact_path(experiment_id: int, case_id: int, host: str, a: str, b: str) -> str:
    """The exact difference of a case between two arms."""
    query = {"experiment": experiment_id, "case": case_id, "host": host, "a": a, "b": b}
    return f"/profiles?{urlencode(query)}&tab=exact"
