"""Words of an option that may be given several times."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TypeVar

from mitigauge.core.errors import InvalidInput

Choice = TypeVar("Choice", bound=StrEnum)


def chosen(words: Sequence[str] | None, among: type[Choice], option: str) -> list[Choice]:
    """The choices that the words name. Raises :class:`InvalidInput` naming those that there are."""
    known = {str(each): each for each in among}
    for word in words or ():
        if word not in known:
            raise InvalidInput(
                f"{option} {word} is none of them", hint=f"Known: {', '.join(known)}."
            )
    return [known[word] for word in words or ()]
