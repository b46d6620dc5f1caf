"""The diff that stands in a text, without the words around it, as `git apply -p1` takes it.

A diff without a/ and b/ before its names is given them. Pure, and linear in the text's length. The
same fix has the same bytes thereby, whatever greeting, signature or mail it comes with. What looks
like a diff and cannot be taken is an error by name: nothing is built without it in silence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mitigauge.core.errors import InvalidInput
from mitigauge.core.hostile_text import clean_text
from mitigauge.kernels.diff_names import (
    NOTHING,
    OddNames,
    folders_before,
    two_names,
    unquoted,
    without_backup,
)

LONGEST_PATH = 4096
# Of a text with a diff, and characters of the words before one.
MOST_LINES = 200_000
LONGEST_WORDS = 1 << 20
REGULAR = ("100644", "100755")
KINDS = {0o120000: "a symbolic link", 0o160000: "a submodule", 0o040000: "a directory"}
_GIT = re.compile(r"diff --git (\S.*)")
_MODE = re.compile(r"(?:old mode|new mode|new file mode|deleted file mode) (.*)")
_INDEX = re.compile(r"index [0-9a-f]{4,64}\.\.[0-9a-f]{1,64}(?: (.*))?")
_SHORT_INDEX = re.compile(r"index \S{1,64}\.\.\S{1,64}(?: (.*))?")
_LIKE = re.compile(r"(?:similarity|dissimilarity) index \d{1,3}%")
_MOVE = re.compile(r"(?:rename|copy) (from|to) (.+)")
_HEAD = re.compile(
    r"(?:index|old mode|new mode|new file mode|deleted file mode|similarity index"
    r"|dissimilarity index|rename from|rename to|copy from|copy to) "
)
_BINARY = re.compile(r"GIT binary patch$|Binary files .* differ$")
_HUNK = re.compile(r"@@ -\d{1,9}(?:,(?P<old>\d{1,9}))? \+\d{1,9}(?:,(?P<new>\d{1,9}))? @@")
# A moment behind a file's name, as `diff -u` writes it; without a tab where a program took it.
# From the first of several blanks on alone: else a line of blanks takes the square of its length.
_MOMENT = re.compile(
    r"(?<!\s)\s++(?:\d{4}-\d\d-\d\d \d\d:\d\d.*|[A-Z][a-z]{2} [A-Z][a-z]{2} ++\d.*)$"
)
# What was meant to be a diff, where it was not taken.
_MEANT = re.compile(r"@@ -\d+(?:,\d+)? \+\d|diff --(?:git|cc|combined) |\*{15}$|@@@+ -\d")
_CONTROL = re.compile(r"[\0-\x1f\x7f]")
_HINT = "Mail programs wrap lines: attach the diff, or send it by `git send-email`."


@dataclass(frozen=True, slots=True)
class Diff:
    """All files' diffs of a text, joined. *paths*: what they name below the tree.

    *begins*: the number of characters before the first of them.
    """

    text: str
    paths: tuple[str, ...]
    begins: int


class _Taker:
    """Goes over the lines of one text."""

    def __init__(self, lines: Sequence[str], name: str) -> None:
        self.lines = lines
        self.name = name
        self.paths: list[str] = []
        self.first = -1
        self.folders: int | None = None
        # Lines with a/ and b/ that stood there without.
        self.prefixed: dict[int, str] = {}

    def taken(self) -> Iterator[str]:
        """The lines of the diff. Raises InvalidInput."""
        at = 0
        while at < len(self.lines):
            end = self._past_heads(at)
            if end == at:
                self._require_meaningless(at)
                at += 1
                continue
            self.first = at if self.first < 0 else self.first
            yield from (self.prefixed.get(place, self.lines[place]) for place in range(at, end))
            at = end
            while hunk := self._hunk(at):
                end = self._past_hunk(at, hunk)
                # Programs take the blank off an empty line of context.
                yield from (line or " " for line in self.lines[at:end])
                at = end

    def _line(self, at: int) -> str:
        return self.lines[at] if at < len(self.lines) else ""

    def _hunk(self, at: int) -> re.Match[str] | None:
        return _HUNK.match(self._line(at))

    def _past_heads(self, at: int) -> int:
        """Past the heads of one file's diff; *at* itself where none begins."""
        git = _GIT.fullmatch(self.lines[at])
        if git is None:
            names = self._names(at)
            if names is None or not self._hunk(at + 2):
                return at
            self._take(at, names, None, at)
            return at + 2
        begin, moved = at, {}
        at += 1
        while _HEAD.match(self._line(at)):
            moved.update(self._moved(self._line(at)))
            at += 1
        if _BINARY.match(self._line(at)):
            raise InvalidInput(f"{self.name} has a binary diff", hint="A kernel's patch is text.")
        names = self._names(at)
        if names is None and at == begin + 1:
            # A file's name alone, as words quote it.
            return begin
        both = (moved["from"], moved["to"]) if len(moved) == 2 else None
        self._take_git(begin, git[1], names, both, at)
        return at if names is None else at + 2

    def _moved(self, line: str) -> dict[str, str]:
        """One line between `diff --git` and the hunks: what it says of a file's names."""
        mode, moved = _MODE.fullmatch(line), _MOVE.fullmatch(line)
        index = _INDEX.fullmatch(line) or _SHORT_INDEX.fullmatch(line)
        if moved:
            name = self._unquoted(moved[2])
            self._take_path(name, moved[2])
            return {moved[1]: name}
        if mode or index:
            found = mode or index
            assert found
            if found[1] is not None:
                self._require_regular(found[1])
        elif not _LIKE.fullmatch(line):
            raise InvalidInput(f"{self.name}: {_quoted(line)} is no head of a diff", hint=_HINT)
        return {}

    def _require_regular(self, mode: str) -> None:
        """Raises InvalidInput for all but regular files, however the mode is written."""
        if mode in REGULAR:
            return
        octal = re.fullmatch(r"[ +]*([0-7]{1,30})\s*", mode)
        number = int(octal[1], 8) % (1 << 64) if octal else 0
        kind = KINDS.get(number, f"the mode {_quoted(mode)}")
        raise InvalidInput(f"{self.name} has {kind}", hint="Only regular files may be changed.")

    def _names(self, at: int) -> tuple[str, str] | None:
        """Both names of ``---`` and ``+++``, as they stand; None where there are none."""
        old, new = self._line(at), self._line(at + 1)
        if not old.startswith("--- ") or not new.startswith("+++ "):
            return None
        first, second = (
            _MOMENT.sub("", line[4:].split("\t", 1)[0]).rstrip() for line in (old, new)
        )
        return first, second

    def _take_git(
        self,
        begin: int,
        both: str,
        names: tuple[str, str] | None,
        moved: tuple[str, str] | None,
        at: int,
    ) -> None:
        """The names of ``diff --git`` in line *begin*, and those of ``---`` in line *at*."""
        own = two_names(both, moved)
        if own is None and (names is None or NOTHING in names or " ".join(names) != both):
            raise InvalidInput(
                f"{self.name}: the names in {_quoted('diff --git ' + both)} cannot be told apart",
                hint="Give a file of `git format-patch`.",
            )
        self._take(begin, own or names or ("", ""), moved, None)
        if names is not None:
            self._take(at, names, moved, at)

    def _take(
        self, line: int, names: tuple[str, str], moved: tuple[str, str] | None, at: int | None
    ) -> None:
        """Take both names of a line, or of the two lines from *at*."""
        old, new = map(self._unquoted, names)
        if at is not None and moved is None:
            old = without_backup(old, new)
        try:
            folders = folders_before(
                old, new, moved if moved and NOTHING not in (old, new) else None
            )
        except OddNames as error:
            raise InvalidInput(
                f"{self.name} touches {_quoted(names[1])}: {error}",
                hint="Make it by `git format-patch`, or by `diff -u` from above the tree.",
            ) from error
        self._require_alike(folders, names[1])
        for name, whole in zip((old, new), names, strict=True):
            if name != NOTHING:
                self._take_path(name.partition("/")[2] if folders else name, whole)
        if not folders and at is None:
            self.prefixed[line] = f"diff --git {_with('a/', names[0])} {_with('b/', names[1])}"
        elif at is not None and (not folders or old != self._unquoted(names[0])):
            self._prefix_both(at, names, "" if folders else "a/", new)

    def _require_alike(self, folders: int, name: str) -> None:
        """Raises InvalidInput where some names of a text have a/ and b/ and others have not."""
        if self.folders not in (None, folders):
            raise InvalidInput(
                f"{self.name} touches {_quoted(name)}, with other folders before its names than "
                f"those above: some have a/ and b/, and some have not",
                hint="Give each as a patch of its own, of `git format-patch`.",
            )
        self.folders = folders

    def _prefix_both(self, at: int, names: tuple[str, str], prefix: str, new: str) -> None:
        """Give the lines of ``---`` and ``+++`` their a/ and b/, and the name of the file."""
        first = names[1] if without_backup(self._unquoted(names[0]), new) == new else names[0]
        for place, mark, name in ((at, "---", first), (at + 1, "+++", names[1])):
            own = ("b/" if mark == "+++" else "a/") if prefix else ""
            shown = name if name == NOTHING else _with(own, name)
            # What follows a tab is no name, even where the name has a blank.
            self.prefixed[place] = f"{mark} {shown}" + ("\t" if " " in name else "")

    def _unquoted(self, name: str) -> str:
        try:
            return unquoted(name)
        except OddNames as error:
            raise InvalidInput(
                f"{self.name} touches {_quoted(name)}: {error}",
                hint="A patch stays below the source tree.",
            ) from error

    def _take_path(self, below: str, whole: str) -> None:
        parts = below.split("/")
        reaches_out = whole.startswith(("/", "~")) or {"..", ".", ".git", ""} & set(parts)
        # What git would have quoted, and what would be read as another line.
        odd = ('"' in below and not whole.startswith('"')) or clean_text(below) != below
        odd = odd or _CONTROL.search(below) is not None
        if reaches_out or odd or len(whole) > LONGEST_PATH or clean_text(whole) != whole:
            self._refuse_path(below)
        self.paths.append(below)

    def _refuse_path(self, path: str) -> None:
        raise InvalidInput(
            f"{self.name} touches {_quoted(path)}", hint="A patch stays below the source tree."
        )

    def _past_hunk(self, at: int, hunk: re.Match[str]) -> int:
        """Past a hunk's last line, by the counts in its head."""
        old, new = int(hunk["old"] or 1), int(hunk["new"] or 1)
        name = f"{self.name}: the hunk {_quoted(self.lines[at])}"
        at += 1
        begin = at
        while old > 0 or new > 0:
            kind = (self.lines[at][:1] or " ") if at < len(self.lines) else ""
            if kind not in (" ", "-", "+", "\\") or not kind:
                raise InvalidInput(f"{name} is cut off or damaged", hint=_HINT)
            old -= kind in " -"
            new -= kind in " +"
            at += 1
        if old < 0 or new < 0:
            raise InvalidInput(f"{name} has other lines than it says", hint=_HINT)
        if not any(line.startswith(("-", "+")) for line in self.lines[begin:at]):
            raise InvalidInput(f"{name} changes nothing", hint=_HINT)
        return at + 1 if self._line(at).startswith("\\ ") else at

    def _require_meaningless(self, at: int) -> None:
        """Raises InvalidInput for a line that is of a diff, and that no diff took."""
        line = self.lines[at]
        if _BINARY.match(line):
            raise InvalidInput(f"{self.name} has a binary diff", hint="A kernel's patch is text.")
        if _MEANT.match(line):
            raise InvalidInput(
                f"{self.name}: {_quoted(line)} (line {at + 1}) "
                "belongs to no diff that is read here",
                hint="Unified diffs are: `git format-patch`, `git diff`, `diff -u`. " + _HINT,
            )


def diff_in(text: str, name: str = "the diff") -> Diff:
    """All files' diffs in *text*; no text where there is none. *name* is what errors call it.

    Quoted lines are no diff. Raises InvalidInput for a hunk that is not as long as it says, for
    anything but text in regular files below the tree, and for what no diff took.
    """
    if text.count("\n") > MOST_LINES:
        raise InvalidInput(
            f"{name} has more than {MOST_LINES:,} lines", hint="Give a patch of the kernel."
        )
    lines = text.removesuffix("\n").split("\n")
    taker = _Taker(lines, name)
    found = "".join(f"{line}\n" for line in taker.taken())
    begins = sum(len(line) + 1 for line in lines[: taker.first]) if found else len(text)
    return Diff(found, tuple(sorted(set(taker.paths))), begins)


def words_before(text: str) -> str:
    """What stands before the first diff in *text*, up to 1 Mi characters."""
    try:
        return text[: min(diff_in(text).begins, LONGEST_WORDS)]
    except InvalidInput:
        return text[:LONGEST_WORDS].split("\ndiff --git ", 1)[0]


def _with(prefix: str, name: str) -> str:
    """A name, quoted or not, below a folder."""
    return f'"{prefix}{name[1:]}' if name.startswith('"') else prefix + name


def _quoted(text: str) -> str:
    return repr(clean_text(text[:60]))
