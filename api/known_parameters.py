"""Parameters that a route does not know are refused: a filter that is misspelt would find all."""

from __future__ import annotations

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from mitigauge.core.errors import InvalidInput

MOST_NAMED = 5
LONGEST_NAME = 60


async def known_parameters(request: Request) -> None:
    """Raise :class:`InvalidInput` for a reading request that has another parameter in its query."""
    route = request.scope.get("route")
    if request.method not in ("GET", "HEAD") or not isinstance(route, APIRoute):
        return
    if not request.query_params:
        return
    known = names_of(route.dependant)
    others = [name for name in dict.fromkeys(request.query_params) if name not in known]
    if others:
        raise InvalidInput(
            f"{route.path} takes no {', '.join(_quoted(name) for name in others[:MOST_NAMED])}",
            hint=f"It takes {', '.join(known)}." if known else "It takes no parameters.",
        )


def names_of(dependant: Dependant) -> list[str]:
    """Names of query parameters of a route and of all that it depends on, in alphabetical order."""
    own = {field.alias for field in dependant.query_params}
    return sorted(own.union(*(names_of(each) for each in dependant.dependencies)))


def _quoted(name: str) -> str:
    return repr(name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…")
