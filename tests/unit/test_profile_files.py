"""Files with profiles: compressed, damaged, hostile, and never half-read."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable

import pytest
import zstandard

from mitigauge.errors import InvalidInput
from mitigauge.profiles import reading
from mitigauge.profiles.folded import read_folded, write_folded
from mitigauge.profiles.importing import read_profile
from mitigauge.profiles.normalise import normalised, rules, without_idle
from mitigauge.profiles.reading import pieces

TEXT = b"perf;main;f 3\nperf;main;g 4\n"


def read(data: bytes) -> bytes:
    return b"".join(pieces(io.BytesIO(data), name="file"))


def profile(data: bytes, event: str = "") -> dict[bytes, int]:
    return read_profile(io.BytesIO(data), name="file", digest="0" * 64, event=event)[0]


@pytest.mark.parametrize(
    "pack",
    [
        bytes,
        gzip.compress,
        zstandard.compress,
        lambda data: gzip.compress(data[:10]) + gzip.compress(data[10:]),
        lambda data: zstandard.compress(data[:10]) + zstandard.compress(data[10:]),
    ],
    ids=["plain", "gzip", "zstd", "two gzip members", "two zstd frames"],
)
def test_compressed_files_are_read_like_plain_ones(pack: Callable[[bytes], bytes]) -> None:
    assert read(pack(TEXT)) == TEXT


class Dripping(io.BytesIO):
    """As a pipe whose writer is slow: a byte at a time."""

    def read(self, size: int | None = -1) -> bytes:
        return super().read(min(1, size or 0))


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_a_pipe_may_give_a_byte_at_a_time(pack: Callable[[bytes], bytes]) -> None:
    dripping = Dripping(pack(TEXT))
    assert b"".join(pieces(dripping, name="-")) == TEXT


def test_what_a_pipe_holds_is_given_before_it_ends() -> None:
    given = pieces(Dripping(TEXT), name="-")
    # The head, by which compressed files are known, and what came with the next reading.
    assert next(given) == TEXT[:5]
    assert next(given) == TEXT[5:6]


@pytest.mark.parametrize("data", [gzip.compress(TEXT)[:-5], b"\x28\xb5\x2f\xfd" + b"\xff" * 40])
def test_damaged_files_are_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput, match="file is damaged"):
        read(data)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_bomb_is_refused_before_it_fills_the_memory(
    pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "UNSUSPICIOUS", 1 << 20)
    with pytest.raises(InvalidInput, match="unpacks to more than"):
        read(pack(bytes(50 << 20)))


def test_folded_text_is_read_and_written_back() -> None:
    out = io.BytesIO()
    write_folded(read_folded([TEXT], name="file"), out)
    assert out.getvalue() == TEXT


def test_a_stack_that_stands_twice_is_added_up() -> None:
    assert read_folded([b"a;b 1\na;", b"b 2\n"], name="file") == {b"a;b": 3}


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"a;b -3\n", "file:1: a count of '-3'"),
        (b"a;b 0\n", "file:1: a count of '0'"),
        (b"a;b 1\na;b x\n", "file:2: 'x' is no count"),
        (b"a;b 1.5\n", "file:1: '1.5' is no count"),
        (b"a;b 99999999999999999999\n", "file:1: a count of '9999"),
        (b"a 9007199254740990\nb 9007199254740990\n", "add up to more than"),
        (b"nothing\n", "file:1: no `stack count`"),
        (b"\n\n", "file has no stack"),
        (b";".join([b"f"] * 2000) + b" 1\n", "a stack of 2000 frames"),
        (b"x" * (3 << 20) + b" 1\n", "file:1: .*characters in one line|no `stack count`"),
    ],
)
def test_bad_folded_text_is_refused_by_line(data: bytes, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        read_folded([data], name="file")


def test_a_file_is_known_by_its_first_line() -> None:
    capture = b"perf 1 [000] 1.5: 7 cycles:\n\t1 f (x)\n\n"
    assert profile(capture) == {b"perf;f": 7}
    assert profile(gzip.compress(capture)) == {b"perf;f": 7}
    assert profile(TEXT) == {b"perf;main;f": 3, b"perf;main;g": 4}


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "file is empty"),
        (b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 20, "neither folded stacks nor"),
        (b"PERFILE2" + b"h" * 100, "neither folded stacks nor"),
        (b"<html><body>no</body></html>\n", "neither folded stacks nor"),
    ],
)
def test_another_file_is_refused(data: bytes, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        profile(data)


def test_names_with_markup_are_names() -> None:
    assert profile(b"<script>;alert(1)&amp; 2\n") == {b"<script>;alert(1)&amp;": 2}


@pytest.mark.parametrize(
    ("stack", "merged"),
    [
        (b"CPU_3/KVM;f", b"CPU_*/KVM;f"),
        (b"vhost-1234;f", b"vhost-*;f"),
        (b"handler12;f", b"handler*;f"),
        (b"revalidator7;f", b"revalidator*;f"),
        (b"kworker/0:1-mm_percpu;f", b"kworker/*;f"),
        (b"a;f.isra.0", b"a;f"),
        (b"a;f.constprop.1.cold", b"a;f"),
        (b"a;f.part.0_[i]", b"a;f_[i]"),
        (b"a;CPU_3/KVM", b"a;CPU_3/KVM"),
        (b"f.cold;g", b"f.cold;g"),
        (b"a;\xff.cold", b"a;\xff"),
        (b"perf", b"perf"),
    ],
)
def test_names_that_differ_by_number_become_one(stack: bytes, merged: bytes) -> None:
    assert normalised({stack: 1}, rules()) == {merged: 1}


def test_what_becomes_alike_is_added_up() -> None:
    stacks = {b"CPU_0/KVM;f": 1, b"CPU_1/KVM;f": 2}
    assert normalised(stacks, rules()) == {b"CPU_*/KVM;f": 3}


def test_a_processor_that_waits_is_no_cost_but_its_interrupts_are() -> None:
    stacks = {b"swapper;do_idle;pv_native_safe_halt": 90, b"swapper;do_idle;irq;tick": 10}
    assert without_idle(stacks, rules()) == ({b"swapper;do_idle;irq;tick": 10}, 90)
