"""Answers to mails that ask for something: what was understood, and what came of it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email.message import EmailMessage

from mitigauge.core.documents.plain_text import neutralise, paragraph
from mitigauge.reporting.letters.reply.reply import (
    COLUMNS,
    Addressees,
    Forms,
    addressed,
    lines_of,
    study_lines,
)
from mitigauge.tracking.series.request import FORMS

LONGEST_WHY = 1500


@dataclass(frozen=True, slots=True)
class Answer:
    """What an answer says: the line that was read, sentences about it, and what can be asked.

    *told*: what a study came to, a sentence a line.
    """

    line: str
    sentences: Sequence[str]
    forms: Forms = ()
    told: Sequence[str] = ()


def mail(answered: Addressees, said: Answer, *, sender: str = "") -> EmailMessage:
    """A short answer. Raises InvalidInput as :func:`reply.mail`."""
    message, _ = addressed(answered, sender)
    message.set_content("\n".join(_body(said)) + "\n", charset="utf-8", cte="8bit")
    return automatic(message)


def automatic(message: EmailMessage) -> EmailMessage:
    """*message* marked as a program's, which other programs do not answer (RFC 3834)."""
    message["Auto-Submitted"] = "auto-replied"
    return message


def _body(said: Answer) -> Iterator[str]:
    yield "Hi,"
    yield ""
    yield "you wrote:"
    yield ""
    yield f"  {neutralise(said.line, 200)}"
    for sentence in said.sentences:
        yield ""
        yield from paragraph(neutralise(sentence, LONGEST_WHY), COLUMNS)
    if said.told:
        yield ""
        yield from study_lines(said.told)
    if said.forms:
        where = " that answers a mail of the series" if said.forms == FORMS else ""
        yield ""
        yield from paragraph(
            f"What can be asked for, by a line of its own in plain text{where}, signed by patatt; "
            "the first such line counts:",
            COLUMNS,
        )
        yield ""
        yield from lines_of(said.forms)
