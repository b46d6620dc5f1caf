"""A mail handed over to servers of every kind: what each receiver got is known, and in time."""

from __future__ import annotations

import time
from email.message import EmailMessage

import pytest

from mitigauge.core.errors import InvalidInput
from mitigauge.reporting.deliveries.states import DeliveryState
from pipelines.adapters.mail import NotSent, hand_over, receivers_of, send
from tests.mail_server import mail_server
from tests.slow_server import bad_server

GOOD, BAD = "good@example.org", "bad@example.org"
LIMIT_S = 1.0


def mail(*receivers: str) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["Subject"] = "Robot <robot@example.com>", "x"
    message["To"] = ", ".join(receivers)
    message.set_content("a line\n.\n..\nFrom me\n")
    return message


def states(told: object) -> dict[str, str]:
    return {who: str(each.state) for who, each in told.items()}  # type: ignore[attr-defined]


def test_one_of_two_receivers_that_is_refused_is_known_by_name() -> None:
    with mail_server(refuses={BAD: "550 no such user"}) as server:
        where = f"127.0.0.1:{server.port}"
        told = hand_over(mail(GOOD, BAD), [GOOD, BAD], where, encrypted=False)
        assert states(told) == {GOOD: "taken", BAD: "refused"}
        assert "550 no such user" in told[BAD].said
        [got] = server.handler.mails
        assert got["X-RcptTo"] == GOOD
        assert got.get_payload().replace("\r\n", "\n") == "a line\n.\n..\nFrom me\n"
        with pytest.raises(NotSent, match=BAD):
            send(mail(GOOD, BAD), where, encrypted=False)


def test_one_that_is_put_off_may_be_tried_later() -> None:
    with mail_server(refuses={GOOD: "451 greylisted", BAD: "550 no"}) as server:
        told = hand_over(mail(GOOD, BAD), [GOOD, BAD], f"127.0.0.1:{server.port}", encrypted=False)
        assert states(told) == {GOOD: "later", BAD: "refused"}
        assert server.handler.mails == []


@pytest.mark.parametrize("then", ["drips", "ends"])
@pytest.mark.parametrize(
    ("until", "state"),
    [("greeting", "later"), ("mail", "later"), ("data", "later"), ("end", "unknown")],
)
def test_a_server_that_drips_or_hangs_up_is_left_within_the_limit(
    until: str, then: str, state: str
) -> None:
    with bad_server(until, then) as server:
        began = time.monotonic()
        told = hand_over(mail(GOOD), [GOOD], server.address, encrypted=False, limit_s=LIMIT_S)
        # It would drip for hours.
        assert time.monotonic() - began < 60 * LIMIT_S
    assert states(told) == {GOOD: state}
    assert ("within 1 s" in told[GOOD].said) == (then == "drips")


def test_a_server_that_is_not_there_is_tried_later_and_none_is_a_mistake() -> None:
    assert states(hand_over(mail(GOOD), [GOOD], "127.0.0.1:1", encrypted=False)) == {GOOD: "later"}
    for name in ("", ":25", "host:port"):
        with pytest.raises(InvalidInput, match="is no server"):
            hand_over(mail(GOOD), [GOOD], name)


def test_receivers_are_those_of_the_heads_each_once() -> None:
    message = mail(GOOD, f"Good <{GOOD.upper()}>")
    message["Cc"] = BAD
    assert receivers_of(message) == [GOOD, BAD]
    assert DeliveryState.TAKEN == "taken"
