"""Patches that say in a tag which regression they close. Pure.

Kernel developers write ``Closes: ADDRESS`` below a patch's text
(Documentation/process/submitting-patches.rst); the address is that of the regression's page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_NUMBER = re.compile(r"/regressions/([1-9]\d{0,9})(?=[\s?#/]|$)")


@dataclass(frozen=True, slots=True)
class OfferedFix:
    """A patch of a revision with the addresses that its tags name."""

    series: str
    revision: str
    position: int
    title: str
    addresses: tuple[str, ...]

    @property
    def words(self) -> str:
        """What a regression's history says of it."""
        return (
            f"Patch {self.position} of {self.series} {self.revision} says that it closes this: "
            f"{self.title}"
        )


def named_by(fixes: Iterable[OfferedFix], base: str) -> Iterator[tuple[int, OfferedFix]]:
    """Numbers of regressions of the service at *base*, each with what offers to close it.

    An address of another service names none of ours, and without a *base* none does.
    """
    if not base:
        return
    for fix in fixes:
        for number in dict.fromkeys(_numbers(fix.addresses, base.rstrip("/"))):
            yield number, fix


def _numbers(addresses: Iterable[str], base: str) -> Iterator[int]:
    for address in addresses:
        found = _NUMBER.match(address.removeprefix(base)) if address.startswith(base) else None
        if found is not None and int(found[1]) < 2**31:
            yield int(found[1])
