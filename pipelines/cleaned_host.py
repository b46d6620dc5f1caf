"""A host whose every word was made fit to be stored and shown before a step sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from mitigauge.core.hostile_text import clean, clean_text
from mitigauge.core.wire.case import Case
from mitigauge.measurement.fleet.boot_method import BootMethod
from pipelines.host_control import Facts, HostControl, LabFault, Needs

# Proof and fingerprint of a large machine are some 30 kB.
FACTS_LIMIT_BYTES = 512 << 10
MESSAGE_LIMIT = 4000
SERIAL_LIMIT = 64 << 10


@dataclass(frozen=True, slots=True)
class CleanedHost:
    """:class:`HostControl` around another one, of which nothing is believed."""

    inner: HostControl

    def prepare(self, needs: Needs) -> Facts:
        """See HostControl."""
        with _cleaned_faults():
            return _facts(self.inner.prepare(needs))

    def arm(self, *, nonce: str, cmdline: str, kernel: str, method: BootMethod) -> Facts:
        """See HostControl."""
        with _cleaned_faults():
            return _facts(
                self.inner.arm(nonce=nonce, cmdline=cmdline, kernel=kernel, method=method)
            )

    def answers(self) -> bool:
        """See HostControl."""
        with _cleaned_faults():
            return self.inner.answers()

    def verify(self, reads: Sequence[str] = (), writes: Mapping[str, str] | None = None) -> Facts:
        """See HostControl."""
        with _cleaned_faults():
            return _facts(self.inner.verify(reads, writes))

    def start(
        self,
        job: str,
        cases: Sequence[Case],
        directory: Path,
        *,
        wait_s: float,
        wanted: Callable[[], bool],
    ) -> Facts:
        """See HostControl."""
        with _cleaned_faults():
            return _facts(self.inner.start(job, cases, directory, wait_s=wait_s, wanted=wanted))

    def poll(
        self, job: str, directory: Path, *, wait_s: float, wanted: Callable[[], bool]
    ) -> Facts:
        """See HostControl."""
        with _cleaned_faults():
            return _facts(self.inner.poll(job, directory, wait_s=wait_s, wanted=wanted))

    def restore(self) -> Facts:
        """See HostControl."""
        with _cleaned_faults():
            return _facts(self.inner.restore())

    def power_cycle(self) -> None:
        """See HostControl."""
        with _cleaned_faults():
            self.inner.power_cycle()

    def serial_offset(self) -> int | None:
        """See HostControl."""
        with _cleaned_faults():
            return self.inner.serial_offset()

    def serial_log(self, since: int | None) -> str:
        """See HostControl."""
        with _cleaned_faults():
            # Its reader cleans it line by line: line ends must stay.
            return self.inner.serial_log(since)

    def serial_tail(self, since: int | None) -> str:
        """See HostControl."""
        with _cleaned_faults():
            return clean_text(self.inner.serial_tail(since)[-SERIAL_LIMIT:])


def _facts(said: Facts) -> Facts:
    """*said* cleaned. Raises :class:`LabFault` for more than a host can have to say."""
    cleaned: dict[str, Any] = clean(said)
    try:
        size = len(orjson.dumps(cleaned, option=orjson.OPT_NON_STR_KEYS))
    except TypeError as error:
        raise LabFault(f"the host's facts are no JSON: {error}", hint="See its events.") from error
    if size > FACTS_LIMIT_BYTES:
        raise LabFault(
            f"the host's facts have {size} bytes, over {FACTS_LIMIT_BYTES}",
            hint="No module of ours says that much; look at the host.",
        )
    return cleaned


@contextmanager
def _cleaned_faults() -> Iterator[None]:
    """What a fault quotes of the host is its text like any other."""
    try:
        yield
    except LabFault as fault:
        fault.message = clean_text(fault.message[:MESSAGE_LIMIT])
        fault.args = (fault.message,)
        raise
