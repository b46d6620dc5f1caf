"""Where a revision stands."""

from __future__ import annotations

from enum import StrEnum


class RevisionState(StrEnum):
    """What has happened with a revision."""

    REFUSED = "refused"
    """It is not whole, or would touch what it must not. Nothing is started for it."""
    WAITING = "waiting"
    """A person has to say that its patches may run on our hosts."""
    APPROVED = "approved"
    """It may run; its kernel is built next."""
    BUILDING = "building"
    MEASURING = "measuring"
    """Its experiment is submitted, and says itself how far it is."""
    FAILED = "failed"
    """Its patches do not apply, or its kernel does not build."""
    SET_ASIDE = "set_aside"
    """Our side failed too often; `mitigauge series start` tries again."""
    NOTHING_RUNS_IT = "nothing_runs_it"
    """Its kernel is built, and no case runs what it changes; a person can have all measured."""


STARTABLE = (RevisionState.APPROVED, RevisionState.BUILDING, RevisionState.FAILED,
             RevisionState.SET_ASIDE, RevisionState.NOTHING_RUNS_IT)  # fmt: skip


class Attested(StrEnum):
    """What is known of who wrote the mails, beyond what their From says."""

    PASS = "pass"
    FAIL = "fail"
    MISSING = "missing"


class RequestState(StrEnum):
    """What became of a mail that asks for something."""

    WAITING = "waiting"
    """Nothing proves who sent it: a person has to look. Nobody is answered."""
    ACCEPTED = "accepted"
    """It is carried out; the result is answered when it is there."""
    REFUSED = "refused"
    """It was not understood or cannot be done; that is answered."""
    DONE = "done"
    """All of it is done and answered."""
    IGNORED = "ignored"
    """A person, or whoever asked for no more answers, wants it left alone."""
