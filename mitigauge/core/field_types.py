"""Typed fields of the files that people write: specs, workloads, modes, claims."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
)

from mitigauge.core.hostile_text import HOSTILE, clean_text, quoted
from mitigauge.core.yaml_file import YamlDocument

MAX_PROBLEMS = 20
MAX_PROBLEM_LENGTH = 400


def formed(pattern: str, form: str) -> AfterValidator:
    """Takes a text that matches *pattern* as a whole; *form* says in an error what was meant."""
    compiled = re.compile(pattern, re.ASCII)

    def check(text: str) -> str:
        if not compiled.fullmatch(text):
            raise ValueError(f"{quoted(text)} is not {form}")
        return text

    return AfterValidator(check)


def _plain(text: str) -> str:
    found = HOSTILE.search(text)
    if found:
        raise ValueError(f"has the character U+{ord(found[0]):04X}, which is not taken")
    return text


Name = Annotated[
    str,
    formed(
        r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}",
        "a name: at most 63 letters, digits and . _ -, beginning with a letter or digit",
    ),
]
# A word of a kernel's command line that GRUB hands on as it stands.
Option = Annotated[str, formed(r"[\w.,:=/+@%~^-]{1,200}", "an option of a kernel's command line")]
Package = Annotated[str, formed(r"[a-z0-9][a-z0-9+.-]{0,100}", "a Debian package's name")]
# For people; it reaches no command and no play.
Text = Annotated[str, Field(max_length=2000), AfterValidator(_plain)]


def _compiles(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"{quoted(text)} is no regular expression: {error}") from None
    return text


# Of files that come with the project: what it takes to match is its author's business.
Pattern = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_compiles)]


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def located_errors(document: YamlDocument, error: ValidationError) -> Iterable[str]:
    """The first 20 of pydantic's complaints, with ``file:line`` and the key's path."""
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    for problem in problems[:MAX_PROBLEMS]:
        path = problem["loc"]
        said = clean_text(problem["msg"].removeprefix("Value error, "))
        yield f"{document.where(path)}: {document.dotted(path)}: {said}"[:MAX_PROBLEM_LENGTH]
    if len(problems) > MAX_PROBLEMS:
        yield f"and {len(problems) - MAX_PROBLEMS} more"
