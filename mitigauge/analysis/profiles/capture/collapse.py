"""``perf script``'s text into folded stacks, in memory that grows with distinct stacks only.

A sample is a header line, a line for each frame with the leaf first, and an empty
line. Call chains repeat: the same callers come with thousands of leaves, and their
text, addresses included, is the same each time. So the text of the callers is looked
up whole, and parsed only when it is new.

Counts are those of stackcollapse-perf.pl: periods are added up, a period that is not
told or 0 counts 1, samples of other events than the first are left out, and so is a
last sample without its empty line. Text that was recorded without call chains has a sample a
line. Commands have their whole names, and kinds of cores one event (:mod:`headers`), unlike there;
periods are read without a time, and where more follows the event; and frames without addresses.

A sample's first line has an event with a colon, and a period where the samples before it have one.
Only text that was printed without events altogether has lines with a time, and perhaps a period,
alone. Whatever else begins with a command and a process is no sample: perf's records and messages
are left out with all frames behind them, and the first such line is told of by its number.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from mitigauge.analysis.profiles.capture.frames import ADDRESS_WIDTH, folded_line, is_address
from mitigauge.analysis.profiles.capture.headers import (
    Header,
    command_of,
    command_of_usual,
    header_of,
    one_line_sample,
    one_name,
    record_of,
    without_privilege,
)
from mitigauge.core.errors import InvalidInput

# An indented line is no header and no comment.
_INDENTS = (b" ", b"\t")

SAMPLE_END, LINE_END = b"\n\n", b"\n"
# Bytes of text whose parse is remembered; beyond, all is forgotten and begun anew.
REMEMBERED = 48 << 20
# Callers next to the leaf that are looked up one by one when the chain is new.
NEAR = 8
# Without a limit, a file that has no empty line would fill the memory.
LONGEST_SAMPLE = 16 << 20
LONGEST_LINE = 1 << 20
# A chain of more callers is parsed line by line: remembering it piece by piece would go
# deeper than a stack of ours may.
LONGEST_CHAIN = 2048
# What an entry of a dictionary takes besides its text.
ENTRY = 64
MOST_THREADS = 100_000
# Names under which kinds of cores count one event, with what is added to them.
MOST_SPELLINGS = 16
# Of a period, which perf keeps in 64 bits.
MOST_DIGITS = 20


@dataclass(frozen=True, slots=True)
class Most:
    """How much a capture may hold; the defaults are for what somebody folds or imports."""

    stacks: int = 20_000_000
    stack_bytes: int = 4 << 30
    """Of all distinct folded stacks together."""
    line_bytes: int = LONGEST_LINE
    """Of a line, where every line must be right."""


# Comments and empty lines, as many as there are.
_SAYS_NOTHING = re.compile(rb"(?:#[^\n]*+\n|\n)*+")


class _Wrong(Exception):
    """What is wrong with a line, whose number is known further up.

    *is_left_out*: whether it is only left out, and told of, where nothing is stored.
    """

    def __init__(self, why: str, *, is_left_out: bool = False) -> None:
        super().__init__(why)
        self.is_left_out = is_left_out


@dataclass(slots=True)
class _OpenSample:
    """A sample whose lines come one by one. *is_left_out*: frames that come belong to none."""

    command: bytes = b""
    period: int = 1
    frames: list[bytes] = field(default_factory=list)
    is_left_out: bool = False


@dataclass(slots=True)
class Collapsed:
    """Counts of folded stacks by (comm, callers, leaf), and what was left out."""

    event: bytes = b""
    events: set[bytes] = field(default_factory=set)
    """That one, and the same with other privileges: counted together where nobody chose."""
    samples: int = 0
    other_events: int = 0
    unrecognised: int = 0
    """Lines that are neither a sample of the text's form nor a frame."""
    first_unrecognised: str = ""
    """``line NUMBER: TEXT`` of the first of those."""
    counts: dict[tuple[bytes, bytes, bytes], int] = field(default_factory=dict)
    most: Most = field(default_factory=Most)

    def stacks(self) -> dict[bytes, int]:
        """Counts by folded stack, ``comm;caller;…;leaf``.

        Raises :class:`InvalidInput` where they are more than can be held: callers are kept
        once, but are part of every stack.
        """
        folded: dict[bytes, int] = {}
        size = 0
        for (comm, callers, leaf), count in self.counts.items():
            stack = comm.replace(b" ", b"_") + callers + leaf
            size += len(stack)
            if size > self.most.stack_bytes:
                raise InvalidInput(
                    f"the folded stacks have more than {self.most.stack_bytes} bytes",
                    hint="Record for a shorter time, or without some programs.",
                )
            folded[stack] = folded.get(stack, 0) + count
        return folded


class _Memory:
    """Text that was parsed already, as Java spells it or not."""

    def __init__(self, *, java: bool, longest: int, as_peer: bool) -> None:
        self._java = java
        self._as_peer = as_peer
        self._longest = longest
        self._forget()

    def _forget(self) -> None:
        # By hash of the text, 64 bits under a key of this process: the text itself, a kilobyte
        # a chain, would fill the memory, and two of a million chains share a hash in one
        # capture of thirty million.
        self.callers: dict[int, bytes] = {hash(b""): b""}
        self.lines: dict[bytes, bytes] = {b"": b""}
        self._same: dict[bytes, bytes] = {}
        self._names: dict[bytes, bytes | None] = {}
        self._size = 0

    def line(self, text: bytes) -> bytes | None:
        """A line folded; ``None`` unless it is an indented frame of a common length."""
        if text[:1] not in _INDENTS or len(text) > self._longest:
            return None
        # The same function has another address in every process.
        address, _, name = text.lstrip().partition(b" ")
        if not is_address(address) or name.lstrip().startswith(b"("):
            return folded_line(text, java=self._java, as_peer=self._as_peer)
        if name in self._names:
            folded = self._names[name]
        else:
            folded = self._names[name] = folded_line(text, java=self._java, as_peer=self._as_peer)
            self._size += len(name)
        if folded is not None:
            self.lines[text] = folded
            self._size += len(text)
        return folded

    def chain(self, text: bytes) -> bytes | None:
        """Lines of callers, the innermost first, folded; ``None`` if one is no frame.

        Chains that differ near the leaf have their outer callers in common.
        """
        if self._size > REMEMBERED:
            self._forget()
        if text.count(b"\n") > LONGEST_CHAIN:
            return None
        *near, outer = text.split(b"\n", NEAR)
        known = self.callers.get(hash(outer)) if len(near) == NEAR else self._line(outer)
        if known is None and len(near) == NEAR:
            known = self.chain(outer)
        parts = [self._line(line) for line in near]
        if known is None or None in parts:
            return None
        parts.append(known)
        parts.reverse()
        folded = b"".join(part for part in parts if part)
        # Other addresses often give the same names, which are kept once.
        if folded not in self._same:
            self._same[folded] = folded
            self._size += len(folded)
        self._size += ENTRY
        folded = self.callers[hash(text)] = self._same[folded]
        return folded

    def _line(self, text: bytes) -> bytes | None:
        folded = self.lines.get(text)
        return self.line(text) if folded is None else folded


class Collapse:
    """Counts the samples of one capture, which come in any number of pieces.

    *event* picks one; otherwise it is the first that comes. *strict* refuses what
    stackcollapse-perf.pl leaves out: lines that are no sample, and a second event; it
    names the line. *as_peer*: a frame without a symbol has a blank for its name, as that program
    writes it, and not its file's.
    """

    def __init__(
        self,
        *,
        event: str = "",
        strict: bool = False,
        as_peer: bool = False,
        name: str = "capture",
        most: Most | None = None,
    ) -> None:
        self._most = most or Most()
        self.result = Collapsed(most=self._most)
        self._chosen = bool(event)
        self._strict = strict
        self._name = name
        self._rest = b""
        self._lines = 0  # in the pieces before
        self._as_peer = as_peer
        longest = self._most.line_bytes
        self._plain = _Memory(java=False, longest=longest, as_peer=as_peer)
        self._java = _Memory(java=True, longest=longest, as_peer=as_peer)
        self._threads: dict[bytes, tuple[bytes, _Memory]] = {}
        self._end = b""  # of a sample; told by the first line
        self._has_event = False
        self._has_period: bool | None = None
        self._tokens: set[bytes] = set()  # the event with its colon, as a header ends with it
        if event:
            self._expect(event.encode())

    def feed(self, piece: bytes) -> None:
        """Take the next piece of text. Raises :class:`InvalidInput` naming the line."""
        text = self._rest + piece
        # A line of many pieces is not searched from its beginning each time.
        has_line_end = b"\n" in piece
        if not self._end and has_line_end:
            text = self._from_first_sample(text)
        samples = text.split(self._end or SAMPLE_END)
        self._rest = samples.pop()
        self._count(samples)
        if len(self.result.counts) > self._most.stacks:
            raise self._refusal("", f"more than {self._most.stacks} different stacks")
        if has_line_end:
            self._lines += text.count(b"\n") - self._rest.count(b"\n")
        if len(self._rest) > LONGEST_SAMPLE:
            raise self._refusal(
                f":{self._lines + 1}", f"no empty line in {LONGEST_SAMPLE >> 20} MiB"
            )

    def finish(self) -> Collapsed:
        """What was counted. Raises :class:`InvalidInput` if that is nothing, when strict."""
        if self._strict and not self.result.counts and self.result.other_events:
            raise InvalidInput(
                f"{self._name} has no sample of {self.result.event.decode(errors='replace')}, and "
                f"{self.result.other_events} of other events",
                hint="`perf script -F event` names them; --event takes one.",
            )
        if self._strict and not self.result.counts:
            raise InvalidInput(
                f"{self._name} has no sample",
                hint="Record with `perf record -g` while something runs, and check that"
                " `perf script` prints call chains.",
            )
        return self.result

    def _count(self, samples: Sequence[bytes]) -> None:
        """The fast way: one loop without calls, because it runs once for every sample."""
        counts, threads = self.result.counts, self._threads
        slow = 0
        for index, sample in enumerate(samples):
            lines = sample.split(b"\n", 2)
            if len(lines) < 3:
                lines += (b"", b"")[len(lines) - 1 :]
            head, leaf, callers = lines
            # Without time, period and event, headers of one thread are all alike.
            parts = head.rsplit(None, 3)
            known = None
            if (
                len(parts) == 4
                and parts[3] in self._tokens
                and parts[2].isdigit()
                and len(parts[2]) <= MOST_DIGITS
            ):
                known = threads.get(parts[0]) if parts[1][-1:] == b":" else None
                if known is None:
                    known = self._known_thread(parts[0], head)
            if known is None:
                self._count_slowly(samples, index)
                slow += 1
                continue
            comm, memory = known
            folded_callers = memory.callers.get(hash(callers))
            if folded_callers is None:
                folded_callers = memory.chain(callers)
            folded_leaf = memory.lines.get(leaf)
            if folded_leaf is None:
                folded_leaf = memory.line(leaf)
            if folded_leaf is None or folded_callers is None:
                self._count_slowly(samples, index)
                slow += 1
                continue
            key = (comm, folded_callers, folded_leaf)
            counts[key] = counts.get(key, 0) + (int(parts[2]) or 1)
        self.result.samples += len(samples) - slow

    def _known_thread(self, thread: bytes, head: bytes) -> tuple[bytes, _Memory] | None:
        """Comm, and where its text is remembered; ``None`` for a header to look at closely."""
        comm = command_of_usual(head) if len(head) <= self._most.line_bytes else None
        if comm is None:
            return None
        if len(self._threads) >= MOST_THREADS:
            self._threads.clear()
        known = self._threads[thread] = (
            comm,
            self._java if comm.startswith(b"java") else self._plain,
        )
        return known

    def _expect(self, event: bytes) -> None:
        self._has_event = True
        self.result.event = one_name(event)

    def _from_first_sample(self, text: bytes) -> bytes:
        """*text* without the whole lines before its first sample, which tells what ends each."""
        begun = 0
        while True:
            # Millions of comments take no longer than other text.
            after = _SAYS_NOTHING.match(text, begun).end()  # type: ignore[union-attr]
            self._lines += text.count(b"\n", begun, after)
            begun = after
            ended = text.find(b"\n", begun)
            if ended < 0:
                break
            line = text[begun:ended]
            header = header_of(line)
            if one_line_sample(line):
                self._end = LINE_END
                break
            if header is not None and header.begins_sample:
                self._end = SAMPLE_END
                break
            self._count_slowly([line], 0)
            self._lines += 1
            begun = ended + 1
        return text[begun:]

    def _count_slowly(self, samples: Sequence[bytes], index: int) -> None:
        """Line by line, for samples that the fast way does not recognise."""
        open_sample = _OpenSample()
        for number, line in enumerate(samples[index].split(b"\n")):
            if not line or line.startswith(b"#"):
                continue
            try:
                if self._strict and len(line) > self._most.line_bytes:
                    raise _Wrong(f"{len(line)} characters in one line")
                self._take_line(line, open_sample)
            except _Wrong as wrong:
                line_number = self._line_of(samples, index, number)
                if self._strict or not wrong.is_left_out:
                    raise self._refusal(f":{line_number}", str(wrong)) from None
                self._leave_out(line, line_number)
        self._close(open_sample)

    def _take_line(self, line: bytes, open_sample: _OpenSample) -> None:
        """One line of a sample, or between two. Raises _Wrong for what is neither of both."""
        alone = one_line_sample(line)
        if alone:
            self._count_line(*alone)
            return
        header = header_of(line)
        if header is not None and header.begins_sample:
            self._begin(header, line, open_sample)
        elif _may_be_frame(line):
            frame = self._frame(line, open_sample.command)
            if not open_sample.is_left_out:
                open_sample.frames.append(frame)
        else:
            # Frames behind it are not those of the sample before.
            self._close(open_sample)
            open_sample.is_left_out = True
            raise _left_out(_why_no_sample(line))

    def _begin(self, header: Header, line: bytes, open_sample: _OpenSample) -> None:
        """Begin a sample, or what is left out with its frames."""
        try:
            period = self._period(header, line)
        except _Wrong:
            self._close(open_sample)
            open_sample.is_left_out = True
            raise
        if period is None:
            self._close(open_sample)
            open_sample.is_left_out = True
        else:
            # Where no empty line ends the sample before, its frames are still its own.
            self._close(open_sample)
            open_sample.command, open_sample.period = header.command, period
            open_sample.is_left_out = False

    def _close(self, open_sample: _OpenSample) -> None:
        """Count a sample whose last line came."""
        frames = open_sample.frames
        if open_sample.command:
            leaf = frames[0] if frames else b""
            callers = b"".join(reversed(frames[1:]))
            self._add(open_sample.command, callers, leaf, open_sample.period)
        open_sample.command, open_sample.frames = b"", []

    def _leave_out(self, line: bytes, number: int) -> None:
        self.result.unrecognised += 1
        if not self.result.first_unrecognised:
            self.result.first_unrecognised = f"line {number}: {_quoted(line)}"

    def _count_line(self, head: bytes, frame: bytes) -> None:
        """A sample of one line, which has no callers."""
        address, _, file = frame.partition(b" ")
        if file.startswith(b"("):
            # An address without a symbol, as a line of its own has it.
            frame = b"\t%b %b" % (address.rjust(ADDRESS_WIDTH), file)
        header = header_of(head)
        period = self._period(header, head) if header else None
        if header is not None and period is not None:
            self._add(header.command, b"", self._frame(frame, header.command), period)

    def _add(self, comm: bytes, callers: bytes, leaf: bytes, period: int) -> None:
        key = (comm, callers, leaf)
        self.result.counts[key] = self.result.counts.get(key, 0) + period
        self.result.samples += 1

    def _period(self, header: Header, line: bytes) -> int | None:
        """What the sample counts; ``None`` if its event is not the one.

        Raises _Wrong where it has another form than the samples before.
        """
        digits, event = header.digits, header.event
        if not self._chosen and not self._has_event:
            self._expect(event)
        if self._is_ours(event):
            return self._counted(digits, event, line)
        if not event:
            ours = self.result.event.decode(errors="replace")
            raise _left_out(f"no event is read here, after {ours}: {_quoted(line)}")
        if self._strict and not self._chosen:
            ours, other = (name.decode(errors="replace") for name in (self.result.event, event))
            raise _Wrong(f"a second event, {other}, after {ours or 'some without'}: choose one")
        self.result.other_events += 1
        return None

    def _counted(self, digits: bytes, event: bytes, line: bytes) -> int:
        """The period of a sample of our event, 1 where none is printed or it is 0."""
        if len(digits) > MOST_DIGITS:
            raise _Wrong(f"a period of {len(digits)} digits")
        if self._has_period is None:
            self._has_period = bool(digits)
        if self._has_period != bool(digits):
            before = "a" if self._has_period else "no"
            raise _left_out(f"the samples before have {before} period: {_quoted(line)}")
        if event and len(self._tokens) < MOST_SPELLINGS:
            # The fast way reads periods, so that it is for text that has some.
            if self._has_period:
                self._tokens.add(event + b":")
            self.result.events.add(one_name(event))
        return int(digits or 1) or 1

    def _is_ours(self, event: bytes) -> bool:
        ours, other = self.result.event, one_name(event)
        if other == ours or self._strict or self._chosen:
            return other == ours
        return without_privilege(other) == without_privilege(ours)

    def _frame(self, line: bytes, comm: bytes) -> bytes:
        """The line's frames folded; nothing in a sample that is left out."""
        folded = folded_line(line, java=comm.startswith(b"java"), as_peer=self._as_peer)
        if folded is not None:
            return folded if comm else b""
        raise _left_out(f"neither a sample nor a frame: {_quoted(line)}")

    def _line_of(self, samples: Sequence[bytes], index: int, number: int) -> int:
        end = len(self._end or SAMPLE_END)
        before = sum(sample.count(b"\n") + end for sample in samples[:index])
        return self._lines + before + number + 1

    def _refusal(self, location: str, reason: str) -> InvalidInput:
        return InvalidInput(
            f"{self._name}{location}: {reason}",
            hint="This reads what `perf script` prints. Nothing was stored.",
        )


def _quoted(line: bytes) -> str:
    return repr(line[:60].decode(errors="replace"))


def _left_out(why: str) -> _Wrong:
    return _Wrong(why, is_left_out=True)


def _may_be_frame(line: bytes) -> bool:
    """Whether a line that is no header belongs to a sample: a frame, or rubbish in one."""
    if line[:1] in _INDENTS:
        return True
    if record_of(line):
        return False
    return folded_line(line, java=False) is not None or command_of(line) is None


def _why_no_sample(line: bytes) -> str:
    record = record_of(line).decode()
    if record:
        return f"{record} is no sample: print the recording without `--show-…`"
    return f"neither a sample nor a frame: {_quoted(line)}"
