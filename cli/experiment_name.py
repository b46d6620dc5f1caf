"""The experiment that an argument means: by its number, or by a name that it alone has."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Final

import typer

from cli.experiment_list import found_page
from mitigauge.core.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from mitigauge.reporting.pages.schemas import ExperimentSummary

# The API's largest page.
AT_ONCE: Final = 200
# Names that are compared with one that nothing has.
MOST_NAMES: Final = 1000
MOST_NAMED: Final = 10
NEAR: Final = 3


def experiment_number(text: str) -> int:
    """The number that *text* is, or of the only experiment of that name.

    Raises :class:`InvalidInput` where several have the name, and :class:`NotFound` where none has.
    """
    if text.isascii() and text.isdecimal():
        if int(text) < 1:
            raise typer.BadParameter(f"{text} is not in the range x>=1.")
        return int(text)
    same = [each for each in _listed(text) if each.name == text]
    if len(same) > 1:
        raise InvalidInput(
            f"{len(same)} experiments are called {text!r}: {_numbers(same)}", hint="Give a number."
        )
    if not same:
        raise NotFound(f"no experiment is called {text!r}", hint=_near(text))
    return same[0].id


def _listed(find: str, most: int | None = None) -> Iterator[ExperimentSummary]:
    """Experiments with the words, the newest first, at most so many."""
    offset: int | None = 0
    while offset is not None and (most is None or offset < most):
        page = found_page({"find": find}, offset=offset, limit=AT_ONCE)
        yield from page.experiments
        offset = page.next_offset


def _numbers(same: list[ExperimentSummary]) -> str:
    said = [f"{each.id} of {each.created_at:%Y-%m-%d}" for each in same[:MOST_NAMED]]
    more = len(same) - len(said)
    return ", ".join(said) + (f" and {more} more" if more else "")


def _near(text: str) -> str:
    names = dict.fromkeys(each.name for each in _listed("", MOST_NAMES))
    near = get_close_matches(text, names, n=NEAR)
    meant = f"Is {' or '.join(map(repr, near))} meant? " if near else ""
    return f"{meant}`mitigauge experiment list` shows all."


Id = Annotated[
    int,
    typer.Argument(help="The experiment's number, or its name.", parser=experiment_number),
]
