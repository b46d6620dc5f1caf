"""One name for what differs only by number: threads of virtual processors, compiled clones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from mitigauge.core.errors import InvalidInput
from mitigauge.core.wire import thread_names
from mitigauge.core.yaml_file import parse_yaml

# Longer names keep their own: a pattern takes a time that grows with the square of a name's
# length, and a host may spell its functions as it likes.
LONGEST_NAME = 512
RULES = Path(__file__).with_name("normalise.yml")


class Rule(BaseModel):
    """A pattern for a whole name, and what the name becomes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    of: Literal["thread", "function"]
    match: str
    becomes: str
    why: str

    @field_validator("match")
    @classmethod
    def _is_pattern(cls, value: str) -> str:
        re.compile(value)
        return value


class Rules(BaseModel):
    """A version of the rules; the first that fits a name is taken."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: int = Field(ge=1)
    rules: list[Rule]
    idle: frozenset[str] = frozenset()

    def thread(self, name: str) -> str:
        """The name of a stack's first frame without its numbers."""
        return self._applied("thread", name)

    def function(self, name: str) -> str:
        """A function's name without what the compiler added."""
        return self._applied("function", name)

    def _applied(self, of: str, name: str) -> str:
        if len(name) > LONGEST_NAME:
            return name
        for rule in self.rules:
            found = re.fullmatch(rule.match, name) if rule.of == of else None
            if found:
                return found.expand(rule.becomes)
        return name


def read_rules(path: Path = RULES) -> Rules:
    """Read rules from a file. Raises :class:`InvalidInput` naming it."""
    try:
        return Rules.model_validate(parse_yaml(path.read_text("utf-8"), str(path)).data)
    except (ValidationError, re.error) as error:
        raise InvalidInput(f"{path}: {error}", hint="Correct the rules.") from error


@lru_cache(maxsize=1)
def rules() -> Rules:
    """The rules that come with the project."""
    by_file = read_rules()
    return by_file.model_copy(update={"rules": [*_thread_rules(), *by_file.rules]})


def _thread_rules() -> Iterator[Rule]:
    """The threads' rules, with underscores for spaces."""
    for match, becomes, why in thread_names.RULES:
        yield Rule(
            of="thread", match=match.replace(" ", "_"), becomes=becomes.replace(" ", "_"), why=why
        )


def without_idle(stacks: Mapping[bytes, int], by: Rules) -> tuple[dict[bytes, int], int]:
    """*stacks* of processors at work, and the weight of those that waited."""
    idle = {name.encode() for name in by.idle}
    at_work = {
        stack: count for stack, count in stacks.items() if stack.rpartition(b";")[2] not in idle
    }
    return at_work, sum(stacks.values()) - sum(at_work.values())


def normalised(stacks: Mapping[bytes, int], by: Rules) -> dict[bytes, int]:
    """Folded *stacks* with every name by the rules; what becomes alike is added up."""
    names: dict[tuple[bool, bytes], bytes] = {}

    def name_of(first: bool, raw: bytes) -> bytes:
        known = names.get((first, raw))
        if known is None:
            text = raw.decode("utf-8", "surrogateescape")
            text = by.thread(text) if first else by.function(text)
            known = names[first, raw] = text.encode("utf-8", "surrogateescape")
        return known

    merged: dict[bytes, int] = {}
    for stack, count in stacks.items():
        frames = stack.split(b";")
        names_of = [name_of(depth == 0, frame) for depth, frame in enumerate(frames)]
        whole = b";".join(names_of)
        merged[whole] = merged.get(whole, 0) + count
    return merged
