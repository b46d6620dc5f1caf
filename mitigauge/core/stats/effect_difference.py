"""The difference of two effects that were measured apart. Pure.

Source: the method of variance estimates recovery, G. Y. Zou and A. Donner, *Construction of
confidence limits about effect measures*, Statistics in Medicine 27 (2008), 1693-1702: the limits of
a difference from the limits of its parts, which need not be symmetric.
"""

from __future__ import annotations

from math import expm1, hypot, log1p
from typing import NamedTuple


class Change(NamedTuple):
    """A change in percent with its interval, where it has one."""

    value: float
    low: float | None
    high: float | None


def change_difference(first: Change, second: Change) -> Change | None:
    """*second* over *first*, each in percent of its own baseline: ``(1 + b) / (1 + a) - 1``.

    The interval is there where both have one. None where a change is -100 % or less, since then
    there is no ratio.
    """
    if any(end is not None and end <= -100 for end in (*first, *second)):
        return None
    a, b = _log(first.value), _log(second.value)
    value = _percent(b - a)
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return Change(value, None, None)
    below = hypot(b - _log(second.low), _log(first.high) - a)
    above = hypot(_log(second.high) - b, a - _log(first.low))
    return Change(value, _percent(b - a - below), _percent(b - a + above))


def _log(percent: float) -> float:
    return log1p(percent / 100)


def _percent(log: float) -> float:
    return 100 * expm1(log)
