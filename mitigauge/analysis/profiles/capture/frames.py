"""One line of a call chain as names, as stackcollapse-perf.pl spells them. Pure.

The same spelling makes our counts comparable with every folded file there is:
offsets, arguments and quotes go, a semicolon would divide frames and becomes a
colon, an address without a symbol is named after its file, and functions that
were inlined, printed as ``caller->callee``, are frames of their own. Unlike there, a
file's name may have brackets, as the kernel writes ``PATH (deleted)``.
"""

from __future__ import annotations

import re

_ADDRESS = re.compile(rb"(?:0x)?[0-9a-fA-F]{1,16}")
# Too long for a function's name: an address without one.
_BARE_ADDRESS = re.compile(rb"(?:0x)?[0-9a-f]{8,16}")
_INDENTS = (b" ", b"\t")
_OFFSET = re.compile(rb"\+0x[\da-f]+$")
# Where a symbol is known, its offset ends it, whatever brackets follow.
_OFFSET_BEFORE_FILE = re.compile(rb"\+0x[\da-f]++ \(")
_BRACKET = re.compile(rb"[()]")
# How a file begins: a path, or the kernel's and the processor's own, as `[vdso]`.
_FILE_BEGINS = (b"/", b"[")
# perf fills addresses up to this many characters behind a tab.
ADDRESS_WIDTH = 16
_UNKNOWN = b"[unknown]"
# What follows the first bracket is an argument list; Go's methods and C++'s unnamed
# namespaces are names all the same.
_ARGUMENTS = re.compile(rb"\((?!anonymous namespace\)).*")
_QUOTES = b"\"'"


def folded_line(line: bytes, *, java: bool, as_peer: bool = False) -> bytes | None:
    """A call-chain line as ``;caller;inlined…``, empty if it names nothing.

    *as_peer*: an address without a symbol, where a blank stands for the symbol, has a blank for its
    name, as stackcollapse-perf.pl writes it. ``None`` if it is no such line.
    """
    parts = _parts(line)
    if parts is None:
        return None
    symbol, file = parts
    if not symbol:
        return b"; " if as_peer else b";" + _tidy(_UNKNOWN, file, java=java)
    symbol = _OFFSET.sub(b"", symbol)
    if symbol.startswith(b"("):
        return b""
    names = symbol.split(b"->")
    while names and not names[-1]:
        names.pop()
    frames = [_tidy(name, file, java=java) for name in names]
    return b"".join(b";" + frame for frame in frames[:1] + [_inlined(f) for f in frames[1:]])


def is_address(word: bytes) -> bool:
    """Whether it is a number as perf prints addresses."""
    return _ADDRESS.fullmatch(word) is not None


def _parts(line: bytes) -> tuple[bytes, bytes] | None:
    """Symbol and file, with an address before them, or without where none was printed.

    The symbol is empty where blanks stand in its place. By hand: an expression takes a time that
    grows with the cube of a line's length.
    """
    close = line.rfind(b")")
    opened = _file_begins(line, close) if close >= 0 else -1
    before = line[: max(0, opened)]
    words = before.lstrip()
    if not words:
        return None
    file = line[opened + 2 : close]
    address, *symbol = words.split(None, 1)
    if is_address(address) and symbol:
        return symbol[0], file
    if is_address(address) and before.endswith(b" "):
        return b"", file
    if _BARE_ADDRESS.fullmatch(words.strip()) or _is_filled_up(before):
        return _UNKNOWN, file
    # Printed without addresses (`-F` without ip): all of it is the symbol.
    return (words, file) if line[:1] in _INDENTS else None


def _is_filled_up(before: bytes) -> bool:
    """Whether it is an address alone as perf prints it: to the right, in a column of its own."""
    return before[:1] == b"\t" and len(before) == 1 + ADDRESS_WIDTH and is_address(before.strip())


def _file_begins(line: bytes, close: int) -> int:
    """Where the bracket of the file that ends at *close* opens, a blank before it; or -1."""
    known = _OFFSET_BEFORE_FILE.search(line, 0, close)
    if known is not None:
        return known.end() - 2
    last = line.rfind(b" (", 0, close)
    if last < 0 or (line.find(b")", last, close) < 0 and line.startswith(_FILE_BEGINS, last + 2)):
        return last
    paired = _paired(line, close)
    if paired >= 0 and line.startswith(_FILE_BEGINS, paired + 2):
        return paired
    # A path with one bracket alone: no symbol has a slash behind a blank and a bracket.
    first = [at for at in (line.find(b" (/", 0, close), line.find(b" ([", 0, close)) if at >= 0]
    return min(first, default=paired if paired >= 0 else last)


def _paired(line: bytes, close: int) -> int:
    """The blank before the bracket that the one at *close* closes; -1 where there is none."""
    opened: list[int] = []
    for bracket in _BRACKET.finditer(line, 0, close):
        if bracket[0] == b"(":
            opened.append(bracket.start())
        elif opened:
            opened.pop()
    at = opened[-1] - 1 if opened else -1
    return at if at >= 0 and line[at : at + 1] == b" " else -1


def _is_go_method(name: bytes) -> bool:
    """Whether it has a receiver in brackets between dots."""
    opened = name.find(b".(")
    return opened >= 0 and name.rfind(b").", opened + 2) >= 0


def _tidy(name: bytes, file: bytes, *, java: bool) -> bytes:
    if name == _UNKNOWN:
        # Brackets in a file's name are no arguments.
        known = file != _UNKNOWN
        name = b"[%b]" % (_OFFSET.sub(b"", file.rpartition(b"/")[2]) if known else b"unknown")
        return name.replace(b";", b":").translate(None, _QUOTES)
    name = name.replace(b";", b":")
    if not _is_go_method(name):
        name = _ARGUMENTS.sub(b"", name, count=1)
    name = name.translate(None, _QUOTES)
    if java and b"/" in name:
        name = name.removeprefix(b"L")
    return name


def _inlined(frame: bytes) -> bytes:
    return frame if b"_[i]" in frame else frame + b"_[i]"
