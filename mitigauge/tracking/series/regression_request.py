"""What a mail says of a regression, from one line of it. Pure.

``regression 12 false: the host was rebooted``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from mitigauge.core.errors import InvalidInput
from mitigauge.core.hostile_text import clean_text

# As the history of a regression takes it.
LONGEST_WHY = 4000
LONGEST_BUG = 500
LARGEST_NUMBER = 2**31 - 1
_LINE = re.compile(
    r"regression[ \t]+#?(?P<number>[0-9]{1,10})[ \t]+"
    # A word with another sign behind it ("real?", "real|false") is a doubt, no judgement.
    r"(?P<word>real|false|known|not[ \t-]+worth[ \t-]+it)(?:\.|(?P<rest>[ \t:].*)?)",
    re.ASCII,
)
_BUG = re.compile(r"https?://\S+")


class RegressionWord(StrEnum):
    """What it is for whoever writes."""

    REAL = "real"
    FALSE = "false"
    KNOWN = "known"
    NOT_WORTH_IT = "not worth it"


@dataclass(frozen=True, slots=True)
class RegressionRequest:
    """One judgement. *bug*: an address; *why*: in words; either may be empty."""

    regression: int
    word: RegressionWord
    bug: str = ""
    why: str = ""


def read_regression_request(words: str) -> RegressionRequest:
    """What *words* say, which begin with ``regression``. Raises InvalidInput for what is none."""
    found = _LINE.fullmatch(clean_text(words.strip()))
    if found is None:
        raise InvalidInput(
            "a number and one of real, false, known and not worth it are missing, or come in "
            "another order"
        )
    rest = (found["rest"] or "").strip().removeprefix(":").strip()
    if len(rest) > LONGEST_WHY:
        raise InvalidInput(f"what stands behind it has over {LONGEST_WHY} characters")
    number = int(found["number"])
    if not 1 <= number <= LARGEST_NUMBER:
        raise InvalidInput(f"there is no regression {number}")
    word = RegressionWord(" ".join(re.split(r"[ \t-]+", found["word"])))
    bug, why = _bug_and_why(rest) if word is RegressionWord.KNOWN else ("", rest)
    return RegressionRequest(number, word, bug, why)


def _bug_and_why(rest: str) -> tuple[str, str]:
    """``https://…: since v7`` as address and words."""
    found = _BUG.match(rest)
    if found is None or len(found[0]) > LONGEST_BUG:
        return "", rest
    return found[0].rstrip(":,;."), rest[found.end() :].lstrip(" \t:,;")
