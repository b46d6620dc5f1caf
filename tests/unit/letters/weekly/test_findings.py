"""What a week makes of what was said before: new, changed in size, open, gone."""

from __future__ import annotations

from datetime import timedelta

import pytest

from mitigauge.reporting.letters.weekly.data import Fate, Finding
from mitigauge.reporting.letters.weekly.findings import (
    MOST,
    MOST_HOSTS,
    Word,
    differences,
    findings,
)
from tests.unit.letters.weekly.made import (
    BEFORE,
    LOOP,
    MICROCODE,
    NOW,
    OFF,
    WEEK,
    known,
    word,
)


def told(*words: Word) -> list[Finding]:
    return findings(words, WEEK.start, known())[0]


@pytest.mark.parametrize(
    ("words", "fate"),
    [
        ([word("worse")], Fate.NEW),
        ([word("same", 0.1, BEFORE), word("worse")], Fate.NEW),
        ([word("better", -5, BEFORE), word("worse")], Fate.NEW),
        ([word("worse", 5.5, BEFORE), word("worse", 5.0)], Fate.OPEN),
        ([word("worse", 5.5, BEFORE)], Fate.OPEN),
        ([word("worse", 15, BEFORE), word("worse", 5)], Fate.RESIZED),
        ([word("worse", 5, BEFORE), word("same", 0.1)], Fate.ENDED),
    ],
)
def test_the_fate_follows_from_the_last_word_of_before_and_of_the_week(
    words: list[Word], fate: Fate
) -> None:
    [finding] = told(*words)
    assert finding.fate is fate


@pytest.mark.parametrize(
    "words",
    [
        [word("same", 0.1)],
        [word("same", 0.1, BEFORE)],
        [word("worse", 5, BEFORE - timedelta(days=7)), word("same", 0.1, BEFORE)],
        [word("same", 0.1, BEFORE), word("same", 0.2)],
    ],
)
def test_what_does_not_differ_and_did_not_is_no_finding(words: list[Word]) -> None:
    assert told(*words) == []


def test_the_last_word_of_the_week_holds() -> None:
    first, last = word("worse", 5.0), word("same", 0.1, NOW + timedelta(hours=1), run=2)
    assert told(last, first) == []


def test_a_later_version_of_one_moment_holds() -> None:
    assert told(word("same", 0.1, version=2), word("worse", version=1)) == []


def test_hosts_that_say_the_same_are_one_finding_the_largest_first() -> None:
    [finding] = told(word("worse", 5, host=1), word("worse", 9, host=2, run=2))
    assert [on.host for on in finding.hosts] == ["host-b", "host-a"]
    assert [on.emulated for on in finding.hosts] == [False, True]
    assert [on.counted for on in finding.hosts] == [False, True]


def test_what_was_measured_before_comes_first_whatever_its_size() -> None:
    found = told(
        word("worse", 50, case="first time"),
        word("same", 0.0, BEFORE, case="known"),
        word("worse", 2, case="known"),
    )
    assert [finding.case for finding in found] == ["known", "first time"]


def test_the_order_of_words_changes_nothing() -> None:
    words = [word("worse", 5 + at / 10, case=f"case {at % 7}", host=1 + at % 2) for at in range(14)]
    assert told(*words) == told(*reversed(words))


def test_facts_that_changed_meanwhile_are_the_cause() -> None:
    words = [word("same", 0.0, BEFORE), word("worse")]
    [finding] = findings(words, WEEK.start, known(causes=[MICROCODE]))[0]
    assert finding.hosts[0].cause == ["microcode: 0x1 → 0x2"]
    [unknown] = findings(words, WEEK.start, known(causes=None))[0]
    assert not unknown.hosts[0].causes_known


def test_more_than_can_be_told_is_counted() -> None:
    words = [word("worse", 1 + at / 1000, case=f"case {at}") for at in range(MOST + 5)]
    found, counted = findings(words, WEEK.start, known())
    assert len(found) == MOST
    assert counted == {"new worse": MOST + 5}
    assert f"case {MOST + 4}" == found[0].case
    assert MOST_HOSTS < MOST


def test_what_an_arm_has_and_its_baseline_has_not() -> None:
    assert differences(OFF, LOOP) == ["command line spectre_bhi=on instead of spectre_bhi=off"]
    newer = OFF.model_copy(update={"kernel": "7.3.0"})
    assert differences(OFF, newer) == ["kernel 7.3.0 instead of the host’s own"]
    assert differences(OFF, OFF) == []
