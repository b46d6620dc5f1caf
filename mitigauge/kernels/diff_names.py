"""The two names in a diff's heads, and whether a folder before them is none of the tree's. Pure."""

from __future__ import annotations

import re

NOTHING = "/dev/null"
# What stands at the top of every kernel's tree, by which a name without a/ or b/ is known.
_FOLDERS = re.compile(
    r"Documentation|LICENSES|arch|block|certs|crypto|drivers|firmware|fs|include|init|io_uring|ipc"
    r"|kernel|lib|mm|net|rust|samples|scripts|security|sound|tools|usr|virt"
)
_FILES = re.compile(r"COPYING|CREDITS|Kbuild|Kconfig|MAINTAINERS|Makefile|README|\..*")
# What editors and people call the file as it was before.
_BEFORE = (".orig", ".old", ".bak", "~")
_ESCAPE = re.compile(r"\\(?:([0-7]{3})|(.))|([^\\]+)", re.DOTALL)
_ESCAPED = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}
_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[^" ]+')


class OddNames(ValueError):
    """Why two names say no file, or no one place in the tree."""


def unquoted(name: str) -> str:
    """A name as git quotes it, or as it is. Raises OddNames."""
    if not name.startswith('"'):
        return name
    if len(name) < 2 or not name.endswith('"'):
        raise OddNames("a quote is not closed")
    parts = bytearray()
    for octal, escaped, plain in _ESCAPE.findall(name[1:-1]):
        if octal or escaped in _ESCAPED:
            parts.append(int(octal, 8) & 255 if octal else _ESCAPED[escaped])
        elif escaped:
            raise OddNames(f"\\{escaped} is no escape of git's")
        else:
            parts += plain.encode(errors="surrogatepass")
    try:
        return parts.decode()
    except UnicodeDecodeError:
        raise OddNames("it is not UTF-8") from None


def two_names(both: str, moved: tuple[str, str] | None) -> tuple[str, str] | None:
    """The names behind ``diff --git``, as they stand; None where they cannot be told apart.

    *moved*: what its other heads say that it was and is called.
    """
    if '"' in both:
        words = _WORD.findall(both)
        return (words[0], words[1]) if len(words) == 2 and " ".join(words) == both else None
    half = len(both) // 2
    old, new = both[:half], both[half + 1 :]
    is_halves = both[half : half + 1] == " "
    if is_halves and (old == new or (_below(old) and _below(old) == _below(new))):
        return old, new
    if both.count(" ") == 1:
        old, _, new = both.partition(" ")
        return old, new
    if moved is None:
        return None
    found = re.fullmatch(
        rf"((?:[^/ ]+/)?{re.escape(moved[0])}) ((?:[^/ ]+/)?{re.escape(moved[1])})", both
    )
    return (found[1], found[2]) if found else None


def folders_before(old: str, new: str, moved: tuple[str, str] | None = None) -> int:
    """How many folders before both names are none of the tree's: 1 as with a/ and b/, or 0.

    Raises OddNames where that cannot be told: a name that is taken for another would be another
    file's.
    """
    if moved is not None:
        if (old, new) == moved:
            return 0
        if (_below(old), _below(new)) == moved:
            return 1
        raise OddNames("other heads name other files")
    if NOTHING in (old, new):
        name = new if old == NOTHING else old
        return 0 if _is_at_top(name) else _require_folder(name)
    if old == new:
        if _is_at_top(old):
            return 0
        if old.startswith("linux") and "/" in old:
            return 1
        _require_folder(old)
        raise OddNames("both names are the same, without a/ and b/, and no file of a kernel's")
    below = _below(old)
    if not below or below != _below(new):
        raise OddNames("its heads name two files")
    if not _is_at_top(below) and (_is_at_top(old) or _is_at_top(new)):
        raise OddNames("its heads name two files, without a/ and b/")
    return 1


def without_backup(old: str, new: str) -> str:
    """*old*, or *new* where *old* is called as it was before."""
    return new if any(old == new + end for end in _BEFORE) else old


def _below(name: str) -> str:
    return name.partition("/")[2]


def _require_folder(name: str) -> int:
    if "/" not in name:
        raise OddNames("a name without the folder that -p1 takes off")
    return 1


def _is_at_top(name: str) -> bool:
    first, slash, _ = name.partition("/")
    return (_FOLDERS if slash else _FILES).fullmatch(first) is not None
