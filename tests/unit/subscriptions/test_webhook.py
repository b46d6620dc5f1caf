"""Webhooks over real sockets: limits, redirects, and that it goes where it was checked to go."""

from __future__ import annotations

import ssl
import time
from ipaddress import ip_address
from pathlib import Path

import pytest

from mitigauge.reporting.deliveries.states import DeliveryAnswer, DeliveryState
from mitigauge.reporting.subscriptions.webhook_url import IpAddress, read_networks
from pipelines.adapters import webhook
from tests.hook_server import HookServer, hook_server
from tests.lab.certificates import Authority

HERE = read_networks("127.0.0.0/8")
LIMIT_S = 1.0


def sent(server: HookServer, *, limit_s: float = LIMIT_S) -> DeliveryAnswer:
    return webhook.send(server.url, b'{"id": 1}', {"X-Mine": "y"}, HERE, limit_s=limit_s)


def test_what_is_sent_arrives_whole_with_its_heads() -> None:
    with hook_server() as server:
        assert sent(server, limit_s=10).state is DeliveryState.TAKEN
    [got] = server.received
    assert got.line == "POST /hooks/abcdefgh1234 HTTP/1.1"
    assert got.body == b'{"id": 1}'
    assert got.heads["x-mine"] == "y"
    assert got.heads["content-type"] == "application/json"
    assert got.heads["host"] == f"127.0.0.1:{server.port}"
    assert "cookie" not in got.heads
    assert "authorization" not in got.heads


@pytest.mark.parametrize("does", ["500", "429", "404", "301", "307", "302"])
def test_what_is_not_taken_is_tried_again_and_no_redirect_is_followed(does: str) -> None:
    with hook_server(does) as server:
        answer = sent(server, limit_s=10)
        time.sleep(0.1)
    assert (answer.state, does in answer.said) == (DeliveryState.LATER, True)
    assert len(server.received) == 1


def test_what_is_gone_for_good_is_not_tried_again() -> None:
    with hook_server("410") as server:
        assert sent(server, limit_s=10).state is DeliveryState.REFUSED


@pytest.mark.parametrize("does", ["hangs", "drips"])
def test_one_that_never_ends_is_cut_off_in_time(does: str) -> None:
    with hook_server(does) as server:
        began = time.monotonic()
        answer = sent(server)
        took = time.monotonic() - began
    assert answer.state is DeliveryState.LATER
    assert took < LIMIT_S + 4


def test_of_ten_gigabytes_little_is_read() -> None:
    with hook_server("floods") as server:
        began = time.monotonic()
        answer = sent(server, limit_s=10)
        took = time.monotonic() - began
        time.sleep(0.2)
        # Buffers of both sides hold more than was read.
        assert server.sent < 64 << 20
    assert answer.state is DeliveryState.TAKEN
    assert took < 8


def test_one_that_hangs_up_is_tried_again() -> None:
    with hook_server("ends") as server:
        assert sent(server, limit_s=10).state is DeliveryState.LATER


def test_without_the_operators_word_nothing_goes_to_this_machine() -> None:
    with hook_server() as server:
        answer = webhook.send(server.url, b"", {}, read_networks(""))
        assert answer.state is DeliveryState.REFUSED
        assert "127.0.0.1 is no public address" in answer.said
    assert server.received == []


class Rebinding:
    """A name server that says one thing first and another afterwards."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked = 0

    def __call__(self, host: str, port: int) -> list[IpAddress]:
        assert host == "hooks.test"
        self.asked += 1
        return [ip_address(self.answers.pop(0) if len(self.answers) > 1 else self.answers[0])]


def test_a_name_is_looked_up_once_and_what_was_checked_is_where_it_goes() -> None:
    with hook_server() as server:
        name = Rebinding("127.0.0.1", "203.0.113.9")
        url = f"http://hooks.test:{server.port}/x"
        answer = webhook.send(url, b"", {}, HERE, look_up=name, limit_s=20)
    assert (answer.state, name.asked) == (DeliveryState.TAKEN, 1)
    assert server.received[0].heads["host"] == f"hooks.test:{server.port}"


def test_a_name_that_leads_here_is_refused_before_anything_is_sent() -> None:
    with hook_server() as server:
        name = Rebinding("127.0.0.1", "8.8.8.8")
        answer = webhook.send(
            f"https://hooks.test:{server.port}/x", b"", {}, read_networks(""), look_up=name
        )
    assert (answer.state, name.asked, server.received) == (DeliveryState.REFUSED, 1, [])


def test_a_look_up_that_hangs_is_not_waited_for() -> None:
    def hangs(_host: str, _port: int) -> list[IpAddress]:
        time.sleep(5)
        return []

    began = time.monotonic()
    answer = webhook.send("https://hooks.test/x", b"", {}, HERE, look_up=hangs, limit_s=LIMIT_S)
    assert answer.state is DeliveryState.LATER
    assert time.monotonic() - began < 4


def test_a_name_that_nobody_knows_is_tried_again() -> None:
    def unknown(_host: str, _port: int) -> list[IpAddress]:
        raise OSError("Name or service not known")

    answer = webhook.send("https://hooks.test/x", b"", {}, HERE, look_up=unknown)
    assert answer.state is DeliveryState.LATER


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.mark.parametrize(("named", "taken"), [("hooks.test", True), ("other.test", False)])
def test_the_certificate_is_that_of_the_name(authority: Authority, named: str, taken: bool) -> None:
    issued = authority.issue(named)
    shows = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    shows.load_cert_chain(issued.certificate, issued.key)
    asked: list[str | None] = []
    shows.sni_callback = lambda _socket, name, _context: asked.append(name)
    trusts = ssl.create_default_context(cafile=str(authority.ca_file))
    with hook_server(tls=shows) as server:
        url = f"https://hooks.test:{server.port}/x"
        answer = webhook.send(
            url, b"", {}, HERE, look_up=Rebinding("127.0.0.1"), tls=trusts, limit_s=20
        )
        untrusted = webhook.send(
            url, b"", {}, HERE, look_up=Rebinding("127.0.0.1"), limit_s=20
        )  # fmt: skip
    assert (answer.state is DeliveryState.TAKEN) == taken
    assert asked[0] == "hooks.test"
    assert untrusted.state is DeliveryState.LATER
    assert "certificate" in untrusted.said
    assert len(server.received) == int(taken)


def test_no_proxy_of_the_environment_is_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with hook_server() as proxy, hook_server() as server:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        assert sent(server, limit_s=10).state is DeliveryState.TAKEN
    assert (len(proxy.received), len(server.received)) == (0, 1)
