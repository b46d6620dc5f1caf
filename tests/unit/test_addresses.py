"""Names under which the service may be asked, and pages that may ask it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.addresses import Address, AllowedHosts, is_loopback, read_address, same_origin
from mitigauge.core.errors import InvalidInput


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("localhost", Address("localhost", None)),
        ("LocalHost:8600", Address("localhost", 8600)),
        ("[::1]:8600", Address("::1", 8600)),
        ("[0:0:0:0:0:0:0:1]", Address("::1", None)),
        ("10.0.0.7:80", Address("10.0.0.7", 80)),
    ],
)
def test_an_address_is_a_name_and_a_port(text: str, address: Address) -> None:
    assert read_address(text) == address


@pytest.mark.parametrize(
    "text",
    [
        "",
        " localhost",
        "localhost ",
        "localhost:",
        "localhost:0",
        "localhost:65536",
        "localhost:8600:1",
        "localhost/evil",
        "a@localhost",
        "localhost,evil",
        "[::1",
        "::1",
        "[::1]x",
        "[zz::1]",
        "lo\u0441alhost",
        "localhost\x00",
        "localhost\r\n",
        "-a",
        "a" * 300,
    ],
)
def test_what_is_no_address_is_none(text: str) -> None:
    assert read_address(text) is None


@given(st.text(max_size=60))
def test_whatever_a_host_header_holds_it_is_an_address_or_none(text: str) -> None:
    address = read_address(text)
    assert address is None or address.port is None or 0 < address.port < 65536


def test_loopback_the_bound_address_and_what_is_configured_are_allowed() -> None:
    hosts = AllowedHosts("10.0.0.7", "gauge.example.org, other.example.org:8443")
    for text in (
        "localhost",
        "127.0.0.1:1",
        "[::1]:8600",
        "10.0.0.7:8600",
        "Gauge.Example.Org:99",
        "other.example.org:8443",
    ):
        address = read_address(text)
        assert address is not None
        assert address in hosts, text
    for text in (
        "evil.example",
        "localhost.evil.example",
        "localhost.",
        "127.0.0.2",
        "127.0.0.1.nip.io",
        "other.example.org",
        "other.example.org:1",
        "x.gauge.example.org",
        "[::2]",
        "0.0.0.0",
    ):
        address = read_address(text)
        assert address is not None
        assert address not in hosts, text


@pytest.mark.parametrize("bound", ["fd00:0:0::7", "[fd00::7]", "FD00::7"])
def test_a_bound_ipv6_address_is_allowed_however_it_is_written(bound: str) -> None:
    assert Address("fd00::7", 8600) in AllowedHosts(bound, "")


@pytest.mark.parametrize("bound", ["0.0.0.0", "::", "", "0:0::0"])
def test_listening_everywhere_allows_no_further_name(bound: str) -> None:
    hosts = AllowedHosts(bound, "")
    assert Address("0.0.0.0", 8600) not in hosts
    assert Address("::", 8600) not in hosts
    assert not is_loopback(bound)


def test_a_configured_name_that_is_none_is_refused_with_an_example() -> None:
    with pytest.raises(InvalidInput, match="'https://gauge'") as refused:
        AllowedHosts("127.0.0.1", "https://gauge")
    assert "mitigauge.example.org" in refused.value.hint


HOST = Address("gauge.example.org", None)


@pytest.mark.parametrize(
    ("host", "origins", "sites"),
    [
        (HOST, ["https://gauge.example.org"], []),
        (HOST, ["https://gauge.example.org:443"], ["same-origin"]),
        (HOST, [], ["same-origin"]),
        (Address("localhost", 8600), ["http://localhost:8600"], ["same-origin"]),
        (Address("::1", 8600), ["http://[::1]:8600"], []),
    ],
)
def test_a_page_of_the_same_address_is_one_of_ours(
    host: Address, origins: list[str], sites: list[str]
) -> None:
    assert same_origin(host, origins, sites)


@pytest.mark.parametrize(
    ("host", "origins", "sites"),
    [
        (HOST, [], []),
        (HOST, ["null"], []),
        (HOST, [""], []),
        (HOST, ["https://evil.example"], []),
        (HOST, ["https://gauge.example.org.evil.example"], []),
        (HOST, ["https://gauge.example.org:8443"], []),
        (HOST, ["file://gauge.example.org"], []),
        (HOST, ["gauge.example.org"], []),
        (HOST, ["https://gauge.example.org"], ["cross-site"]),
        (HOST, ["https://gauge.example.org"], ["same-site"]),
        (HOST, ["https://gauge.example.org"], ["none"]),
        (HOST, [], ["same-site"]),
        (HOST, ["https://gauge.example.org", "https://gauge.example.org"], []),
        (HOST, [], ["same-origin", "same-origin"]),
        (Address("localhost", 8600), ["http://localhost:8601"], []),
        (Address("127.0.0.1", 8600), ["http://localhost:8600"], []),
    ],
)
def test_every_other_page_is_a_strangers(
    host: Address, origins: list[str], sites: list[str]
) -> None:
    assert not same_origin(host, origins, sites)
