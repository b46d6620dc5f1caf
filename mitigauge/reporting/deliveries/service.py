"""Handing a mail over to each receiver at most once: what is written before, and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy.orm import Session

from mitigauge.access.audit import service as audit
from mitigauge.access.audit.actions import Action, Subject, SubjectKind
from mitigauge.core.hostile_text import clean_text
from mitigauge.reporting.deliveries import repository
from mitigauge.reporting.deliveries.states import DeliveryAnswer, DeliveryState
from mitigauge.storage.database.engine import database_now

# Longer than a conversation with a server may last; then whoever began is gone.
LOST_AFTER = timedelta(minutes=10)
LONGEST_SAID = 300


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a mail has come: receivers by what became of it, with what was said of each."""

    by_state: Mapping[DeliveryState, Mapping[str, str]]

    def of(self, *states: DeliveryState) -> dict[str, str]:
        """Receiver → words, of those states."""
        return {who: said for state in states for who, said in self.by_state[state].items()}

    @property
    def is_under_way(self) -> bool:
        """Whether somebody hands it over just now."""
        return bool(self.of(DeliveryState.BEGUN))

    @property
    def is_open(self) -> bool:
        """Whether a receiver may still get it."""
        return bool(self.of(DeliveryState.BEGUN, DeliveryState.LATER))

    @property
    def reached_nobody(self) -> bool:
        """Whether all receivers were refused for good."""
        return not self.of(*(s for s in DeliveryState if s is not DeliveryState.REFUSED))

    @property
    def why_not(self) -> str:
        """Who did not get it and why; empty where all have it."""
        missed = self.of(DeliveryState.LATER, DeliveryState.REFUSED, DeliveryState.UNKNOWN)
        return "; ".join(f"{who}: {said}" for who, said in missed.items())


def begin(session: Session, mail: str, receivers: Sequence[str]) -> list[str]:
    """Who of *receivers* is to get *mail* from this caller now; commit before it is handed over.

    Nobody to whom it was handed over, to whom it may have been, or who was refused.
    """
    now = database_now(session)
    repository.lose(session, mail, LOST_AFTER)
    begun = repository.begin(session, mail, receivers, now)
    return [each for each in receivers if each in begun]


def end(session: Session, mail: str, told: Mapping[str, DeliveryAnswer]) -> None:
    """Note what came of those whom :func:`begin` gave."""
    now = database_now(session)
    # In the order in which others begin them: two that wait for each other would be a deadlock.
    for receiver, each in sorted(told.items()):
        said = clean_text(each.said)[:LONGEST_SAID]
        repository.end(session, mail, receiver, each.state, said, now)
    states = {receiver: told[receiver].state for receiver in sorted(told)}
    audit.record(session, Action.MAIL_SEND, Subject(SubjectKind.MAIL, mail), after=states)


def note_sent(session: Session, mail: str, to: Sequence[str]) -> None:
    """Write down that a person's command handed *mail* to a server."""
    audit.record(session, Action.MAIL_SEND, Subject(SubjectKind.MAIL, mail), after={"to": to})


def standing(session: Session, mail: str) -> Standing:
    """How far it has come."""
    found: dict[DeliveryState, dict[str, str]] = {state: {} for state in DeliveryState}
    for row in repository.of(session, mail):
        found[row.state][row.receiver] = row.said
    return Standing(found)
