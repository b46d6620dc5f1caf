"""One line of a call chain as names, as stackcollapse-perf.pl spells them. Pure.

The same spelling makes our counts comparable with every folded file there is:
offsets, arguments and quotes go, a semicolon would divide frames and becomes a
colon, an address without a symbol is named after its module, and functions that
were inlined, printed as ``caller->callee``, are frames of their own.
"""

from __future__ import annotations

import re

_ADDRESS = re.compile(rb"\s*+(\w++)(\s*+)")
_OFFSET = re.compile(rb"\+0x[\da-f]+$")
# What follows the first bracket is an argument list; Go's methods and C++'s unnamed
# namespaces are names all the same.
_ARGUMENTS = re.compile(rb"\((?!anonymous namespace\)).*")
_QUOTES = b"\"'"


def folded_line(line: bytes, *, java: bool) -> bytes | None:
    """A call-chain line as ``;caller;inlined…``, empty if it names nothing.

    ``None`` if it is no such line.
    """
    found = _parts(line)
    if found is None:
        return None
    symbol, module = found
    symbol = _OFFSET.sub(b"", symbol)
    if symbol.startswith(b"("):
        return b""
    names = symbol.split(b"->")
    while names and not names[-1]:
        names.pop()
    frames = [_tidy(name, module, java=java) for name in names]
    return b"".join(b";" + frame for frame in frames[:1] + [_inlined(f) for f in frames[1:]])


def _parts(line: bytes) -> tuple[bytes, bytes] | None:
    """Symbol and module, as ``\\s*(\\w+)\\s*(.+) \\((.*)\\)`` gives them.

    By hand, since that expression takes a time that grows with the cube of a line's length.
    """
    address = _ADDRESS.match(line)
    close = line.rfind(b")")
    if address is None or close < 0:
        return None
    begun, ended = address.end(1), address.end(2)
    # The last bracket that opens after a space and is closed; before it, a symbol.
    opened = line.rfind(b" (", 0, close)
    # Where nothing is left for a symbol, the address gives up its last character.
    start = min(ended, opened - 1)
    if start < begun and start <= address.start(1):
        return None
    return line[start:opened], line[opened + 2 : close]


def _is_go_method(name: bytes) -> bool:
    """Whether it has a receiver in brackets between dots."""
    opened = name.find(b".(")
    return opened >= 0 and name.rfind(b").", opened + 2) >= 0


def _tidy(name: bytes, module: bytes, *, java: bool) -> bytes:
    if name == b"[unknown]":
        known = module != b"[unknown]"
        name = b"[%b]" % (module.rpartition(b"/")[2] if known else b"unknown")
    name = name.replace(b";", b":")
    if not _is_go_method(name):
        name = _ARGUMENTS.sub(b"", name, count=1)
    name = name.translate(None, _QUOTES)
    if java and b"/" in name:
        name = name.removeprefix(b"L")
    return name


def _inlined(frame: bytes) -> bytes:
    return frame if b"_[i]" in frame else frame + b"_[i]"
