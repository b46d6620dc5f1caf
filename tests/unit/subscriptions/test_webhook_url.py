"""Where a webhook may go: public addresses, and what the operator allows; nothing else."""

from __future__ import annotations

import re
from ipaddress import ip_address

import pytest

from mitigauge.core.errors import InvalidInput
from mitigauge.reporting.subscriptions.webhook_url import (
    is_public,
    masked,
    read_networks,
    read_url,
    require_possible,
    why_not,
)

NONE = read_networks("")
REFUSED = [
    "",
    "hooks.example.org/x",
    "ftp://hooks.example.org/x",
    "file:///etc/passwd",
    "gopher://hooks.example.org/",
    "javascript:alert(1)",
    "https://",
    "https:///x",
    "http://hooks.example.org/x",
    "https://hooks.example.org:22/x",
    "https://hooks.example.org:80/x",
    "https://hooks.example.org:0/x",
    "https://hooks.example.org:65536/x",
    "https://hooks.example.org:x/x",
    "https://user@hooks.example.org/x",
    "https://user:password@hooks.example.org/x",
    "https://hooks.example.org@127.0.0.1/x",
    "https://hooks.example.org/x#y",
    "https://hooks.example.org\\@127.0.0.1/x",
    "https://hooks.example.org /x",
    "https://hooks.example.org/\r\nX-A: b",
    "https://ho\toks.example.org/",
    "https://h\N{LATIN SMALL LETTER O WITH DIAERESIS}ks.example.org/",
    "https://127.0.0.1\N{IDEOGRAPHIC FULL STOP}example.org/",
    "https://hooks.example.org./x",
    "https://hooks_example.org/x",
    "https://%31%32%37.0.0.1/",
    "https://localhost/x",
    "https://database/x",
    "https://127.0.0.1/x",
    "https://127.1/x",
    "https://2130706433/x",
    "https://017700000001/x",
    "https://0177.0.0.1/x",
    "https://0x7f.0.0.1/x",
    "https://0x7f000001/x",
    "https://127.0.0.1.1/x",
    "https://0.0.0.0/x",
    "https://10.0.0.1/x",
    "https://172.16.0.1/x",
    "https://192.168.0.1/x",
    "https://169.254.169.254/latest/meta-data",
    "https://100.64.0.1/x",
    "https://192.0.2.1/x",
    "https://198.18.0.1/x",
    "https://224.0.0.1/x",
    "https://239.1.2.3/x",
    "https://255.255.255.255/x",
    "https://[::1]/x",
    "https://[::]/x",
    "https://[::ffff:127.0.0.1]/x",
    "https://[::ffff:a9fe:a9fe]/x",
    "https://[::127.0.0.1]/x",
    "https://[64:ff9b::127.0.0.1]/x",
    "https://[64:ff9b::a00:1]/x",
    "https://[64:ff9b:1::1]/x",
    "https://[2002:7f00:1::]/x",
    "https://[2001:db8::1]/x",
    "https://[2001::1]/x",
    "https://[fe80::1]/x",
    "https://[fe80::1%25eth0]/x",
    "https://[fc00::1]/x",
    "https://[fec0::1]/x",
    "https://[ff02::1]/x",
    "https://[v1.x]/x",
    "https://hooks.example.org/" + "x" * 2000,
]


@pytest.mark.parametrize("url", REFUSED)
def test_what_leads_inwards_or_is_no_address_is_refused_when_it_is_given(url: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        require_possible(read_url(url), NONE)
    assert refused.value.hint


@pytest.mark.parametrize(
    ("url", "host", "port", "target", "authority"),
    [
        ("https://hooks.example.org/a/b?c=d", "hooks.example.org", 443, "/a/b?c=d",
         "hooks.example.org"),
        ("https://HOOKS.example.org:8443", "hooks.example.org", 8443, "/",
         "hooks.example.org:8443"),
        ("https://8.8.8.8/x", "8.8.8.8", 443, "/x", "8.8.8.8"),
        ("https://[2606:4700::1111]:8443/x", "2606:4700::1111", 8443, "/x",
         "[2606:4700::1111]:8443"),
        ("https://[64:ff9b::8.8.8.8]/x", "64:ff9b::808:808", 443, "/x", "[64:ff9b::808:808]"),
        ("https://xn--hks-sna.example.org/", "xn--hks-sna.example.org", 443, "/",
         "xn--hks-sna.example.org"),
    ],
)  # fmt: skip
def test_what_is_public_is_taken_in_its_parts(
    url: str, host: str, port: int, target: str, authority: str
) -> None:
    found = read_url(url)
    require_possible(found, NONE)
    assert (found.host, found.port, found.target, found.authority) == (
        host, port, target, authority,
    )  # fmt: skip


INSIDE = [
    "0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254",
    "172.16.0.1", "192.0.0.1", "192.168.1.1", "198.18.0.1", "224.0.0.1", "224.1.1.1", "240.0.0.1",
    "255.255.255.255", "::", "::1", "::ffff:10.0.0.1", "::7f00:1", "64:ff9b::10.0.0.1",
    "64:ff9b::169.254.169.254", "64:ff9b:1::1", "2001::1", "2001:db8::1", "2002:a00:1::",
    "fc00::1", "fe80::1", "fec0::1", "ff02::1", "ff0e::1",
]  # fmt: skip


@pytest.mark.parametrize("address", INSIDE)
def test_a_name_that_leads_inwards_is_refused_when_something_is_sent(address: str) -> None:
    url = read_url("https://hooks.example.org/x")
    assert not is_public(ip_address(address))
    assert "is no public address" in why_not(url, [ip_address(address)], NONE)
    # One public address beside it makes it no better.
    both = [ip_address("8.8.8.8"), ip_address(address)]
    assert "is no public address" in why_not(url, both, NONE)


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2606:4700::1111", "2002:808:808::"],
)
def test_public_addresses_are_public_in_each_form(address: str) -> None:
    assert is_public(ip_address(address))
    assert why_not(read_url("https://hooks.example.org/x"), [ip_address(address)], NONE) == ""


def test_a_name_that_leads_nowhere_is_refused() -> None:
    assert why_not(read_url("https://hooks.example.org/x"), [], NONE)


def test_the_operators_networks_are_allowed_with_any_port_and_without_encryption() -> None:
    networks = read_networks("10.2.0.0/16, fd00::/8")
    for url in ("http://10.2.0.9:9000/x", "https://10.2.0.9/x", "http://[fd00::1]/x"):
        require_possible(read_url(url), networks)
    name = read_url("http://chat.internal.example:9000/x")
    require_possible(name, networks)
    assert why_not(name, [ip_address("10.2.0.9")], networks) == ""
    assert why_not(name, [ip_address("::ffff:10.2.0.9")], networks) == ""
    assert "10.3.0.1 is no public" in why_not(name, [ip_address("10.3.0.1")], networks)
    # What is public is no more than it was before.
    assert "must be https" in why_not(name, [ip_address("8.8.8.8")], networks)
    for url in ("http://10.3.0.1/x", "http://8.8.8.8/x"):
        with pytest.raises(InvalidInput, match="MITIGAUGE_WEBHOOK_NETWORKS"):
            require_possible(read_url(url), networks)


@pytest.mark.parametrize("text", ["10.2.0.1/16", "10.2", "x", "10.0.0.0/33", "10.0.0.0/8;::/0"])
def test_a_setting_that_names_no_network_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="MITIGAUGE_WEBHOOK_NETWORKS has"):
        read_networks(text)


def test_an_address_is_shown_without_what_lets_one_write_there() -> None:
    url = "https://u:word@hooks.example.org:8443/services/T0/B0/abcdefgh1234"
    assert masked(url) == "https://hooks.example.org:8443/…1234"
    assert masked("https://hooks.example.org/short") == "https://hooks.example.org/…"
    assert masked("https://hooks.example.org") == "https://hooks.example.org/"
    with pytest.raises(InvalidInput) as refused:
        read_url(url)
    assert re.search("word|abcdefgh|services", str(refused.value)) is None
