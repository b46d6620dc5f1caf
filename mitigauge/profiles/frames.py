"""One line of a call chain as names, as stackcollapse-perf.pl spells them. Pure.

The same spelling makes our counts comparable with every folded file there is:
offsets, arguments and quotes go, a semicolon would divide frames and becomes a
colon, an address without a symbol is named after its module, and functions that
were inlined, printed as ``caller->callee``, are frames of their own.
"""

from __future__ import annotations

import re

FRAME = re.compile(rb"\s*(\w+)\s*(.+) \((.*)\)")
_OFFSET = re.compile(rb"\+0x[\da-f]+$")
# What follows the first bracket is an argument list; Go's methods and C++'s unnamed
# namespaces are names all the same.
_ARGUMENTS = re.compile(rb"\((?!anonymous namespace\)).*")
_GO_METHOD = re.compile(rb"\.\(.*\)\.")
_QUOTES = b"\"'"


def folded_line(line: bytes, *, java: bool) -> bytes | None:
    """A call-chain line as ``;caller;inlined…``, empty if it names nothing.

    ``None`` if it is no such line.
    """
    found = FRAME.match(line)
    if found is None:
        return None
    _, symbol, module = found.groups()
    symbol = _OFFSET.sub(b"", symbol)
    if symbol.startswith(b"("):
        return b""
    names = symbol.split(b"->")
    while names and not names[-1]:
        names.pop()
    frames = [_tidy(name, module, java=java) for name in names]
    return b"".join(b";" + frame for frame in frames[:1] + [_inlined(f) for f in frames[1:]])


def _tidy(name: bytes, module: bytes, *, java: bool) -> bytes:
    if name == b"[unknown]":
        known = module != b"[unknown]"
        name = b"[%b]" % (module.rpartition(b"/")[2] if known else b"unknown")
    name = name.replace(b";", b":")
    if not _GO_METHOD.search(name):
        name = _ARGUMENTS.sub(b"", name, count=1)
    name = name.translate(None, _QUOTES)
    if java and b"/" in name:
        name = name.removeprefix(b"L")
    return name


def _inlined(frame: bytes) -> bytes:
    return frame if b"_[i]" in frame else frame + b"_[i]"
