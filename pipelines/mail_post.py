"""A mail on its way: written down, handed over, written down again."""

from __future__ import annotations

from collections.abc import Sequence
from email.message import EmailMessage

from sqlalchemy import Engine

from mitigauge.reporting.deliveries import service
from mitigauge.reporting.deliveries.service import Standing
from mitigauge.storage.database.engine import transaction
from pipelines.adapters.mail import hand_over


def post(
    engine: Engine,
    name: str,
    message: EmailMessage,
    receivers: Sequence[str],
    server: str,
    *,
    encrypted: bool,
) -> Standing:
    """Hand *message*, known as *name*, to whoever of *receivers* never got it; how far it is.

    Safe to call often and from any number of processes: each receiver is handed it by one of
    them, once. No transaction is open and no lock is held while the server is waited for.
    """
    with transaction(engine) as session:
        wanted = service.begin(session, name, receivers)
    if wanted:
        told = hand_over(message, wanted, server, encrypted=encrypted)
        with transaction(engine) as session:
            service.end(session, name, told)
    with transaction(engine) as session:
        return service.standing(session, name)
