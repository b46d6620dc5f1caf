"""Every pattern of the tree takes a time that grows with its text, whatever the text is.

A mail of dashes once stopped a worker for a week. Each pattern is found, compiled or written in a
call, and applied as the code applies it to texts made of its own parts. Of a linear pattern a text
four times as long takes four times as long, of a quadratic one sixteen times.
"""

from __future__ import annotations

import ast
import re
import signal
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest

from tests.patterns import FOLDERS, Text, Used, all_patterns, attacks, patterns_in

# Characters of the shorter text, and how many times the longer one is.
LENGTH, TIMES = 10_000, 4
# Below it a processor's clock and a cache say more than the pattern.
QUICK_S = 0.05
MOST_TIMES = 8.0
# Of all attacks on one pattern together: one that doubles with each character would not end.
LIMIT_S = 30
TAILS = ("", "\0", "!\n")
FEWEST = 250


def seconds(compiled: re.Pattern[Any], way: str, text: str) -> float:
    given: Text = text.encode("utf-8", "surrogatepass")
    given = given if isinstance(compiled.pattern, bytes) else text
    empty: Text = b"" if isinstance(given, bytes) else ""
    began = time.process_time()
    if way in ("sub", "subn"):
        getattr(compiled, way)(empty, given)
    elif way == "finditer":
        for _ in compiled.finditer(given):
            pass
    else:
        getattr(compiled, way)(given)
    return time.process_time() - began


def least(compiled: re.Pattern[Any], way: str, text: str) -> float:
    return min(seconds(compiled, way, text) for _ in range(3))


def beyond_linear(used: Used) -> list[str]:
    """Each way and text that takes more than a time that grows with the text's length."""
    found = []
    for way in sorted(used.ways or {"search"}):
        for head, unit in attacks(used.compiled):
            for tail in TAILS:
                texts = [head + (unit * size)[:size] + tail for size in (LENGTH, TIMES * LENGTH)]
                if seconds(used.compiled, way, texts[-1]) < QUICK_S:
                    continue
                short, long = (least(used.compiled, way, text) for text in texts)
                if long >= QUICK_S and long > MOST_TIMES * short:
                    found.append(f"{way} {head!r} {unit!r}… {tail!r}: {short:.3f}, {long:.3f} s")
                    return found
    return found


@pytest.fixture(autouse=True)
def limit() -> Iterator[None]:
    def end(_number: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"it did not end within {LIMIT_S} s")

    before = signal.signal(signal.SIGALRM, end)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def within_limit(used: Used) -> list[str]:
    """The same; of a pattern that does not end, that."""
    signal.alarm(LIMIT_S)
    try:
        return beyond_linear(used)
    except TimeoutError as error:
        return [str(error)]
    finally:
        signal.alarm(0)


def test_patterns_are_found_wherever_they_are_written() -> None:
    places = {used.place.partition("/")[0].partition(".")[0] for used in all_patterns().values()}
    assert set(FOLDERS) - places <= {"lab", "pipelines", "cli", "api"}
    tree = ast.parse(
        'A = rb"x+"\nB = re.compile(A + rb"y", re.I)\nre.sub(r"z" f"{B}", "", t)\n'
        'Field(pattern=r"^a$")\n'
    )
    assert [(each.name, each.pattern, each.flags, each.way) for each in patterns_in(tree)] == [
        ("B", b"x+y", re.IGNORECASE, ""), ("", "zword", 0, "sub"), ("", "^a$", 0, "search"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("pattern", "way", "slow"),
    [
        (r"\s+x", "search", True),
        (r"---(.*?)\s*$", "match", True),
        (r"(.+) \((.*)\)$", "match", True),
        (r"\w+@", "search", True),
        (r"(?<!\s)\s++x", "search", False),
        (r"\w++@", "match", False),
        (r"[a-z]{1,60}/", "search", False),
    ],
)
def test_slow_patterns_are_noticed_and_others_are_not(pattern: str, way: str, slow: bool) -> None:
    assert bool(within_limit(Used("here", re.compile(pattern), {way}))) == slow


def test_every_pattern_is_linear() -> None:
    patterns = all_patterns()
    assert len(patterns) >= FEWEST
    slow = {}
    for used in patterns.values():
        found = within_limit(used)
        if found:
            slow[used.place] = (used.compiled.pattern, found)
    assert slow == {}
