"""One line of a call chain as names, as stackcollapse-perf.pl spells them. Pure.

The same spelling makes our counts comparable with every folded file there is:
offsets, arguments and quotes go, a semicolon would divide frames and becomes a
colon, an address without a symbol is named after its module, and functions that
were inlined, printed as ``caller->callee``, are frames of their own.
"""

from __future__ import annotations

import re

_ADDRESS = re.compile(rb"(?:0x)?[0-9a-fA-F]{1,16}")
# Too long for a function's name: an address without one.
_BARE_ADDRESS = re.compile(rb"(?:0x)?[0-9a-f]{8,16}")
_INDENTS = (b" ", b"\t")
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


def is_address(word: bytes) -> bool:
    """Whether it is a number as perf prints addresses."""
    return _ADDRESS.fullmatch(word) is not None


def _parts(line: bytes) -> tuple[bytes, bytes] | None:
    """Symbol and module, with an address before them, or without where none was printed.

    By hand: an expression takes a time that grows with the cube of a line's length.
    """
    close = line.rfind(b")")
    # The last bracket that opens after a space and is closed; before it, a symbol.
    opened = line.rfind(b" (", 0, close) if close >= 0 else -1
    words = line[: max(0, opened)].lstrip()
    if not words:
        return None
    module = line[opened + 2 : close]
    address, *symbol = words.split(None, 1)
    if is_address(address) and symbol:
        return symbol[0], module
    if _BARE_ADDRESS.fullmatch(words):
        return b"[unknown]", module
    # Printed without addresses (`-F` without ip): all of it is the symbol.
    return (words, module) if line[:1] in _INDENTS else None


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
