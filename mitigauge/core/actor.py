"""Who acts in this process now, and for which request, job or run.

A face sets it once (:func:`acting`); what changes something reads it. It follows the work into
threads that are given it, as ``asyncio.to_thread`` does. Where nobody set it, a person's command
acts. Nothing but the standard library is imported here.
"""

from __future__ import annotations

import os
import platform
import pwd
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache


class Way(StrEnum):
    """By what somebody acts."""

    WEB = "web"
    API = "api"
    COMMAND = "command"
    MAIL = "mail"
    WORKER = "worker"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts."""

    name: str
    """A token's name, a proxy's user, a login, a mail's sender, a worker; empty: nobody known."""
    way: Way
    address: str = ""
    """The client's address, or the machine's name."""
    request_id: str = ""
    job: str = ""
    """``job 12`` or ``run 5``: what a worker acts for."""


_current: ContextVar[Actor | None] = ContextVar("actor", default=None)


@contextmanager
def acting(actor: Actor) -> Iterator[Actor]:
    """Let *actor* be who acts until the block's end."""
    token = _current.set(actor)
    try:
        yield actor
    finally:
        _current.reset(token)


@contextmanager
def acting_by_mail(sender: str) -> Iterator[Actor]:
    """Let the *sender* of a mail be who acts; a worker reads it."""
    with acting(
        replace(current_actor(), name=sender or "a sender without name", way=Way.MAIL)
    ) as actor:
        yield actor


def become(actor: Actor) -> None:
    """Let *actor* be who acts until the end of this task or thread: a request's, say."""
    _current.set(actor)


def known_actor() -> Actor | None:
    """Who acts; None where nobody said so."""
    return _current.get()


def current_actor() -> Actor:
    """Who acts; where nobody said so, the person who called this process."""
    return _current.get() or person_at_command()


def acting_for(job: str) -> Actor:
    """Who acts, for that job or run."""
    return replace(current_actor(), job=job)


@lru_cache(maxsize=1)
def person_at_command() -> Actor:
    """Whose process this is: the login's name, who became it by sudo, and the machine."""
    login = _login_name()
    by = os.environ.get("SUDO_USER", "")
    name = f"{login} (sudo by {by})" if by and by != login else login
    return Actor(name[:200], Way.COMMAND, platform.node()[:100])


def _login_name() -> str:
    number = os.getuid()
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"user {number}"  # a container's
