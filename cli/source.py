"""Where a command's answer comes from: this machine's database, or a service's API.

Either gives the same models, so that a command prints them in one way.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeVar

from cli.output import remark
from cli.remote.choice import chosen_server
from cli.stored import stored

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from cli.remote.client import Client

Answer = TypeVar("Answer")

# A service that is upgraded is away for a minute or two.
PATIENCE_S: Final = 600.0
FIRST_PAUSE_S: Final = 0.5
LONGEST_PAUSE_S: Final = 15.0


def answer(
    here: Callable[[Session], Answer], there: Callable[[Client], Answer], *, reads: bool = False
) -> Answer:
    """What *here* says in a transaction, or *there* from the service that is given.

    *reads*: *here* writes nothing, so that less is loaded for it.
    """
    if not chosen_server():
        with stored(reads=reads) as session:
            return here(session)
    from cli.remote.client import client

    return there(client())


def followed_answer(here: Callable[[Session], Answer], there: Callable[[Client], Answer]) -> Answer:
    """As :func:`answer`, for what is asked again and again: it waits for a service that is away."""
    if not chosen_server():
        return answer(here, there)
    from cli.remote.faults import Away

    began, pause, is_away = time.monotonic(), FIRST_PAUSE_S, False
    while True:
        try:
            found = answer(here, there)
        except Away as error:
            if time.monotonic() - began + pause > PATIENCE_S:
                raise
            if not is_away:
                remark(f"{error.message}; it is asked again for {PATIENCE_S / 60:.0f} minutes")
            is_away = True
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_S)
            continue
        if is_away:
            remark("the service answers again")
        return found
