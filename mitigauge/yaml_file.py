"""YAML with line numbers, so that an error can say where it is.

Files are read as YAML 1.2: ``off`` is a word there, not a truth value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError

from mitigauge.errors import InvalidInput

Path = Sequence[str | int]


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """A parsed document that remembers its name and where each node stood."""

    name: str
    data: CommentedMap

    def where(self, path: Path) -> str:
        """``file:line`` of the node at *path*, or of its nearest parent that exists."""
        return f"{self.name}:{self.line(path)}"

    def line(self, path: Path) -> int:
        """Line number (from 1) of the node at *path*."""
        node: Any = self.data
        line = 1
        for key in path:
            if isinstance(node, CommentedMap) and key in node:
                line = node.lc.key(key)[0] + 1
            elif isinstance(node, CommentedSeq) and isinstance(key, int) and key < len(node):
                line = node.lc.item(key)[0] + 1
            else:
                break
            node = node[key]
        return line


def parse_yaml(text: str, name: str) -> YamlDocument:
    """Parse *text*; *name* stands in errors for the file.

    Raises :class:`InvalidInput` naming file and line when the text is not YAML,
    repeats a key, or is not a mapping at its top.
    """
    try:
        data = YAML(typ="rt").load(StringIO(text))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise InvalidInput(
            f"{name}:{line}: not valid YAML: {error.problem or error.context}",
            hint="Correct the line; a YAML-aware editor shows the same.",
        ) from error
    if not isinstance(data, CommentedMap):
        raise InvalidInput(
            f"{name}:1: the document must be a mapping of names to values",
            hint="See experiments/lab-demo.yml for the shape of a spec.",
        )
    return YamlDocument(name, data)
