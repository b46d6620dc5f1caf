"""Certificates as controllers ship them: taken where they are pinned, and only the pinned one."""

from __future__ import annotations

import datetime
import hashlib
import ssl
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

from mitigauge.core.errors import InvalidInput
from pipelines.adapters.power import PowerControl, PowerError, open_power
from tests.lab.certificates import Authority, Issued
from tests.unit.power.bmc import SYSTEM, Bmc, served, values

_YEAR = datetime.timedelta(days=365)
# A name that is no address: the service tag.
_TAG = "7HJK2L3"


def self_signed(directory: Path, *, bits: int = 2048, ended: bool = False) -> Issued:
    """A certificate by the controller itself, in the name of its service tag."""
    key = rsa.generate_private_key(65537, bits)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, _TAG)])
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 2 * _YEAR)
        .not_valid_after(now - _YEAR if ended else now + _YEAR)
        .sign(key, hashes.SHA256())
    )
    issued = Issued(directory / "controller.pem", directory / "controller.key")
    issued.certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    issued.key.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
    )
    return issued


def of_version_1(directory: Path) -> Issued:
    """A certificate of version 1, which the library above does not make."""
    issued = Issued(directory / "controller.pem", directory / "controller.key")
    request = directory / "controller.csr"
    new = f"-new -newkey rsa:1024 -nodes -sha1 -subj /CN={_TAG}"
    for command in (
        f"req {new} -keyout {issued.key} -out {request}",
        f"x509 -req -sha1 -days 1 -in {request} -signkey {issued.key} -out {issued.certificate}",
    ):
        subprocess.run(["openssl", *command.split()], check=True, capture_output=True)
    shown = x509.load_pem_x509_certificate(issued.certificate.read_bytes())
    assert shown.version is x509.Version.v1
    return issued


def fingerprint(issued: Issued) -> str:
    """As ``openssl x509 -fingerprint -sha256`` shows it."""
    encoded = ssl.PEM_cert_to_DER_cert(issued.certificate.read_text())
    return hashlib.sha256(encoded).digest().hex(":").upper()


def pinned(url: str, secret: Path, digest: str, **more: Any) -> PowerControl:
    return open_power(values(url, secret, certificate_sha256=digest, **more))


SHIPPED: dict[str, Callable[[Path], Issued]] = {
    "by its service tag": self_signed,
    "of 1,024 bits": lambda directory: self_signed(directory, bits=1024),
    "expired": lambda directory: self_signed(directory, ended=True),
    "of version 1": of_version_1,
}


@pytest.mark.parametrize("kind", SHIPPED)
@pytest.mark.parametrize("newest", [None, ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1])
@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
def test_one_that_is_pinned_is_taken_with_tls_as_old_as_its_controller(
    kind: str, newest: ssl.TLSVersion | None, secret: Path, tmp_path: Path
) -> None:
    issued = SHIPPED[kind](tmp_path)
    bmc = Bmc()
    with served(bmc, issued, newest=newest) as url:
        pinned(url, secret, fingerprint(issued)).off()
        assert not pinned(url, secret, fingerprint(issued).replace(":", "").lower()).is_on()
    assert bmc.told == ["ForceOff"]


@pytest.mark.parametrize("kind", SHIPPED)
def test_the_same_without_a_pin_is_refused_and_nothing_is_sent(
    kind: str, secret: Path, tmp_path: Path
) -> None:
    issued = SHIPPED[kind](tmp_path)
    bmc = Bmc()
    for trust in ({}, {"ca_file": str(issued.certificate)}):
        with served(bmc, issued) as url, pytest.raises(PowerError, match="not trusted") as told:
            open_power(values(url, secret, **trust)).is_on()
        assert "certificate_sha256" in told.value.hint
        assert f"127.0.0.1:{bmc.port}" in told.value.hint
    assert bmc.requests == []


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
@pytest.mark.parametrize("newest", [ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1])
def test_old_tls_without_a_pin_is_refused_and_says_the_way_out(
    newest: ssl.TLSVersion, secret: Path, tmp_path: Path
) -> None:
    authority = Authority(tmp_path / "authority")
    bmc = Bmc()
    with (
        served(bmc, authority.issue("127.0.0.1"), newest=newest) as url,
        pytest.raises(PowerError, match="agrees on no TLS that is safe") as told,
    ):
        open_power(values(url, secret, ca_file=str(authority.ca_file))).is_on()
    assert "certificate_sha256" in told.value.hint
    assert bmc.requests == []


@pytest.mark.parametrize("login", ["session", "basic"])
def test_another_than_the_pinned_one_gets_nothing(login: str, secret: Path, tmp_path: Path) -> None:
    ours = self_signed(tmp_path)
    digest = fingerprint(ours)
    (other := tmp_path / "other").mkdir()
    # A valid one, by an authority and in the right name, is another one all the same.
    for issued in (self_signed(other), Authority(other / "ca").issue("127.0.0.1")):
        bmc = Bmc()
        with (
            served(bmc, issued) as url,
            pytest.raises(PowerError, match=r"not trusted: its SHA-256 is [0-9a-f]{64}, not"),
        ):
            pinned(url, secret, digest, login=login).is_on()
        assert bmc.requests == []


@pytest.mark.parametrize(
    ("url", "more", "reason"),
    [
        ("https://bmc", {"certificate_sha256": "abc"}, "is no SHA-256"),
        ("https://bmc", {"certificate_sha256": "é" * 64}, "is no SHA-256"),
        ("https://bmc", {"certificate_sha256": "a" * 64, "ca_file": "/ca.pem"}, "choose one"),
        ("http://127.0.0.1", {"certificate_sha256": "a" * 64}, "needs an https"),
    ],
)
def test_what_cannot_be_a_pin_is_refused(
    url: str, more: dict[str, str], reason: str, secret: Path
) -> None:
    with pytest.raises(InvalidInput, match=reason) as told:
        open_power(values(f"{url}{SYSTEM}", secret, **more))
    assert "password_file" not in told.value.message


def test_no_warning_of_old_tls_is_said(secret: Path) -> None:
    power = values(f"https://127.0.0.1:9{SYSTEM}", secret, certificate_sha256="a" * 64)
    asked = (
        "from pipelines.adapters.power import PowerError, open_power\n"
        f"try: open_power({power!r}).is_on()\n"
        "except PowerError as error: print(error.message)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "default", "-c", asked], capture_output=True, text=True, check=True
    )
    assert "cannot be reached" in done.stdout
    assert "TLSVersion" not in done.stderr
