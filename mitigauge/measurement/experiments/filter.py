"""Which experiments somebody asks for, and in which order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final, TypeVar

from mitigauge.core.effect import Verdict
from mitigauge.core.errors import InvalidInput
from mitigauge.measurement.experiments.states import ExperimentState

LONGEST: Final = 200
LARGEST_OFFSET: Final = 10_000_000
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_MOMENT: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?([Zz]|[+-]\d{2}:\d{2})"
)
_YEARS: Final = range(1970, 9000)
_NUMBER: Final = re.compile(r"#?([0-9]{1,10})")

Word = TypeVar("Word", bound=StrEnum)


class Sort(StrEnum):
    """Orders of the list."""

    NEWEST = "newest"
    OLDEST = "oldest"
    NAME = "name"
    EFFECT = "effect"
    """The largest proven effect for the worse first."""


@dataclass(frozen=True, slots=True)
class ExperimentFilter:
    """Which experiments to list; None and empty: all."""

    words: tuple[str, ...] = ()
    """Each of them within name, question or submitter; a number is an id as well."""
    states: tuple[ExperimentState, ...] = ()
    who: str = ""
    since: datetime | None = None
    """Submitted from then on."""
    until: datetime | None = None
    """Submitted before that."""
    host: str = ""
    workload: str = ""
    modes: tuple[tuple[str, str], ...] = ()
    """(family, mode) that one arm has all of; an empty mode: any of the family."""
    verdict: Verdict | None = None
    """At least one current verdict of a primary metric is such."""
    sort: Sort = Sort.NEWEST

    @property
    def is_everything(self) -> bool:
        """Whether it leaves nothing out."""
        return self == ExperimentFilter(sort=self.sort)

    @classmethod
    def parse(
        cls,
        *,
        find: str = "",
        state: Sequence[str] = (),
        who: str = "",
        since: str = "",
        until: str = "",
        host: str = "",
        workload: str = "",
        mode: str = "",
        verdict: str = "",
        sort: str = Sort.NEWEST,
    ) -> ExperimentFilter:
        """The filter that these words ask for; empty ones ask for nothing.

        Raises :class:`InvalidInput` for a word that says nothing, and where *until* is not after
        *since*.
        """
        named = {"find": find, "who": who, "host": host, "workload": workload, "mode": mode}
        for name, value in named.items():
            _require_short(name, value)
        begin = read_moment("since", since) if since.strip() else None
        end = read_moment("until", until, whole_day=True) if until.strip() else None
        if begin is not None and end is not None and begin >= end:
            raise InvalidInput(
                f"until, {until.strip()}, is before since, {since.strip()}",
                hint="Give the earlier one as since.",
            )
        return cls(
            words=tuple(dict.fromkeys(find.split())),
            states=tuple(sorted({_one_of("state", each, ExperimentState) for each in state})),
            who=who.strip(),
            since=begin,
            until=end,
            host=host.strip(),
            workload=workload.strip(),
            modes=_modes(mode.strip()),
            verdict=_one_of("verdict", verdict, Verdict) if verdict else None,
            sort=_one_of("sort", sort, Sort) if sort else Sort.NEWEST,
        )


def read_moment(name: str, text: str, *, whole_day: bool = False) -> datetime:
    """The moment that *text* says: a time with its zone, or the beginning of a day, UTC.

    *whole_day*: the end of the day instead. Raises :class:`InvalidInput` for anything else.
    """
    text = text.strip()
    _require_short(name, text)
    is_day = _DAY.fullmatch(text) is not None
    try:
        if not is_day and not _MOMENT.fullmatch(text):
            raise ValueError(text)
        found = datetime.fromisoformat(text.upper())
        if found.year not in _YEARS:
            raise ValueError(text)
    except ValueError:
        raise InvalidInput(
            f"{name}: {text!r} is neither a date nor a time with its zone",
            hint="Give a date, 2026-11-25 (a whole day, UTC), or a time, 2026-11-25T18:00:00Z.",
        ) from None
    if not is_day:
        return found.astimezone(UTC)
    return found.replace(tzinfo=UTC) + timedelta(days=int(whole_day))


def number_in(word: str) -> int | None:
    """The number that ``17`` or ``#17`` is; None for another word."""
    found = _NUMBER.fullmatch(word)
    return int(found[1]) if found else None


def _modes(text: str) -> tuple[tuple[str, str], ...]:
    pairs = []
    for part in text.split("+") if text else []:
        family, slash, mode = part.strip().partition("/")
        if not family or "/" in mode or (slash and not mode):
            raise InvalidInput(
                f"mode: {text!r} is neither FAMILY nor FAMILY/MODE",
                hint="Give spectre-bhi or spectre-bhi/off, say.",
            )
        pairs.append((family, mode))
    return tuple(pairs)


def _one_of(name: str, word: str, words: type[Word]) -> Word:
    try:
        return words(word)
    except ValueError:
        raise InvalidInput(
            f"{name}: there is no {word[:LONGEST]!r}", hint=f"Known: {', '.join(words)}."
        ) from None


def _require_short(name: str, value: str) -> None:
    if len(value) > LONGEST:
        raise InvalidInput(
            f"{name} has {len(value)} characters", hint=f"Give at most {LONGEST} of them."
        )
