"""List archives over HTTP, as public-inbox serves them (lore.kernel.org does)."""

from __future__ import annotations

import re
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import quote, urlsplit

import httpx2

from mitigauge.core.errors import InvalidInput, MitigaugeError, NotFound
from mitigauge.core.hostile_text import clean_text
from mitigauge.tracking.series.feed import Entry, NoFeed, entries

FEED_LIMIT = 8 << 20
MOST_WORDS = 12
THREAD_LIMIT = 16 << 20
UNPACKED_LIMIT = 64 << 20
# Of one request: to connect and between two parts of an answer, and for all of it.
TIMEOUT_S, WHOLE_S = 30.0, 120.0
AGENT = "mitigauge (follows patch series)"
_ID = re.compile(r"[^\s<>/?#\x00-\x20]{1,200}@[^\s<>/?#\x00-\x20]{1,100}")


class ArchiveAway(MitigaugeError):
    """An archive that did not answer, or not with what was asked for. Asked again later."""

    status = 502

    def __init__(self, message: str, *, retry_after_s: float = 0.0) -> None:
        super().__init__(message, hint="It is asked again later; `--archive` names another one.")
        self.retry_after_s = retry_after_s


class BadThread(ArchiveAway):
    """A thread that came and cannot be read: it is no better when it comes again."""


@dataclass(frozen=True, slots=True)
class Validators:
    """What an archive gave to ask *has it changed?* by; empty where it gave nothing."""

    etag: str = ""
    modified: str = ""


@dataclass(frozen=True)
class Archive:
    """One archive by its address, for example ``https://lore.kernel.org/kvm``."""

    address: str

    def __post_init__(self) -> None:
        parts = urlsplit(self.address)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
            raise InvalidInput(
                f"{clean_text(self.address)[:100]!r} is no address of an archive",
                hint="Give one as https://lore.kernel.org/kvm.",
            )
        if parts.scheme == "http" and not _is_loopback(parts.hostname):
            raise InvalidInput(
                f"{clean_text(self.address)[:100]!r} would be read unencrypted, from anybody",
                hint="Write https: the archive is then known by its certificate.",
            )

    def new(self, validators: Validators) -> tuple[list[Entry], Validators] | None:
        """The latest mails and what to ask by next time; None where nothing is new.

        Raises :class:`ArchiveAway`.
        """
        asked = {"If-None-Match": validators.etag, "If-Modified-Since": validators.modified}
        asked = {name: value for name, value in asked.items() if value}
        with self._answer("new.atom", asked) as answer:
            if answer.status_code == 304:
                return None
            self._require_found(answer, "its feed")
            content = self._body(answer, FEED_LIMIT)
            given = Validators(_header(answer, "etag"), _header(answer, "last-modified"))
        try:
            return entries(content), given
        except NoFeed as error:
            raise ArchiveAway(f"{self.address} has no feed: {error}") from error

    def search(self, title: str) -> list[Entry] | None:
        """Mails with the words of that title, the latest first; None where there are none, or
        the archive has no search.

        Raises :class:`ArchiveAway`.
        """
        words = re.findall(r"\w+", title)[:MOST_WORDS]
        # Each word by itself: not every archive knows where in a subject a word stands.
        query = quote(" ".join(f"s:{word}" for word in words))
        with self._answer(f"?x=A&q={query}", {}) as answer:
            if answer.status_code in (404, 501):
                return None
            self._require_found(answer, "its search")
            content = self._body(answer, FEED_LIMIT)
        try:
            return entries(content)
        except NoFeed as error:
            raise ArchiveAway(f"{self.address}: its search has no feed: {error}") from error

    def thread(self, message_id: str) -> bytes:
        """The mails of the thread of *message_id*, as a mailbox.

        Raises NotFound where the archive does not have it, InvalidInput for what is no
        message-id, BadThread for what cannot be read, and :class:`ArchiveAway`.
        """
        wanted = message_id.strip().removeprefix("<").removesuffix(">")
        if not _ID.fullmatch(wanted):
            raise InvalidInput(
                f"{clean_text(message_id)[:100]!r} is no message-id",
                hint="It looks like 20260101-name-v1-0@example.org.",
            )
        with self._answer(f"{quote(wanted, safe='@')}/t.mbox.gz", {}) as answer:
            self._require_found(answer, f"the thread of {wanted}")
            packed = self._body(answer, THREAD_LIMIT, too_large=BadThread)
        return self._unpacked(packed, wanted)

    def _unpacked(self, packed: bytes, wanted: str) -> bytes:
        unpacker = zlib.decompressobj(wbits=31)
        try:
            content = unpacker.decompress(packed, UNPACKED_LIMIT)
        except zlib.error as error:
            raise BadThread(f"{self.address}: the thread of {wanted} is no gzip") from error
        if unpacker.unconsumed_tail:
            raise BadThread(f"{self.address}: the thread of {wanted} is over 64 MiB")
        if not unpacker.eof:
            raise BadThread(f"{self.address}: the thread of {wanted} ends too early")
        return content

    @contextmanager
    def _answer(self, path: str, headers: dict[str, str]) -> Iterator[httpx2.Response]:
        """The answer to one request; never that of another host, since none is followed to."""
        url = f"{self.address.rstrip('/')}/{path}"
        try:
            # What the environment says of proxies counts; logins of a .netrc do not.
            with (
                httpx2.Client(timeout=TIMEOUT_S, headers={"User-Agent": AGENT}) as client,
                client.stream("GET", url, headers=headers, follow_redirects=False) as answer,
            ):
                yield answer
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            why = clean_text(str(error)) or type(error).__name__
            raise ArchiveAway(f"{self.address} did not answer: {why}") from error

    def _require_found(self, answer: httpx2.Response, what: str) -> None:
        if answer.status_code == 200:
            return
        if answer.status_code in (404, 410):
            raise NotFound(f"{self.address} does not have {what}", hint="Look at it in a browser.")
        raise ArchiveAway(
            f"{self.address} answered {answer.status_code} for {what}",
            retry_after_s=_retry_after(answer),
        )

    def _body(
        self, answer: httpx2.Response, limit: int, too_large: type[ArchiveAway] = ArchiveAway
    ) -> bytes:
        """The body as it was sent, but for what HTTP itself packed."""
        content = bytearray()
        deadline = time.monotonic() + WHOLE_S
        for part in answer.iter_bytes():
            content += part
            if len(content) > limit:
                raise too_large(f"{self.address} sends more than {limit >> 20} MiB")
            if time.monotonic() > deadline:
                raise ArchiveAway(f"{self.address} takes longer than {WHOLE_S:.0f} s")
        return bytes(content)


def _is_loopback(machine: str) -> bool:
    if machine == "localhost":
        return True
    try:
        return ip_address(machine).is_loopback
    except ValueError:
        return False


# As long as an archive may put us off.
LONGEST_ASKED_S = 86_400.0


def pause_s(interval_s: float, failures: int, retry_after_s: float, jitter: float) -> float:
    """Seconds until an archive is asked again.

    Twice as long after each failure in a row, up to an hour, never less than the archive asked
    for (up to a day); *jitter* in [0, 1) adds up to a tenth, so that many do not ask at once.
    """
    backed_off = min(interval_s * 2.0 ** min(failures, 20), max(3600.0, interval_s))
    return max(backed_off, min(retry_after_s, LONGEST_ASKED_S)) * (1 + 0.1 * jitter)


def longest_pause_s(interval_s: float) -> float:
    """Above any that :func:`pause_s` gives."""
    return 1.1 * max(interval_s, LONGEST_ASKED_S)


def _header(answer: httpx2.Response, name: str) -> str:
    value = answer.headers.get(name, "")
    return value if len(value) <= 200 and value.isprintable() else ""


def _retry_after(answer: httpx2.Response) -> float:
    value: str = answer.headers.get("retry-after", "")
    return float(value) if value.isdecimal() and len(value) < 7 else 0.0
