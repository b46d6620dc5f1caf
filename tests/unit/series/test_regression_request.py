"""What a mail says of a regression."""

from __future__ import annotations

import time

import pytest

from mitigauge.core.errors import InvalidInput
from mitigauge.tracking.series.regression_request import (
    LONGEST_WHY,
    RegressionRequest,
    RegressionWord,
    read_regression_request,
)
from mitigauge.tracking.series.request import REGRESSION_FORMS, RequestKind, request_in
from tests.unit.series.test_request import mail

BUG = "https://bugzilla.kernel.org/show_bug.cgi?id=1"


@pytest.mark.parametrize(
    ("words", "word", "bug", "why"),
    [
        ("regression 12 real", RegressionWord.REAL, "", ""),
        ("regression 12 real.", RegressionWord.REAL, "", ""),
        ("regression 12 real: seen here too", RegressionWord.REAL, "", "seen here too"),
        ("regression #12  false: the host was rebooted", RegressionWord.FALSE, "",
         "the host was rebooted"),
        ("regression 12 false the host was rebooted", RegressionWord.FALSE, "",
         "the host was rebooted"),
        ("regression 12 false", RegressionWord.FALSE, "", ""),
        (f"regression 12 false: see {BUG}", RegressionWord.FALSE, "", f"see {BUG}"),
        (f"regression 12 known {BUG}", RegressionWord.KNOWN, BUG, ""),
        (f"regression 12 known: {BUG}: since v7", RegressionWord.KNOWN, BUG, "since v7"),
        (f"regression 12 known {BUG}.", RegressionWord.KNOWN, BUG, ""),
        ("regression 12 known: by the author", RegressionWord.KNOWN, "", "by the author"),
        ("regression 12 not worth it: 0.1 %", RegressionWord.NOT_WORTH_IT, "", "0.1 %"),
        ("regression 12 not-worth-it: 0.1 %", RegressionWord.NOT_WORTH_IT, "", "0.1 %"),
    ],
)  # fmt: skip
def test_a_line_says_which_what_and_why(
    words: str, word: RegressionWord, bug: str, why: str
) -> None:
    assert read_regression_request(words) == RegressionRequest(12, word, bug, why)


@pytest.mark.parametrize(
    "words",
    [
        "regression", "regression 12", "regression real 12", "regression 12 falsehood: x",
        "regression 12 fixed", "regression -1 false: x", "regression 1e9 false: x",
        "regression 12 Real", "regression ١٢ real", "regression 123456789012 false: x",
        "regression 12 real?", "regression 12 real, or false?", "regression 12 real|false: x",
        "regression 12 real/false", "regression 12 false(?): x", "regression 12 real...",
    ],
)  # fmt: skip
def test_what_is_no_judgement_is_refused_with_what_is_missing(words: str) -> None:
    with pytest.raises(InvalidInput, match="a number and one of real, false, known and not worth"):
        read_regression_request(words)


@pytest.mark.parametrize("number", ["0", "2147483648", "9999999999"])
def test_a_number_that_no_regression_can_have_is_refused(number: str) -> None:
    with pytest.raises(InvalidInput, match=f"there is no regression {number}"):
        read_regression_request(f"regression {number} real")


def test_hostile_words_are_cleaned_and_bounded() -> None:
    said = read_regression_request("regression 12 false: <script>\x1b[2J\u202e x")
    assert said.why == "<script>\ufffd[2J\ufffd x"
    with pytest.raises(InvalidInput, match=f"over {LONGEST_WHY} characters"):
        read_regression_request("regression 12 false: " + "x" * (LONGEST_WHY + 10))


def test_a_mail_says_it_by_its_first_line_that_is_not_quoted() -> None:
    found = request_in(mail("> #mitigauge stop\n\n#mitigauge regression 12 false: why\n"))
    assert found is not None
    assert (found.asked, found.why) == (RequestKind.REGRESSION, "")
    assert found.regression == RegressionRequest(12, RegressionWord.FALSE, why="why")
    unclear = request_in(mail("#mitigauge regression twelve is false\n"))
    assert unclear is not None
    assert (unclear.asked, unclear.regression) == (RequestKind.REGRESSION, None)
    assert unclear.why


def test_our_own_lines_ask_nothing_when_they_are_quoted_without_marks() -> None:
    assert request_in(mail("\n".join(f"  {form}" for form, _ in REGRESSION_FORMS))) is None


def test_ten_thousand_lines_are_one_request_read_at_once() -> None:
    """In processor time, as the machine may be busy."""
    body = "#mitigauge regression 1 false: " + " \t" * 1000 + "\n"
    began = time.process_time()
    found = request_in(mail(body * 1500 + "#mitigauge regression 2 real\n" * 8500))
    assert time.process_time() - began < 5
    assert found is not None
    assert found.regression == RegressionRequest(1, RegressionWord.FALSE)
