"""YAML with line numbers, so that an error can say where it is, and with limits.

Files are read as YAML 1.2's core schema: ``off`` is a word there, not a truth value, and a
date is a text. What could make a small file large, or a value something else than it seems,
is refused: anchors, aliases, merge keys, tags, directives, further documents, numbers that
are not finite, characters that cannot be seen. The limits hold while the text is read, so a
refusal costs no more than what is within them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, NoReturn

import yaml

from mitigauge.core.errors import InvalidInput
from mitigauge.core.hostile_text import HOSTILE, clean_text, quoted

Path = Sequence[str | int]

MAX_BYTES = 256 << 10
MAX_DEPTH = 20
MAX_NODES = 50_000
MAX_TEXT = 10_000
MAX_KEY = 200
MAX_NUMBER = 40
_MAX_NAME = 200

_NULL = {"", "~", "null", "Null", "NULL"}
_TRUTH = {
    word: word.lower() == "true" for word in ("true", "True", "TRUE", "false", "False", "FALSE")
}
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", re.ASCII)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII)
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
# Line ends for YAML 1.1 only, a byte-order mark inside a text, and what is no character.
_UNSEEN = re.compile(r"[\u2028\u2029\ufeff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """A parsed document that remembers its name and where each node stood."""

    name: str
    data: dict[str, Any]
    lines: Mapping[int, Mapping[str | int, int]] = field(repr=False)

    def where(self, path: Path) -> str:
        """``file:line`` of the node at *path*, or of its nearest parent that exists."""
        return f"{self.name}:{self.line(path)}"

    def line(self, path: Path) -> int:
        """Line number (from 1) of the node at *path*; parts that lead nowhere are skipped."""
        node: Any = self.data
        line = 1
        for key in path:
            below = self.lines.get(id(node), {})
            if key in below:
                line = below[key]
                node = node[key]
        return line

    def dotted(self, path: Path) -> str:
        """*path* in one word, without the parts that lead nowhere, but with its last."""
        node: Any = self.data
        words = []
        for place, key in enumerate(path):
            known = key in self.lines.get(id(node), {})
            if known:
                node = node[key]
            if known or place == len(path) - 1:
                word = str(key)
                words.append(word[:60] if word.isprintable() and word else quoted(word))
        return ".".join(words)[:200] or "document"


def parse_yaml(text: str, name: str) -> YamlDocument:
    """Parse *text*; *name* stands in errors for the file.

    Raises :class:`InvalidInput` naming file and line when the text is not YAML, repeats a
    key, is beyond a limit, or is not a mapping at its top.
    """
    name = " ".join(clean_text(name).split())[:_MAX_NAME] or "document"
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    _require_text(text, name)
    builder = _Builder(name)
    try:
        with closing(yaml.parse(text, Loader=yaml.CSafeLoader)) as events:
            for event in events:
                builder.take(event)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        problem = getattr(error, "problem", None) or getattr(error, "context", None)
        builder.refuse(clean_text(str(problem or "unreadable"))[:200], mark.line if mark else 0)
    if not isinstance(builder.root, dict):
        raise InvalidInput(
            f"{name}:1: the document must be a mapping of names to values",
            hint="See experiments/lab-demo.yml for the shape of a spec.",
        )
    return YamlDocument(name, builder.root, builder.lines)


def _require_text(text: str, name: str) -> None:
    """Refuse what is too long, or has characters that nobody means to write."""
    if len(text) > MAX_BYTES or len(text.encode(errors="surrogatepass")) > MAX_BYTES:
        raise InvalidInput(
            f"{name}:1: the text is over {MAX_BYTES >> 10} KiB",
            hint="Name parameters as lists, which are multiplied out; or split it into several.",
        )
    found = HOSTILE.search(text) or _UNSEEN.search(text)
    if found:
        line = text.count("\n", 0, found.start()) + 1
        raise InvalidInput(
            f"{name}:{line}: not valid YAML: the character U+{ord(found[0]):04X} is not taken",
            hint="Remove it; an editor that shows control characters finds it.",
        )


class _Builder:
    """Makes plain values of a parser's events, one after the other, without recursion."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.root: Any = None
        self.lines: dict[int, dict[str | int, int]] = {}
        self._nodes = 0
        self._documents = 0
        self._open: list[dict[str, Any] | list[Any]] = []
        # The key that waits for its value, for each open mapping.
        self._keys: list[str | None] = []

    def take(self, event: Any) -> None:
        """Add one event. Raises :class:`InvalidInput` for one that is not taken."""
        line = event.start_mark.line
        if isinstance(event, yaml.DocumentStartEvent):
            self._begin_document(event, line)
        elif isinstance(event, yaml.AliasEvent):
            self.refuse("aliases (*name) are not taken", line)
        elif isinstance(event, yaml.NodeEvent):
            self._require_node(event, line)
            if isinstance(event, yaml.ScalarEvent):
                self._scalar(event, line)
            else:
                self._begin({} if isinstance(event, yaml.MappingStartEvent) else [], line)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._open.pop()
            self._keys.pop()

    def refuse(self, problem: str, line: int) -> NoReturn:
        """Raise for what stands at *line*, counted from 0."""
        raise InvalidInput(
            f"{self.name}:{line + 1}: not valid YAML: {problem}",
            hint="Correct the line; a YAML-aware editor shows the same.",
        )

    def _begin_document(self, event: Any, line: int) -> None:
        self._documents += 1
        if self._documents > 1:
            self.refuse("a second document begins", line)
        if event.version or event.tags:
            self.refuse("directives (%) are not taken", line)

    def _require_node(self, event: Any, line: int) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            self.refuse(f"more than {MAX_NODES} values", line)
        if event.anchor is not None:
            self.refuse("anchors (&name) are not taken", line)
        if event.tag is not None:
            self.refuse("tags (!name) are not taken", line)

    def _begin(self, node: dict[str, Any] | list[Any], line: int) -> None:
        if len(self._open) == MAX_DEPTH:
            self.refuse(f"more than {MAX_DEPTH} levels deep", line)
        self._place(node, line)
        self.lines[id(node)] = {}
        self._open.append(node)
        self._keys.append(None)

    def _scalar(self, event: Any, line: int) -> None:
        text: str = event.value
        if len(text) > MAX_TEXT:
            self.refuse(f"a text of over {MAX_TEXT} characters", line)
        if HOSTILE.search(text) or _UNSEEN.search(text):
            self.refuse("a text with a control character", line)
        if self._open and isinstance(self._open[-1], dict) and self._keys[-1] is None:
            self._key(text, line)
        else:
            unquoted = event.implicit[0]
            self._place(self._value(text, line) if unquoted else text, line)

    def _key(self, text: str, line: int) -> None:
        if len(text) > MAX_KEY:
            self.refuse(f"a key of over {MAX_KEY} characters", line)
        if text == "<<":
            self.refuse("merge keys (<<) are not taken", line)
        mapping = self._open[-1]
        if text in mapping:
            self.refuse(f"the key {quoted(text)} stands twice", line)
        self.lines[id(mapping)][text] = line + 1
        self._keys[-1] = text

    def _value(self, text: str, line: int) -> Any:
        """What an unquoted *text* means."""
        if text in _NULL:
            return None
        if text in _TRUTH:
            return _TRUTH[text]
        if _NOT_FINITE.fullmatch(text):
            self.refuse(f"{text} is no finite number", line)
        integer, number = _INTEGER.fullmatch(text), _FLOAT.fullmatch(text)
        if not (integer or number):
            return text
        if len(text) > MAX_NUMBER:
            self.refuse(f"a number of over {MAX_NUMBER} digits", line)
        if integer:
            return int(text, 0) if text[1:2] in ("o", "x") else int(text)
        if not math.isfinite(float(text)):
            self.refuse(f"{text} is no finite number", line)
        return float(text)

    def _place(self, value: Any, line: int) -> None:
        """Put *value* where the text has it."""
        if not self._open:
            self.root = value
            return
        parent = self._open[-1]
        if isinstance(parent, list):
            self.lines[id(parent)][len(parent)] = line + 1
            parent.append(value)
            return
        key = self._keys[-1]
        if key is None:
            self.refuse("a key must be one word or text", line)
        parent[key] = value
        self._keys[-1] = None
